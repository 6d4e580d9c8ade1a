"""The commit log: one entry per change of a memory, listing what changed with the few fields a fold needs.

An entry names addresses and digests, never text. A number that was reserved and never written is a hole: the pass
that gives it up closes it with an entry of its own, so that a writer who wakes up later meets a taken number and
takes a new one, instead of writing where nobody looks any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

ChangeOp = Literal[
    "add", "revive", "restate", "change", "supersede", "fork", "point", "merge", "restore", "remove", "forget",
    "ask", "read", "assemble",
]  # fmt: skip
#: What changes no grain: a question was asked, a grain was read, a context was assembled.
TELEMETRY_OPS: frozenset[ChangeOp] = frozenset({"ask", "read", "assemble"})


@dataclass(frozen=True, slots=True)
class Change:
    """What happened to one grain in a commit.

    ``tool_key``, ``signature`` and ``is_error`` are set for tool calls only; ``session`` is a digest. ``is_miss`` marks
    a question that found nothing, and an assembled context that dropped something. ``into`` is the successor of a
    superseded grain; ``fork`` is one more successor of a grain that has one. ``counted_in`` is the number of the commit
    that brought a call which is forgotten now.
    """

    op: ChangeOp
    kind: str
    address: str
    namespace: str
    tool_key: str | None = None
    signature: str | None = None
    is_error: bool = False
    occurred_at: int | None = None
    valid_from: int | None = None
    valid_to: int | None = None
    session: str | None = None
    is_miss: bool = False
    into: str | None = None
    counted_in: int | None = None

    @property
    def is_telemetry(self) -> bool:
        """Whether it changes no grain, and only tells how memory was used."""
        return self.op in TELEMETRY_OPS


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One commit. ``grains`` and ``errors`` count the new grains and failed tool calls that were really stored.

    ``watches`` names those that it plants, which count later commits.
    ``closed`` marks a number that was given up as never written; ``unreadable`` an entry that is there but damaged.
    """

    seq: int
    commit_id: str
    at: int
    by: str
    changes: tuple[Change, ...] = ()
    grains: int = 0
    errors: int = 0
    closed: bool = False
    unreadable: bool = False
    watches: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LogHead:
    """Counters that every committer moves: the next number, and what has been reserved so far.

    ``grains`` and ``errors`` count at reservation, so they may run ahead of what was stored; the gate uses them
    only to decide whether the entries are worth reading. ``wake_at`` is when the dispatcher should look at the memory.
    """

    seq: int
    grains: int
    errors: int
    key: bytes
    created_at: int
    reserved_at: int
    namespaces: frozenset[str] = frozenset()
    wake_at: int | None = None


@dataclass(frozen=True, slots=True)
class PassHead:
    """What passes alone move: watermarks, holes, the lease.

    ``folded`` is the number up to which entries are counted, but for ``holes`` (missing numbers, with the time each was
    first missed) and for the entry in ``partial`` (of which so many changes are counted). ``late`` are former holes
    that are counted but not yet analyzed. ``dropped`` counts holes that were closed, ``set_aside`` entries that could
    not be counted. ``grains_at`` and ``errors_at`` are the log head's counters as of ``analyzed``. ``versions`` are the
    settings that each analyzer family was last run with; ``sweeping`` are the families whose sweep over all grains has
    come as far as address ``sweep_after``, ``walks`` how far each family's walk after old grains has come in the log.
    """

    rev: int = 0
    folded: int = 0
    analyzed: int = 0
    holes: Mapping[int, int] = field(default_factory=dict)
    partial: Mapping[int, int] = field(default_factory=dict)
    late: tuple[int, ...] = ()
    dropped: int = 0
    set_aside: tuple[int, ...] = ()
    lease_owner: str | None = None
    lease_until: int = 0
    claim_until: int = 0
    grains_at: int = 0
    errors_at: int = 0
    last_run_at: int | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    sweeping: tuple[str, ...] = ()
    sweep_after: str = ""
    walks: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TimerHead:
    """The earliest declared instant at which a pass has something to do, or None."""

    rev: int = 0
    due_at: int | None = None


@dataclass(frozen=True, slots=True)
class Heads:
    """The three head items of a memory as one strongly consistent query saw them."""

    log: LogHead
    folds: PassHead
    timer: TimerHead


def count_new(changes: Iterable[Change]) -> tuple[int, int]:
    """(new grains, failed tool calls) among changes: what ``min_new`` and ``min_new_errors`` count."""
    added = [change for change in changes if change.op in ("add", "revive")]
    return len(added), sum(1 for change in added if change.is_error)

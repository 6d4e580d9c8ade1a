"""What the use cases need from the outside, as Protocols; ``adapters`` implements them.

Writes are values. A list of them is one transaction: all or nothing, and each write carries the condition it assumes.
A refused transaction tells which writes failed and what was found in their place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from provenloop.domain.audit import AuditEntry, ChainEnd, Note
from provenloop.domain.bus_events import BusEvent
from provenloop.domain.checkpoint import Checkpoint, Regression, Watch
from provenloop.domain.commit import LogEntry, LogHead, PassHead, TimerHead
from provenloop.domain.distillation import Distillation, EnvelopeText
from provenloop.domain.grain import Grain
from provenloop.domain.job import Job
from provenloop.domain.ledger import LedgerRow
from provenloop.domain.memory_config import MemoryConfig
from provenloop.domain.names import MemoryId
from provenloop.domain.recipe import HitFeedback, Recipe, RecipeVersion
from provenloop.domain.recipe_vectors import Embedded, VectorHead, VectorItem, VectorRow
from provenloop.domain.recommendation import FindingKey, Recommendation
from provenloop.domain.records import (
    AgedCount,
    AgedGrain,
    Due,
    History,
    Label,
    MemoryRecord,
    NearPosting,
    NearText,
    Predecessors,
    RecallRow,
    Replay,
    Run,
    TermRow,
    TermSegment,
    Token,
    TokenId,
    Undo,
)
from provenloop.domain.remark import Looked, Remark
from provenloop.domain.rollup import Rollup
from provenloop.domain.waiting import Callback, Wait
from provenloop.lessons.card import Card, CardEvidence, LessonPlace, Rule
from provenloop.lessons.session import CardPass, Session, SessionBreach, SessionPass, SessionRules
from provenloop.services.aged_port import AgedReader
from provenloop.services.audit_port import AuditReader
from provenloop.services.card_count import Count
from provenloop.services.distil_port import DistillationReader
from provenloop.services.erasure_port import WholeMemory
from provenloop.services.job_port import JobReader
from provenloop.services.ledger_port import LedgerReader
from provenloop.services.lesson_port import LessonReader
from provenloop.services.loop_port import GrainReader, LoopReader
from provenloop.services.near_port import NearReader
from provenloop.services.recipe_ports import RecipeReader
from provenloop.services.remark_port import RemarkReader
from provenloop.services.review_port import WaitReader
from provenloop.services.session_port import SessionReader

Entity = (
    Grain | History | Predecessors | LogEntry | PassHead | TimerHead | Rollup | Recommendation | FindingKey | Checkpoint
    | Watch | MemoryConfig | Due | Undo | Run | Replay | AuditEntry | ChainEnd | Note | Token | MemoryRecord | Label
    | AgedGrain | AgedCount | NearPosting | NearText | TermRow | TermSegment | RecallRow | BusEvent | TokenId
    | LedgerRow | Distillation | EnvelopeText
    | Job | Wait | Callback | Regression | Remark | Looked | Card | CardEvidence | Rule | LessonPlace
    | Recipe | RecipeVersion | HitFeedback | VectorHead | VectorRow | VectorItem | Embedded
    | Session | SessionRules | SessionPass | SessionBreach | CardPass
)  # fmt: skip

#: How often a transaction that collides with others is sent before the caller is told.
MAX_TRIES = 6

Entropy = Callable[[int], bytes]


@dataclass(frozen=True, slots=True)
class Put:
    """Store something that must not be there yet (or has expired)."""

    entity: Entity


@dataclass(frozen=True, slots=True)
class Replace:
    """Store a new version of something whose stored revision must be ``expected``.

    A grain's counters stay as they are, since others may be moving them, unless ``counters`` says to set them too;
    ``restated`` counts that many more statements (fewer, where it is negative), the last at the grain's
    ``last_stated_at``. ``stated`` is the
    grain's counter, where it must hold.
    """

    entity: Entity
    expected: int
    counters: bool = False
    restated: int = 0
    stated: int | None = None


@dataclass(frozen=True, slots=True)
class Remove:
    """Delete something; ``expected`` is its stored revision, ``stated`` a grain's counter, where they must hold."""

    entity: Entity
    expected: int | None = None
    stated: int | None = None


@dataclass(frozen=True, slots=True)
class Require:
    """Change nothing, but insist that the stored revision is ``expected``."""

    entity: Entity
    expected: int


@dataclass(frozen=True, slots=True)
class Restate:
    """Count ``times`` more statements of a current grain, whose head must be at ``expected``.

    The last was made at ``at`` (epoch ms), in ``place`` of its batch.
    """

    grain: Grain
    times: int
    at: int
    expected: int
    place: int = 0


@dataclass(frozen=True, slots=True)
class Erase:
    """Store something again without its content, in place of what is written once and must be there."""

    entity: Entity


@dataclass(frozen=True, slots=True)
class Wake:
    """See to it that the memory's timer is at ``at`` (epoch ms) or earlier, and move its revision.

    ``timer`` is as it was read. Any number of these may come at once: none refuses another, but where the timer was
    still later than ``at`` when it was read and somebody has set it earlier since.
    """

    timer: TimerHead
    at: int

    @property
    def is_earlier(self) -> bool:
        """Whether the timer has to be set."""
        return self.timer.due_at is None or self.timer.due_at > self.at

    @property
    def entity(self) -> TimerHead:
        """The timer afterwards."""
        return TimerHead(self.timer.rev + 1, self.at if self.is_earlier else self.timer.due_at)


Write = Put | Replace | Remove | Require | Restate | Erase | Count | Wake


@dataclass(frozen=True, slots=True)
class Failure:
    """One write whose condition did not hold.

    ``found`` is what is stored there, None when nothing is; of a refused Remove or Require it is not told.
    """

    index: int
    write: Write
    found: Entity | None


class WriteRefusedError(Exception):
    """A transaction was refused as a whole because conditions did not hold. Nothing was written.

    Never reaches a caller: each use case turns it into the answer that fits.
    """

    def __init__(self, failures: Sequence[Failure]) -> None:
        super().__init__(f"{len(failures)} conditions did not hold")
        self.failures = tuple(failures)


@dataclass(frozen=True, slots=True)
class Reservation:
    """What a committer asks of the log head: one number, counting this many new grains and failed calls.

    ``namespaces`` are those the commit writes into. ``wake_at`` is when the dispatcher should look, if nothing
    earlier is planned. ``lesson_bytes`` are those of a line of the lesson stream; ``lesson_room`` how many all lines
    may have together with it, 0 for no such limit.
    """

    grains: int
    errors: int
    namespaces: frozenset[str]
    at: int
    wake_at: int
    lesson_bytes: int = 0
    lesson_room: int = 0


class Used(Protocol):
    """What a measured stretch of work has used so far."""

    @property
    def reads(self) -> float:
        """Read units."""

    @property
    def writes(self) -> int:
        """Write units."""


class Store(
    GrainReader,
    LoopReader,
    AuditReader,
    AgedReader,
    NearReader,
    JobReader,
    WaitReader,
    LessonReader,
    LedgerReader,
    DistillationReader,
    RecipeReader,
    RemarkReader,
    SessionReader,
    WholeMemory,
    Protocol,
):
    """Everything a use case may do to one memory."""

    def create_memory(self, memory: MemoryId, record: MemoryRecord, key: bytes, told: Sequence[Write] = ()) -> bool:
        """Make the memory's heads and registry row in one transaction; False when it was there already.

        ``told`` are writes on the tenant itself, in the same transaction.
        """

    def memories(self, tenant: str) -> tuple[MemoryRecord, ...]:
        """A tenant's memories by name."""

    def reserve(self, memory: MemoryId, reservation: Reservation) -> LogHead | None:
        """Take the next number of the log; None when the memory does not exist.

        Raises:
            InvalidInputError: the memory would have more than 100 namespaces.
            TooLargeError: the lines of its lesson stream would be over ``lesson_room``.
        """

    def give_back_lesson(self, memory: MemoryId, size: int) -> None:
        """Take back what a reservation counted as a lesson of so many bytes that then was not stored."""

    def transact(self, memory: MemoryId, writes: Sequence[Write], now: int, *, tries: int = MAX_TRIES) -> None:
        """All the writes or none; sent at most ``tries`` times where other transactions collide with it.

        Raises:
            WriteRefusedError: conditions did not hold.
            BusyError: other transactions kept colliding.
            UnavailableError: the store did not answer; whether it wrote is unknown.
            TooLargeError: over a limit of the store.
        """

    def metered(self) -> AbstractContextManager[Used]:
        """Measures what the calls inside use."""

    def clear_wake(self, memory: MemoryId, seq: int) -> None:
        """Forget that the memory is dirty, unless a number after ``seq`` has been reserved."""


class PolicySource(Protocol):
    """Where the operator of the installation keeps its policy."""

    def read(self) -> str:
        """The text of the policy as it is now.

        Raises:
            LoopError: it cannot be read; the message says why, and is safe to show.
        """

    def read_names(self, number: int) -> str:
        """The text of a further list of names that the policy speaks of, by its number from 1 on.

        Raises:
            LoopError: as above.
        """

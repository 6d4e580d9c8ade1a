"""Sessions: which rules were put before an agent, what was followed and broken meanwhile, and what is counted of it.

Invariants: the ids of the rules are stored when the session starts and never change; what is counted is counted in the
order of one list that stands still once the session is over, so a place in it says what was counted already.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import islice
from typing import Literal, NamedTuple

from provenloop.domain.instants import DAY_MS

SESSION_MS = DAY_MS
"""How long a session may last that nobody ends."""
SESSION_KEPT_MS = 90 * DAY_MS
RULES_A_ROW = 450
SETTLED_AT_ONCE = 45

#: How it ended: somebody said so, its time was over, or nothing was to be counted when it was.
SessionEnd = Literal["ended", "forgotten", "uncounted"]


@dataclass(frozen=True, slots=True)
class Session:
    """One session. ``key`` stands for the caller's id; times are epoch ms.

    ``seq`` is the log's last number when it started. ``rules`` are how many were put before it; those of a subagent
    (``is_child``) are none. ``settled`` is how many places of its list are counted, ``settled_at`` when all were;
    ``suppressed`` and ``samples`` are what was counted.
    """

    key: str
    project: str
    project_key: str
    started_at: int
    seq: int
    is_child: bool = False
    rules: int = 0
    end: SessionEnd | None = None
    ended_at: int | None = None
    settled: int = 0
    suppressed: int = 0
    samples: int = 0
    settled_at: int | None = None
    rev: int = 1


@dataclass(frozen=True, slots=True)
class SessionRules:
    """Ids of the rules that were put before a session, at most 450, in their order; ``n`` counts such rows."""

    session: str
    n: int
    cards: tuple[str, ...]
    at: int


@dataclass(frozen=True, slots=True)
class SessionPass:
    """In a session the scenario of a rule fired and was followed; once, however often that happened."""

    session: str
    card: str
    at: int


@dataclass(frozen=True, slots=True)
class CardPass:
    """In a session the scenario of a card fired and was followed, whether it was in force or not."""

    card: str
    session: str
    at: int


@dataclass(frozen=True, slots=True)
class SessionBreach:
    """In a session a rule was broken, as the line of commit ``seq`` says."""

    session: str
    card: str
    seq: int
    at: int


class SessionRecord(NamedTuple):
    """A session with everything that is stored of it."""

    session: Session
    rules: tuple[str, ...] = ()
    followed: frozenset[str] = frozenset()
    broken: frozenset[str] = frozenset()

    @property
    def places(self) -> Sequence[str]:
        """The cards in the order in which they are counted: the rules, then others that were followed."""
        return [*self.rules, *sorted(self.followed.difference(self.rules))]


class Counted(NamedTuple):
    """What one session counts of one card: 0 or 1 each."""

    suppressed: int
    samples: int


def counted_of(record: SessionRecord, names: AbstractSet[str]) -> Counted:
    """What the session counts of a card, by all the ids that this has or had before cards were merged.

    A rule that was there and not broken is a sample. Where nobody said that the session ended, it is one only if
    nothing at all was broken: such a session may have ended anyhow.
    """
    was_there = not names.isdisjoint(record.rules) and names.isdisjoint(record.broken)
    is_sample = was_there and not (record.session.end == "forgotten" and record.broken)
    return Counted(int(not names.isdisjoint(record.followed)), int(is_sample))


def rule_rows(session: Session, cards: Iterable[str]) -> Iterator[SessionRules]:
    """The rows that hold the ids of a session's rules."""
    stream, n = iter(cards), 0
    while chunk := tuple(islice(stream, RULES_A_ROW)):
        yield SessionRules(session.key, n, chunk, session.started_at)
        n += 1

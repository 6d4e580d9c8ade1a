"""Workflows that have recommendations reviewed: who waits, how they are started and told, and who hears of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from provenloop.domain.names import MemoryId
from provenloop.domain.waiting import Callback, Wait


class WaitReader(Protocol):
    """Read-only access to executions that wait; strongly consistent."""

    def waits(self, memory: MemoryId, recommendation: str) -> tuple[Wait, ...]:
        """Every execution about a recommendation that is still known, closed ones too."""


class ReviewWorkflow(Protocol):
    """The workflow engine."""

    def start(self, memory: MemoryId, recommendation: str, execution: str) -> None:
        """Start an execution; one of that name that runs or ran is left alone.

        Raises:
            UnavailableError: it could not be started now.
        """

    def tell(self, token: str, outcome: str, *, then_apply: bool = False) -> bool:
        """End a wait; whether it is over.

        True also where nobody waits for that token any more. Never raises: where it is False it can be told again.
        """


NoticeKind = Literal["review", "reminder"]


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that reviewers should look at: ids, figures and words of ours, no text from outside."""

    kind: NoticeKind
    memory: MemoryId
    recommendation: str
    analyzer: str
    severity: str
    count: int
    created_at: int


class Notices(Protocol):
    """How reviewers hear that something waits."""

    def send(self, notice: Notice) -> bool:
        """Tell them; False where the notice was not taken. Never raises: a reminder follows anyway."""


@dataclass(frozen=True, slots=True)
class Untold:
    """What an execution is to be told, and the memory it is about."""

    memory: MemoryId
    callback: Callback


class Untolds(Protocol):
    """Finds executions that were not told; from an index that may be late."""

    def untold(self, before: int, limit: int) -> tuple[Untold, ...]:
        """Those of decisions made before that instant (epoch ms), oldest first, at most ``limit``."""

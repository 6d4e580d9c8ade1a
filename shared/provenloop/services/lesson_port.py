"""Reading cards, rules and lessons, as a Protocol; ``adapters`` implements it. Part of ``ports.Store``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from provenloop.domain.names import MemoryId
from provenloop.lessons.card import Card, CardEvidence, CardStatus, LessonPlace, Rule


@dataclass(frozen=True, slots=True)
class CardPage:
    """One page of a list of cards, as ids; ``cursor`` is None on the last one."""

    ids: tuple[str, ...]
    cursor: str | None


class LessonTotals(NamedTuple):
    """Lines of the stream and their bytes, forgotten ones among them. What is being written may be counted already."""

    lines: int
    bytes: int


class LessonReader(Protocol):
    """Read-only access to cards and lessons; strongly consistent where nothing else is said."""

    def card(self, memory: MemoryId, card_id: str) -> Card | None:
        """One card."""

    def cards(self, memory: MemoryId, ids: Iterable[str]) -> Mapping[str, Card]:
        """The stored ones among the ids."""

    def cards_by_prefix(self, memory: MemoryId, prefix: str, limit: int) -> tuple[Card, ...]:
        """Cards whose id starts so, at most ``limit``."""

    def count_cards_by_prefix(self, memory: MemoryId, prefix: str) -> int:
        """How many ids start so."""

    def card_page(
        self,
        memory: MemoryId,
        statuses: Sequence[CardStatus],
        project_key: str | None,
        *,
        limit: int,
        cursor: str | None,
    ) -> CardPage:
        """Ids of cards by project, then age. From an index that may be late."""

    def count_cards(self, memory: MemoryId, status: CardStatus) -> int:
        """How many cards have a status. From an index that may be late."""

    def all_cards(self, memory: MemoryId) -> Iterator[Card]:
        """Every card by id, all pages."""

    def card_evidence(self, memory: MemoryId, card_id: str, limit: int | None = None) -> tuple[CardEvidence, ...]:
        """The evidence of a card, the newest first."""

    def rules(self, memory: MemoryId, project_key: str) -> tuple[Rule, ...]:
        """The rules of a project in one query, the one armed last first."""

    def rules_after(self, memory: MemoryId, place: str, limit: int) -> tuple[tuple[Rule, str], ...]:
        """Rules of all projects in the order of their keys, behind a place (all: empty), each with its own place."""

    def lesson_places(
        self, memory: MemoryId, project_key: str | None, *, before: int | None = None, limit: int
    ) -> tuple[LessonPlace, ...]:
        """Where lines stand, the newest first, those with a number less than ``before``.

        Of all projects (None) from an index that may be late.
        """

    def applied_lessons(self, memory: MemoryId, at_once: int) -> Iterator[str]:
        """Addresses of current facts that are applied lessons, those applied last first; read so many at once.

        From an index that may be late.
        """

    def lesson_totals(self, memory: MemoryId) -> LessonTotals:
        """How much there is in the stream."""

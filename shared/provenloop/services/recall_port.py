"""What recall and its telemetry read, as a Protocol; ``adapters`` implements it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol

from provenloop.domain.names import MemoryId
from provenloop.domain.records import RecallRow, TermRow, TermSegment
from provenloop.domain.rollup import AskDay, AssemblyDay, ReadDays


class RecallReader(Protocol):
    """Read-only access to the terms of texts, and to counts of questions, reads and assembled contexts.

    Strongly consistent. Days are UTC, written ``YYYYMMDD``. What no pass has folded yet is not counted.
    """

    def term_rows(self, memory: MemoryId, terms: Iterable[str]) -> Mapping[str, TermRow]:
        """The stored ones among the terms (digests)."""

    def term_segments(self, memory: MemoryId, term: str, limit: int) -> tuple[TermSegment, ...]:
        """The last ``limit`` segments of a term (digest), the last one first."""

    def ask_window(self, memory: MemoryId, question: str, first_day: str, last_day: str) -> tuple[AskDay, ...]:
        """The days of one question (the address of its grain), both ends included, in order."""

    def assembly_window(self, memory: MemoryId, first_day: str, last_day: str) -> tuple[AssemblyDay, ...]:
        """The days on which contexts were assembled, both ends included, in order."""

    def grain_reads(self, memory: MemoryId, addresses: Iterable[str]) -> Mapping[str, ReadDays]:
        """How often the grains were read; those that never were are left out."""

    def questions(self, memory: MemoryId) -> tuple[str, ...]:
        """Every question that has counts, by address; reads all of them, for full sweeps only."""

    def all_asks(self, memory: MemoryId) -> Iterator[AskDay]:
        """Every day of every question, all pages; for lists of them only."""

    def all_reads(self, memory: MemoryId) -> Iterator[ReadDays]:
        """How often every grain was read that ever was, all pages; for lists of them only."""

    def recall_rows(self, memory: MemoryId) -> Iterator[RecallRow]:
        """Single recalls, oldest first, where they are kept one by one."""

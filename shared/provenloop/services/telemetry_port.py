"""What the use cases read of how memory was used, as a Protocol; ``adapters`` implements it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from provenloop.domain.names import MemoryId
from provenloop.domain.rollup import AskDay, AssemblyDay, ReadDays


class TelemetryReader(Protocol):
    """Read-only access to the counts of questions, reads and assembled contexts; strongly consistent.

    Days are UTC, written ``YYYYMMDD``. What the log holds and no pass has folded yet is not counted.
    """

    def ask_window(self, memory: MemoryId, question: str, first_day: str, last_day: str) -> tuple[AskDay, ...]:
        """The days of one question (the address of its grain), both ends included, in order."""

    def assembly_window(self, memory: MemoryId, first_day: str, last_day: str) -> tuple[AssemblyDay, ...]:
        """The days on which contexts were assembled, both ends included, in order."""

    def grain_reads(self, memory: MemoryId, addresses: Iterable[str]) -> Mapping[str, ReadDays]:
        """How often the grains were read; those that never were are left out."""

    def questions(self, memory: MemoryId) -> tuple[str, ...]:
        """Every question that has counts, by address; reads all of them, for full sweeps only."""

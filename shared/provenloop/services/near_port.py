"""What is read of the index of near-duplicates, as a Protocol; ``adapters`` implements it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from provenloop.domain.names import MemoryId
from provenloop.domain.records import NearPosting, NearText


class NearReader(Protocol):
    """Read-only access to the index, strongly consistent."""

    def near_texts(self, memory: MemoryId, addresses: Iterable[str]) -> Mapping[str, NearText]:
        """What is kept of the observations that are indexed, by address."""

    def near_postings(
        self, memory: MemoryId, token: str, sizes: tuple[int, int], limit: int
    ) -> tuple[NearPosting, ...]:
        """The first ``limit`` observations under a token whose size lies between the two, both included."""

    def near_present(self, memory: MemoryId, rows: Iterable[NearPosting]) -> frozenset[NearPosting]:
        """Which of the rows are stored."""

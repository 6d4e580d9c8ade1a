"""What is read of the sorted sets of old grains, as a Protocol; ``adapters`` implements it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from provenloop.domain.names import MemoryId
from provenloop.domain.records import AgedCount, AgedGrain


class AgedReader(Protocol):
    """Read-only access to the sets, strongly consistent."""

    def aged_present(self, memory: MemoryId, rows: Iterable[AgedGrain]) -> frozenset[AgedGrain]:
        """Which of the grains are in their set."""

    def aged_counts(self, memory: MemoryId, family: str, namespace_keys: Iterable[str]) -> Mapping[str, AgedCount]:
        """How many grains one analyzer has in the namespaces, where it has a set at all."""

    def aged_oldest(self, memory: MemoryId, family: str, namespace_key: str, limit: int) -> tuple[AgedGrain, ...]:
        """The first ``limit`` grains of a set by (at, address)."""

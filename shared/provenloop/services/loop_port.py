"""Reading grains and the loop's own records, as Protocols; ``adapters`` implements them. Part of ``ports.Store``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from provenloop.domain.commit import Heads, LogEntry
from provenloop.domain.grain import Grain
from provenloop.domain.lifecycle import Status
from provenloop.domain.memory_config import MemoryConfig
from provenloop.domain.names import MemoryId
from provenloop.domain.recommendation import FindingKey, Recommendation
from provenloop.domain.records import Due, Replay, Run, Undo
from provenloop.domain.rollup import Rollup, RowId, ToolWindow
from provenloop.services.outcome_port import OutcomeReader
from provenloop.services.recall_port import RecallReader


@dataclass(frozen=True, slots=True)
class QueuePage:
    """One page of the review queue; ``cursor`` is None on the last one."""

    rows: tuple[Mapping[str, Any], ...]
    cursor: str | None


class GrainReader(Protocol):
    """Read-only access to grains; strongly consistent."""

    def grains(self, memory: MemoryId, addresses: Iterable[str], now: int) -> Mapping[str, Grain]:
        """The stored ones among the addresses; expired ones are left out."""

    def grains_by_prefix(self, memory: MemoryId, prefix: str, now: int) -> tuple[Grain, ...]:
        """All grains whose address starts so, in address order."""

    def all_grains(self, memory: MemoryId, after: str, now: int) -> Iterator[Grain]:
        """Every grain whose address is greater than ``after``, in address order, all pages; for sweeps only."""

    def history(self, memory: MemoryId, address: str) -> tuple[Grain, ...]:
        """Earlier versions of a grain, oldest first."""

    def predecessors(self, memory: MemoryId, address: str) -> tuple[str, ...]:
        """Addresses that were superseded by a grain, in the order of the commits; some may be so no more."""

    def history_row(self, memory: MemoryId, address: str, head_rev: int) -> Grain | None:
        """The version of a grain that had this ``head_rev``."""


class LoopReader(RecallReader, OutcomeReader, Protocol):
    """Read-only access to the loop's own records; strongly consistent but for the queue."""

    def heads(self, memory: MemoryId) -> Heads | None:
        """The three head items in one query; None when the memory does not exist."""

    def heads_and_config(self, memory: MemoryId) -> tuple[Heads, MemoryConfig] | None:
        """The head items and what an admin set, in one query; None when the memory does not exist."""

    def log_entries(self, memory: MemoryId, after: int, upto: int) -> tuple[LogEntry, ...]:
        """The entries with ``after < seq <= upto`` that are there, in order."""

    def log_entries_at(self, memory: MemoryId, numbers: Iterable[int]) -> Mapping[int, LogEntry]:
        """Those of the numbered entries that are there."""

    def rollups(self, memory: MemoryId, ids: Iterable[RowId], now: int) -> tuple[Rollup, ...]:
        """The stored ones among the rows."""

    def tool_window(self, memory: MemoryId, tool_key: str, first_day: str, last_day: str) -> ToolWindow:
        """All rows of one tool from ``first_day`` to ``last_day``, both included."""

    def tool_keys(self, memory: MemoryId) -> tuple[str, ...]:
        """Every tool that has rollups; reads all of them, for full sweeps only."""

    def finding_keys(self, memory: MemoryId, group: str) -> tuple[FindingKey, ...]:
        """All dedup keys known in one group, of every analyzer that looks at it."""

    def change_context(
        self, memory: MemoryId, rec: Recommendation, addresses: Iterable[str], now: int
    ) -> tuple[FindingKey | None, Mapping[str, Grain]]:
        """A recommendation's dedup key and the named grains, in one round trip."""

    def finding_key(self, memory: MemoryId, family: str, group: str, dedup_key: str) -> FindingKey | None:
        """One dedup key."""

    def recommendations(self, memory: MemoryId, ids: Iterable[str]) -> Mapping[str, Recommendation]:
        """The stored ones among the ids."""

    def recommendations_by_prefix(self, memory: MemoryId, prefix: str, limit: int) -> tuple[Recommendation, ...]:
        """Recommendations whose id starts so, at most ``limit``."""

    def count_recommendations(self, memory: MemoryId, prefix: str) -> int:
        """How many ids start so."""

    def queue(self, memory: MemoryId, statuses: Sequence[Status], *, limit: int, cursor: str | None) -> QueuePage:
        """Queue rows by severity descending, created_at, id. From an index that may be late."""

    def due(self, memory: MemoryId, upto: int, limit: int) -> tuple[Due, ...]:
        """Declared instants up to ``upto``, earliest first."""

    def due_present(self, memory: MemoryId, wanted: Iterable[Due]) -> frozenset[Due]:
        """Which of the declared instants are already planted."""

    def undo(self, memory: MemoryId, recommendation: str) -> Undo | None:
        """The inverse of an apply."""

    def memory_config(self, memory: MemoryId) -> MemoryConfig:
        """What an admin set; defaults where nothing was."""

    def run(self, memory: MemoryId, run_id: str) -> Run | None:
        """A stored pass outcome."""

    def replay(self, memory: MemoryId, key: str, now: int) -> Replay | None:
        """An unexpired replay record."""

    def all_recommendations(self, memory: MemoryId) -> Iterator[Recommendation]:
        """Every recommendation by id, all pages."""

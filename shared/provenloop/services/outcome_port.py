"""What measuring and its report read, as a Protocol; ``adapters`` implements it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol

from provenloop.domain.checkpoint import Checkpoint, Regression, Watch
from provenloop.domain.names import MemoryId
from provenloop.domain.recommendation import Recommendation
from provenloop.domain.rollup import Rollup, RowId


class Planned(NamedTuple):
    """What a checkpoint is measured from, as far as it is there."""

    recommendation: Recommendation | None
    checkpoint: Checkpoint | None
    rollups: tuple[Rollup, ...]


class OutcomeReader(Protocol):
    """Read-only access to checkpoints, watches and what did not hold; strongly consistent."""

    def watches(self, memory: MemoryId) -> tuple[Watch, ...]:
        """All watches that are still counting."""

    def checkpoints(self, memory: MemoryId, recommendation: str) -> tuple[Checkpoint, ...]:
        """The planned measurements of one recommendation, shortest horizon first."""

    def all_checkpoints(self, memory: MemoryId) -> Iterator[Checkpoint]:
        """Those of every recommendation, all pages; for reports only."""

    def planned(self, memory: MemoryId, recommendation: str, horizon_ms: int, rollups: Iterable[RowId] = ()) -> Planned:
        """A recommendation, one of its checkpoints and the named rows of counts, in one round trip."""

    def regression(self, memory: MemoryId, recommendation: str) -> Regression | None:
        """The record that an applied recommendation did not hold."""

    def regressions(self, memory: MemoryId) -> tuple[Regression, ...]:
        """Every recommendation that did not hold and is applied still."""

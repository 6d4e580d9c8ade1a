"""Reading what was planned, counted and measured of applied changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from provenloop.adapters.dynamodb import keys, table
from provenloop.adapters.dynamodb.items import entity_of
from provenloop.adapters.dynamodb.keys import Key, partition
from provenloop.adapters.dynamodb.reading import as_entity, entities, some_entities
from provenloop.adapters.dynamodb.recall_rows import ROLLUPS, rollup_sort
from provenloop.adapters.dynamodb.rows import Row
from provenloop.domain.checkpoint import Checkpoint, Regression, Watch
from provenloop.domain.names import MemoryId
from provenloop.domain.recommendation import Recommendation
from provenloop.domain.rollup import RowId
from provenloop.services.outcome_port import Planned


class OutcomeRows:
    """Implements ``services.outcome_port.OutcomeReader``; part of the store."""

    _pause: table.Pause

    def watches(self, memory: MemoryId) -> tuple[Watch, ...]:
        """See ``OutcomeReader``."""
        return tuple(entities(_loop(memory, keys.WATCH_PREFIX), Watch))

    def checkpoints(self, memory: MemoryId, recommendation: str) -> tuple[Checkpoint, ...]:
        """See ``OutcomeReader``."""
        return tuple(entities(_loop(memory, keys.checkpoints_of(recommendation)), Checkpoint))

    def all_checkpoints(self, memory: MemoryId) -> Iterator[Checkpoint]:
        """See ``OutcomeReader``."""
        return entities(_loop(memory, keys.CHECKPOINT_PREFIX), Checkpoint)

    def planned(self, memory: MemoryId, recommendation: str, horizon_ms: int, rollups: Iterable[RowId] = ()) -> Planned:
        """See ``OutcomeReader``."""
        loop, index = partition(memory, "LOOP"), partition(memory, "INDEX")
        wanted = [
            Key(loop, keys.recommendation(recommendation)),
            Key(loop, keys.checkpoint(recommendation, horizon_ms)),
        ]
        wanted += [Key(index, rollup_sort(row_id)) for row_id in rollups]
        rows = table.get_many(wanted, self._pause)
        found = [entity_of(row) for row in rows if row.pk == loop]
        rec = next((row for row in found if isinstance(row, Recommendation)), None)
        checkpoint = next((row for row in found if isinstance(row, Checkpoint)), None)
        return Planned(rec, checkpoint, tuple(some_entities((row for row in rows if row.pk == index), ROLLUPS)))

    def regression(self, memory: MemoryId, recommendation: str) -> Regression | None:
        """See ``OutcomeReader``."""
        row = table.get(Key(partition(memory, "LOOP"), keys.regression(recommendation)))
        return None if row is None else as_entity(row, Regression)

    def regressions(self, memory: MemoryId) -> tuple[Regression, ...]:
        """See ``OutcomeReader``."""
        return tuple(entities(_loop(memory, keys.REGRESSION_PREFIX), Regression))


def _loop(memory: MemoryId, prefix: str) -> Iterator[Row]:
    return table.query(partition(memory, "LOOP"), Row.sk.startswith(prefix))

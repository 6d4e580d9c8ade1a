"""Executions that wait, and what they are to be told."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import islice

from provenloop.adapters.dynamodb import keys, table
from provenloop.adapters.dynamodb.faults import translating
from provenloop.adapters.dynamodb.items import entity_of
from provenloop.adapters.dynamodb.keys import Key, partition
from provenloop.adapters.dynamodb.rows import Row
from provenloop.domain.names import MemoryId
from provenloop.domain.waiting import Callback, Wait
from provenloop.services.review_port import Untold


class WaitRows:
    """Implements ``services.review_port.WaitReader``; part of the store."""

    def waits(self, memory: MemoryId, recommendation: str) -> tuple[Wait, ...]:
        """See ``WaitReader``."""
        prefix = Row.sk.startswith(keys.waits_of(recommendation))
        found = map(entity_of, table.query(partition(memory, "LOOP"), prefix))
        return tuple(wait for wait in found if isinstance(wait, Wait))


class DynamoUntolds:
    """Implements ``services.review_port.Untolds``: rows of index ``bytime``, oldest first."""

    def __init__(self, table_name: str, region: str | None = None, *, pause: table.Pause) -> None:
        table.bind(table_name, region)
        self._pause = pause

    def untold(self, before: int, limit: int) -> tuple[Untold, ...]:
        """See ``Untolds``."""
        shards = (_places(keys.callback_partition(shard), before, limit) for shard in range(keys.WAKE_SHARDS))
        places = [key for _, key in islice(heapq.merge(*shards), limit)]
        order = {key: place for place, key in enumerate(places)}
        rows = sorted(table.get_many(places, self._pause), key=lambda row: order[Key(row.pk, row.sk)])
        found = ((row, entity_of(row)) for row in rows)
        return tuple(Untold(keys.memory_of(row.pk), entity) for row, entity in found if isinstance(entity, Callback))


def _places(shard: str, before: int, limit: int) -> Iterator[tuple[str, Key]]:
    rows = iter(Row.bytime.query(shard, Row.time_sk < keys.instant(before), limit=limit))
    while (row := translating(lambda: next(rows, None))) is not None:
        yield row.time_sk, Key(row.pk, row.sk)

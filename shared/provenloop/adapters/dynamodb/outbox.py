"""The outbox as the sweep sees it: rows of index ``bytime``, oldest first. Late by design; it only finds work."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import islice

from provenloop.adapters.dynamodb import keys, table
from provenloop.adapters.dynamodb.faults import translating
from provenloop.adapters.dynamodb.items import entity_of
from provenloop.adapters.dynamodb.keys import Key
from provenloop.adapters.dynamodb.rows import Row
from provenloop.domain.bus_events import BusEvent
from provenloop.domain.errors import IntegrityError
from provenloop.services.bus_port import Waiting


class DynamoOutbox:
    """Implements ``services.bus_port.Outbox``."""

    def __init__(self, table_name: str, region: str | None = None, *, pause: table.Pause) -> None:
        table.bind(table_name, region)
        self._pause = pause

    def unpublished(self, before: int, limit: int) -> tuple[Waiting, ...]:
        """See ``Outbox``. A row that cannot be read is left where it is and keeps nothing else from going out."""
        shards = (_places(keys.outbox_partition(shard), before, limit) for shard in range(keys.WAKE_SHARDS))
        places = [key for _, key in islice(heapq.merge(*shards), limit)]
        order = {key: place for place, key in enumerate(places)}
        rows = table.get_many(places, self._pause) if places else ()
        found = sorted(rows, key=lambda row: order[Key(row.pk, row.sk)])
        return tuple(waiting for row in found if (waiting := _waiting(row)) is not None)


def _places(shard: str, before: int, limit: int) -> Iterator[tuple[str, Key]]:
    rows = iter(Row.bytime.query(shard, Row.time_sk < keys.instant(before), limit=limit))
    while (row := translating(lambda: next(rows, None))) is not None:
        yield row.time_sk, Key(row.pk, row.sk)


def _waiting(row: Row) -> Waiting | None:
    try:
        entity = entity_of(row)
    except IntegrityError:
        return None
    return Waiting(keys.memory_of(row.pk), entity) if isinstance(entity, BusEvent) else None

"""Reading the sorted sets of old grains."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from provenloop.adapters.dynamodb import keys, table
from provenloop.adapters.dynamodb.keys import Key, partition
from provenloop.adapters.dynamodb.reading import entities
from provenloop.adapters.dynamodb.rows import Row
from provenloop.domain.names import MemoryId
from provenloop.domain.records import AgedCount, AgedGrain


class AgedRows:
    """Implements ``services.aged_port.AgedReader``; part of the store."""

    _pause: table.Pause

    def aged_present(self, memory: MemoryId, rows: Iterable[AgedGrain]) -> frozenset[AgedGrain]:
        """See ``AgedReader``."""
        pk = partition(memory, "INDEX")
        wanted = (Key(pk, keys.aged(row.family, row.namespace_key, row.at, row.address)) for row in rows)
        found = table.get_many(wanted, self._pause)
        return frozenset(entities(found, AgedGrain))

    def aged_counts(self, memory: MemoryId, family: str, namespace_keys: Iterable[str]) -> Mapping[str, AgedCount]:
        """See ``AgedReader``."""
        pk = partition(memory, "INDEX")
        found = table.get_many((Key(pk, keys.aged_count(family, key)) for key in namespace_keys), self._pause)
        return {row.namespace_key: row for row in entities(found, AgedCount)}

    def aged_oldest(self, memory: MemoryId, family: str, namespace_key: str, limit: int) -> tuple[AgedGrain, ...]:
        """See ``AgedReader``."""
        prefix = Row.sk.startswith(keys.aged_namespace(family, namespace_key))
        found = table.query(partition(memory, "INDEX"), prefix, limit=limit)
        return tuple(entities(found, AgedGrain))

"""Reading the index of near-duplicates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from provenloop.adapters.dynamodb import keys, table
from provenloop.adapters.dynamodb.keys import Key, partition
from provenloop.adapters.dynamodb.reading import entities
from provenloop.adapters.dynamodb.rows import Row
from provenloop.domain.names import MemoryId
from provenloop.domain.records import NearPosting, NearText


class NearRows:
    """Implements ``services.near_port.NearReader``; part of the store."""

    _pause: table.Pause

    def near_texts(self, memory: MemoryId, addresses: Iterable[str]) -> Mapping[str, NearText]:
        """See ``NearReader``."""
        pk = partition(memory, "INDEX")
        found = table.get_many((Key(pk, keys.near_text(address)) for address in addresses), self._pause)
        return {row.address: row for row in entities(found, NearText)}

    def near_postings(
        self, memory: MemoryId, token: str, sizes: tuple[int, int], limit: int
    ) -> tuple[NearPosting, ...]:
        """See ``NearReader``."""
        least, greatest = sizes
        between = Row.sk.between(keys.near_postings(token, least), keys.near_postings(token, greatest) + keys.LAST)
        found = table.query(partition(memory, "INDEX"), between, limit=limit)
        return tuple(entities(found, NearPosting))

    def near_present(self, memory: MemoryId, rows: Iterable[NearPosting]) -> frozenset[NearPosting]:
        """See ``NearReader``."""
        pk = partition(memory, "INDEX")
        wanted = (Key(pk, keys.near_posting(row.token, row.size, row.address)) for row in rows)
        found = table.get_many(wanted, self._pause)
        return frozenset(entities(found, NearPosting))

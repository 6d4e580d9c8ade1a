"""Every memory and every tenant, by index ``bytime``. Late by design; it only finds work, it never decides."""

from __future__ import annotations

from collections.abc import Iterator

from provenloop.adapters.dynamodb import keys, table
from provenloop.adapters.dynamodb.faults import translating
from provenloop.adapters.dynamodb.rows import Row
from provenloop.domain.names import MemoryId


class DynamoMemoryIndex:
    """Implements ``services.anchor_port.MemoryIndex``."""

    def __init__(self, table_name: str, region: str | None = None) -> None:
        table.bind(table_name, region)

    def all_memories(self) -> Iterator[MemoryId]:
        """See ``MemoryIndex``."""
        rows = iter(Row.bytime.query(keys.MEMORIES))
        while (row := translating(lambda: next(rows, None))) is not None:
            yield keys.memory_named(row.time_sk)

    def all_tenants(self) -> Iterator[str]:
        """See ``MemoryIndex``. One query a tenant, however many chains it has."""
        place = " "
        while (row := _first_after(place)) is not None:
            tenant = keys.tenant_named(row.time_sk)
            yield tenant
            place = keys.tenant_order(tenant, keys.LAST)


def _first_after(place: str) -> Row | None:
    return translating(lambda: next(iter(Row.bytime.query(keys.TENANTS, Row.time_sk > place, limit=1)), None))

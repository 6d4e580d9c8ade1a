"""Every memory of every tenant, by index ``bytime``. Late by design; it only finds work, it never decides."""

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

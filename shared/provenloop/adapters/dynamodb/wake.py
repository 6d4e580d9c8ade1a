"""The wake index: which memories have something to do. Late by design; it only finds work, it never decides."""

from __future__ import annotations

from provenloop.adapters.dynamodb import keys, table
from provenloop.adapters.dynamodb.faults import translating
from provenloop.adapters.dynamodb.keys import partition
from provenloop.adapters.dynamodb.rows import Row
from provenloop.domain.names import MemoryId


class DynamoWakeIndex:
    """Implements ``services.dispatch_port.WakeIndex``."""

    def __init__(self, table_name: str, region: str | None = None) -> None:
        table.bind(table_name, region)

    def due_memories(self, now: int) -> tuple[MemoryId, ...]:
        """See ``WakeIndex``. Cost follows the memories that are due, plus one query a shard."""
        found: dict[MemoryId, None] = {}
        for shard in range(keys.WAKE_SHARDS):
            rows = iter(Row.due.query(keys.wake_partition(shard), Row.wake_at <= now))
            while (row := translating(lambda rows=rows: next(rows, None))) is not None:  # type: ignore[misc]
                found[keys.memory_of(row.pk)] = None
        return tuple(found)

    def claim(self, memory: MemoryId, now: int, until: int) -> bool:
        """See ``WakeIndex``. The claim stands beside the log's counters, which no pass replaces."""
        row = Row(partition(memory, "HEAD"), keys.LOG_HEAD)
        free = Row.claim_until.does_not_exist() | (Row.claim_until <= now)
        return table.update(row, [Row.claim_until.set(until)], Row.seq.exists() & free)

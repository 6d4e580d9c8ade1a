"""A memory as its items, class by class: closing it, erasing it, walking through it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from provenloop.adapters.dynamodb import keys, table
from provenloop.adapters.dynamodb.items import audit_entry_of, entity_of
from provenloop.adapters.dynamodb.keys import partition
from provenloop.adapters.dynamodb.rows import Row, is_expired
from provenloop.adapters.dynamodb.writes import add_write, commit_writes
from provenloop.domain.errors import IntegrityError
from provenloop.domain.job import ERASURE_CHAIN, Job
from provenloop.domain.names import MemoryId, tenant_itself
from provenloop.domain.records import MemoryRecord
from provenloop.services.erasure_port import ItemClass, Part
from provenloop.services.ports import Entity, Replace, Write

#: Class and prefix of the sort keys of each part.
_PARTS: Mapping[Part, tuple[str, str]] = {
    "grains": ("GRAIN", ""),
    "recommendations": ("LOOP", keys.RECOMMENDATION_PREFIX),
    "cards": ("LESSON", keys.CARD_PREFIX),
    "recipes": ("RECIPE", keys.RECIPE_PREFIX),
    "recipe_versions": ("RECIPE", keys.RECIPE_VERSION_PREFIX),
    "distillations": ("RECIPE", keys.DISTILLATION_PREFIX),
    "ledger": ("RECIPE", keys.LEDGER_PREFIX),
    "audit": ("AUDIT", ""),
}
#: Sorts before every letter of a key, so behind a key it is the first that follows.
_JUST_AFTER = " "
#: How many items of a memory tell of its erasure when all else is gone.
_STAYING = 2


class WholeMemories:
    """Implements ``services.erasure_port.WholeMemory``; part of the store."""

    _pause: table.Pause

    def memory_record(self, memory: MemoryId) -> MemoryRecord | None:
        """See ``WholeMemory``."""
        row = table.get(keys.memory_row(memory))
        if row is None:
            return None
        found = entity_of(row)
        if not isinstance(found, MemoryRecord):
            raise IntegrityError("a stored item is not the MemoryRecord its key says")
        return found

    def close_memory(
        self, memory: MemoryId, record: MemoryRecord, beside: Sequence[Write], told: Sequence[Write], now: int
    ) -> None:
        """See ``WholeMemory``."""
        transaction = table.Transaction()
        own = (Replace(record, expected=record.rev - 1), *beside)
        for write in own:
            add_write(transaction, memory, write, now)
        for write in told:
            add_write(transaction, tenant_itself(memory.tenant), write, now)
        transaction.delete(Row(partition(memory, "HEAD"), keys.LOG_HEAD), Row.seq.exists())
        commit_writes(transaction, (*own, *told), self._pause)

    def items_of(self, memory: MemoryId, item_class: ItemClass, limit: int) -> tuple[str, ...]:
        """See ``WholeMemory``."""
        rows = table.query(partition(memory, item_class), limit=limit + _STAYING)
        return tuple(islice((row.sk for row in rows if not _stays(row)), limit))

    def erase_items(self, memory: MemoryId, item_class: ItemClass, items: Sequence[str], job: Job, now: int) -> None:
        """See ``WholeMemory``."""
        transaction = table.Transaction()
        moved = Replace(job, expected=job.rev - 1)
        add_write(transaction, memory, moved, now)
        for sort in items:
            transaction.delete(Row(partition(memory, item_class), sort), Row.sk.exists())
        commit_writes(transaction, [moved], self._pause)

    def walk(self, memory: MemoryId, part: Part, after: str, now: int) -> Iterator[tuple[str, Entity]]:
        """See ``WholeMemory``."""
        item_class, prefix = _PARTS[part]
        between = Row.sk.between(f"{after}{_JUST_AFTER}" if after else prefix or _JUST_AFTER, prefix + keys.LAST)
        for row in table.query(partition(memory, item_class), between):
            if not is_expired(row, now):
                yield row.sk, audit_entry_of(row) if part == "audit" else entity_of(row)


def _stays(row: Row) -> bool:
    """Whether an item tells of the memory's erasure: the job that does it, and where its audit chain ends."""
    if row.sk == keys.chain_end(ERASURE_CHAIN):
        return True
    if row.type != "job":
        return False
    job = entity_of(row)
    return isinstance(job, Job) and job.kind == "erase"

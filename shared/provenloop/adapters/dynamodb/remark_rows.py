"""Reading what outside analyzers said."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from provenloop.adapters.dynamodb import keys, table
from provenloop.adapters.dynamodb.keys import Key, partition
from provenloop.adapters.dynamodb.reading import as_entity, entities
from provenloop.adapters.dynamodb.rows import Row
from provenloop.domain.names import MemoryId
from provenloop.domain.remark import Looked, Remark, names_of


class RemarkRows:
    """Implements ``services.remark_port.RemarkReader``; part of the store."""

    _pause: table.Pause

    def remarks(self, memory: MemoryId, names: Iterable[str]) -> Mapping[str, Remark]:
        """See ``RemarkReader``."""
        loop = partition(memory, "LOOP")
        rows = table.get_many((Key(loop, keys.remark(name)) for name in names), self._pause)
        return {remark.name: remark for remark in entities(rows, Remark)}

    def newest_remarks(self, memory: MemoryId, family: str, limit: int) -> tuple[Remark, ...]:
        """See ``RemarkReader``."""
        prefix = Row.sk.startswith(keys.remark(names_of(family)))
        return tuple(entities(table.query(partition(memory, "LOOP"), prefix, forward=False, limit=limit), Remark))

    def looked(self, memory: MemoryId, family: str) -> Looked | None:
        """See ``RemarkReader``."""
        row = table.get(Key(partition(memory, "LOOP"), keys.looked(family)))
        return None if row is None else as_entity(row, Looked)

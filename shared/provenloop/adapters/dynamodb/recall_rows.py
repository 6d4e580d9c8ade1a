"""Reading the terms of texts, and the counts of questions, reads and assembled contexts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import get_args

from provenloop.adapters.dynamodb import keys, table
from provenloop.adapters.dynamodb.keys import Key, partition
from provenloop.adapters.dynamodb.reading import entities
from provenloop.adapters.dynamodb.rows import Row
from provenloop.domain.names import MemoryId
from provenloop.domain.records import RecallRow, TermRow, TermSegment
from provenloop.domain.rollup import (
    AskDay,
    AskDayId,
    AssemblyDay,
    AssemblyDayId,
    ReadDays,
    ReadDaysId,
    Rollup,
    RowId,
)

ROLLUPS: tuple[type[Rollup], ...] = get_args(Rollup)


class RecallRows:
    """Implements ``services.recall_port.RecallReader``; part of the store."""

    _pause: table.Pause

    def term_rows(self, memory: MemoryId, terms: Iterable[str]) -> Mapping[str, TermRow]:
        """See ``RecallReader``."""
        return {row.term: row for row in entities(self._index_rows(memory, map(keys.term, terms)), TermRow)}

    def term_segments(self, memory: MemoryId, term: str, limit: int) -> tuple[TermSegment, ...]:
        """See ``RecallReader``."""
        prefix = Row.sk.startswith(keys.term_segments(term))
        rows = table.query(partition(memory, "INDEX"), prefix, forward=False, limit=limit)
        return tuple(entities(rows, TermSegment))

    def ask_window(self, memory: MemoryId, question: str, first_day: str, last_day: str) -> tuple[AskDay, ...]:
        """See ``RecallReader``."""
        between = Row.sk.between(keys.ask_day(question, first_day), keys.ask_day(question, last_day))
        return tuple(entities(table.query(partition(memory, "INDEX"), between), AskDay))

    def assembly_window(self, memory: MemoryId, first_day: str, last_day: str) -> tuple[AssemblyDay, ...]:
        """See ``RecallReader``."""
        between = Row.sk.between(keys.assembly_day(first_day), keys.assembly_day(last_day))
        return tuple(entities(table.query(partition(memory, "INDEX"), between), AssemblyDay))

    def grain_reads(self, memory: MemoryId, addresses: Iterable[str]) -> Mapping[str, ReadDays]:
        """See ``RecallReader``."""
        rows = self._index_rows(memory, map(keys.read_days, addresses))
        return {row.address: row for row in entities(rows, ReadDays)}

    def questions(self, memory: MemoryId) -> tuple[str, ...]:
        """See ``RecallReader``."""
        rows = table.query(partition(memory, "INDEX"), Row.sk.startswith(keys.ASK_PREFIX))
        return tuple(dict.fromkeys(keys.question_of(row.sk) for row in rows))

    def all_asks(self, memory: MemoryId) -> Iterator[AskDay]:
        """See ``RecallReader``."""
        return entities(table.query(partition(memory, "INDEX"), Row.sk.startswith(keys.ASK_PREFIX)), AskDay)

    def all_reads(self, memory: MemoryId) -> Iterator[ReadDays]:
        """See ``RecallReader``."""
        return entities(table.query(partition(memory, "INDEX"), Row.sk.startswith(keys.READ_PREFIX)), ReadDays)

    def recall_rows(self, memory: MemoryId) -> Iterator[RecallRow]:
        """See ``RecallReader``."""
        return entities(table.query(partition(memory, "INDEX"), Row.sk.startswith(keys.RECALL_PREFIX)), RecallRow)

    def _index_rows(self, memory: MemoryId, sorts: Iterable[str]) -> tuple[Row, ...]:
        return table.get_many((Key(partition(memory, "INDEX"), sort) for sort in sorts), self._pause)


def rollup_sort(row_id: RowId) -> str:
    """Sort key of a rollup row."""
    match row_id:
        case AskDayId():
            return keys.ask_day(row_id.question, row_id.day)
        case AssemblyDayId():
            return keys.assembly_day(row_id.day)
        case ReadDaysId():
            return keys.read_days(row_id.address)
        case tool_key, day:
            return keys.tool_day(tool_key, day)
        case tool_key, day, signature:
            return keys.signature_day(tool_key, day, signature)

"""The store of one table: every read and write of a memory, over pynamodb."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TypeVar

from provenloop.adapters.dynamodb import heads, keys, queue_index, table, writes
from provenloop.adapters.dynamodb.aged_rows import AgedRows
from provenloop.adapters.dynamodb.audit_rows import AuditRows
from provenloop.adapters.dynamodb.distillation_rows import DistillationRows
from provenloop.adapters.dynamodb.items import entity_of
from provenloop.adapters.dynamodb.job_rows import JobRows
from provenloop.adapters.dynamodb.keys import Key, partition
from provenloop.adapters.dynamodb.ledger_rows import LedgerRows
from provenloop.adapters.dynamodb.lesson_rows import LessonRows
from provenloop.adapters.dynamodb.meter import Usage
from provenloop.adapters.dynamodb.near_rows import NearRows
from provenloop.adapters.dynamodb.outcome_rows import OutcomeRows
from provenloop.adapters.dynamodb.reading import as_entity, entities, some_entities
from provenloop.adapters.dynamodb.recall_rows import ROLLUPS, RecallRows, rollup_sort
from provenloop.adapters.dynamodb.recipe_rows import RecipeRows
from provenloop.adapters.dynamodb.remark_rows import RemarkRows
from provenloop.adapters.dynamodb.rows import Row, is_expired
from provenloop.adapters.dynamodb.session_rows import SessionRows
from provenloop.adapters.dynamodb.wait_rows import WaitRows
from provenloop.adapters.dynamodb.whole_memory import WholeMemories
from provenloop.domain.address import is_address
from provenloop.domain.commit import Heads, LogEntry, LogHead
from provenloop.domain.errors import IntegrityError
from provenloop.domain.grain import Grain
from provenloop.domain.lifecycle import Status
from provenloop.domain.memory_config import MemoryConfig
from provenloop.domain.names import MemoryId
from provenloop.domain.recommendation import FindingKey, Recommendation
from provenloop.domain.records import Due, History, MemoryRecord, Predecessors, Replay, Run, Undo
from provenloop.domain.rollup import Rollup, RowId, SignatureDay, ToolDay, ToolWindow
from provenloop.services.loop_port import QueuePage
from provenloop.services.ports import MAX_TRIES, Reservation, Write

T = TypeVar("T")


class DynamoStore(
    AgedRows,
    AuditRows,
    DistillationRows,
    JobRows,
    LedgerRows,
    LessonRows,
    NearRows,
    OutcomeRows,
    RecallRows,
    RecipeRows,
    RemarkRows,
    SessionRows,
    WaitRows,
    WholeMemories,
):
    """Implements ``services.ports.Store`` on one DynamoDB table.

    Args:
        table_name: the table; a process serves one.
        region: AWS region, or None for the environment's.
        pause: waits before a further try; gets the number of the try, from 1.
        committed: is told of every transaction that was committed.
    """

    def __init__(
        self,
        table_name: str,
        region: str | None = None,
        *,
        pause: table.Pause,
        committed: Callable[[MemoryId, Sequence[Write]], None] = lambda _memory, _writes: None,
    ) -> None:
        table.bind(table_name, region)
        self._pause = pause
        self._committed = committed

    # grains

    def grains(self, memory: MemoryId, addresses: Iterable[str], now: int) -> Mapping[str, Grain]:
        """See ``GrainReader``."""
        rows = self._many(partition(memory, "GRAIN"), addresses)
        return {grain.address: grain for grain in _unexpired(entities(rows, Grain), now)}

    def grains_by_prefix(self, memory: MemoryId, prefix: str, now: int) -> tuple[Grain, ...]:
        """See ``GrainReader``."""
        rows = table.query(partition(memory, "GRAIN"), Row.sk.startswith(prefix))
        return tuple(_unexpired(entities(rows, Grain), now))

    def history(self, memory: MemoryId, address: str) -> tuple[Grain, ...]:
        """See ``GrainReader``."""
        rows = table.query(partition(memory, "GRAIN"), Row.sk.startswith(keys.history_prefix(address)))
        return tuple(row.grain for row in entities(rows, History))

    def predecessors(self, memory: MemoryId, address: str) -> tuple[str, ...]:
        """See ``GrainReader``."""
        rows = table.query(partition(memory, "GRAIN"), Row.sk.startswith(keys.predecessors_of(address)))
        return tuple(dict.fromkeys(name for row in entities(rows, Predecessors) for name in row.superseded))

    def history_row(self, memory: MemoryId, address: str, head_rev: int) -> Grain | None:
        """See ``GrainReader``."""
        found = self._one(Key(partition(memory, "GRAIN"), keys.history(address, head_rev)), History)
        return found.grain if found else None

    # heads and log

    def heads(self, memory: MemoryId) -> Heads | None:
        """See ``LoopReader``."""
        return heads.read(memory)

    def heads_and_config(self, memory: MemoryId) -> tuple[Heads, MemoryConfig] | None:
        """See ``LoopReader``."""
        return heads.read_with_config(memory)

    def reserve(self, memory: MemoryId, reservation: Reservation) -> LogHead | None:
        """See ``Store``."""
        return heads.reserve(memory, reservation)

    def give_back_lesson(self, memory: MemoryId, size: int) -> None:
        """See ``Store``."""
        heads.give_back_lesson(memory, size)

    def clear_wake(self, memory: MemoryId, seq: int) -> None:
        """See ``Store``."""
        heads.clear_wake(memory, seq)

    def log_entries(self, memory: MemoryId, after: int, upto: int) -> tuple[LogEntry, ...]:
        """See ``LoopReader``."""
        if upto <= after:
            return ()
        between = Row.sk.between(keys.log_entry(after + 1), keys.log_entry(upto))
        return tuple(_entry(row) for row in table.query(partition(memory, "LOG"), between))

    def log_entries_at(self, memory: MemoryId, numbers: Iterable[int]) -> Mapping[int, LogEntry]:
        """See ``LoopReader``."""
        rows = self._many(partition(memory, "LOG"), (keys.log_entry(seq) for seq in numbers))
        return {entry.seq: entry for entry in map(_entry, rows)}

    # rollups and due instants

    def rollups(self, memory: MemoryId, ids: Iterable[RowId], now: int) -> tuple[Rollup, ...]:
        """See ``LoopReader``."""
        rows = self._many(partition(memory, "INDEX"), (rollup_sort(row_id) for row_id in ids))
        fresh = [row for row in rows if not is_expired(row, now)]
        return tuple(sorted(some_entities(fresh, ROLLUPS), key=repr))

    def tool_window(self, memory: MemoryId, tool_key: str, first_day: str, last_day: str) -> ToolWindow:
        """See ``LoopReader``."""
        between = Row.sk.between(keys.tool_day(tool_key, first_day), keys.tool_day(tool_key, last_day) + keys.LAST)
        found = list(some_entities(table.query(partition(memory, "INDEX"), between), (ToolDay, SignatureDay)))
        days = tuple(row for row in found if isinstance(row, ToolDay))
        return ToolWindow(tool_key, days, tuple(row for row in found if isinstance(row, SignatureDay)))

    def tool_keys(self, memory: MemoryId) -> tuple[str, ...]:
        """See ``LoopReader``."""
        rows = table.query(partition(memory, "INDEX"), Row.sk.startswith(keys.TOOL_PREFIX))
        return tuple(dict.fromkeys(keys.tool_key_of(row.sk) for row in rows))

    def all_grains(self, memory: MemoryId, after: str, now: int) -> Iterator[Grain]:
        """See ``GrainReader``."""
        rows = table.query(partition(memory, "GRAIN"), Row.sk > after if after else None)
        grains = (entity_of(row) for row in rows if is_address(row.sk))
        return _unexpired((grain for grain in grains if isinstance(grain, Grain)), now)

    def due(self, memory: MemoryId, upto: int, limit: int) -> tuple[Due, ...]:
        """See ``LoopReader``."""
        earlier = Row.sk.between(keys.due_upto(0), keys.due_upto(upto) + keys.LAST)
        return tuple(entities(table.query(partition(memory, "INDEX"), earlier, limit=limit), Due))

    def due_present(self, memory: MemoryId, wanted: Iterable[Due]) -> frozenset[Due]:
        """See ``LoopReader``."""
        sorts = (keys.due(row.due_at, row.what, row.ref) for row in wanted)
        return frozenset(entities(self._many(partition(memory, "INDEX"), sorts), Due))

    # findings

    def finding_keys(self, memory: MemoryId, group: str) -> tuple[FindingKey, ...]:
        """See ``LoopReader``."""
        return self._loop(memory, keys.finding_group(group), FindingKey)

    def change_context(
        self, memory: MemoryId, rec: Recommendation, addresses: Iterable[str], now: int
    ) -> tuple[FindingKey | None, Mapping[str, Grain]]:
        """See ``LoopReader``."""
        key = self._loop_key(memory, keys.finding_key(rec.family, rec.group, rec.dedup_key))
        grain_keys = (Key(partition(memory, "GRAIN"), address) for address in addresses)
        found = [entity_of(row) for row in table.get_many((key, *grain_keys), self._pause)]
        grains = _unexpired((entity for entity in found if isinstance(entity, Grain)), now)
        finding = next((entity for entity in found if isinstance(entity, FindingKey)), None)
        return finding, {grain.address: grain for grain in grains}

    def finding_key(self, memory: MemoryId, family: str, group: str, dedup_key: str) -> FindingKey | None:
        """See ``LoopReader``."""
        return self._one(self._loop_key(memory, keys.finding_key(family, group, dedup_key)), FindingKey)

    def recommendations(self, memory: MemoryId, ids: Iterable[str]) -> Mapping[str, Recommendation]:
        """See ``LoopReader``."""
        rows = self._many(partition(memory, "LOOP"), (keys.recommendation(rec_id) for rec_id in ids))
        return {rec.id: rec for rec in entities(rows, Recommendation)}

    def recommendations_by_prefix(self, memory: MemoryId, prefix: str, limit: int) -> tuple[Recommendation, ...]:
        """See ``LoopReader``."""
        rows = table.query(partition(memory, "LOOP"), Row.sk.startswith(keys.recommendation(prefix)), limit=limit)
        return tuple(entities(rows, Recommendation))

    def count_recommendations(self, memory: MemoryId, prefix: str) -> int:
        """See ``LoopReader``."""
        return queue_index.count(memory, prefix)

    def all_recommendations(self, memory: MemoryId) -> Iterator[Recommendation]:
        """See ``LoopReader``."""
        rows = table.query(partition(memory, "LOOP"), Row.sk.startswith(keys.RECOMMENDATION_PREFIX))
        return entities(rows, Recommendation)

    def queue(self, memory: MemoryId, statuses: Sequence[Status], *, limit: int, cursor: str | None) -> QueuePage:
        """See ``LoopReader``."""
        return queue_index.page(memory, statuses, limit=limit, cursor=cursor)

    def undo(self, memory: MemoryId, recommendation: str) -> Undo | None:
        """See ``LoopReader``."""
        return self._one(self._loop_key(memory, keys.undo(recommendation)), Undo)

    def memory_config(self, memory: MemoryId) -> MemoryConfig:
        """See ``LoopReader``."""
        return self._one(Key(partition(memory, "HEAD"), keys.CONFIG), MemoryConfig) or MemoryConfig()

    def run(self, memory: MemoryId, run_id: str) -> Run | None:
        """See ``LoopReader``."""
        return self._one(self._loop_key(memory, keys.run(run_id)), Run)

    def replay(self, memory: MemoryId, key: str, now: int) -> Replay | None:
        """See ``LoopReader``."""
        row = table.get(Key(partition(memory, "REPLAY"), key))
        if row is None or is_expired(row, now):
            return None
        return as_entity(row, Replay)

    # writes

    def transact(self, memory: MemoryId, writes_: Sequence[Write], now: int, *, tries: int = MAX_TRIES) -> None:
        """See ``Store``."""
        writes.transact(memory, writes_, now, self._pause, tries)
        self._committed(memory, writes_)

    def create_memory(self, memory: MemoryId, record: MemoryRecord, key: bytes, told: Sequence[Write] = ()) -> bool:
        """See ``Store``."""
        return heads.create(memory, record, key, told, self._pause)

    def memories(self, tenant: str) -> tuple[MemoryRecord, ...]:
        """See ``Store``."""
        rows = table.query(keys.registry(tenant), Row.sk.startswith(keys.MEMORY_PREFIX))
        return tuple(entities(rows, MemoryRecord))

    def metered(self) -> AbstractContextManager[Usage]:
        """See ``Store``."""
        return table.metered()

    # reading

    def _many(self, pk: str, sorts: Iterable[str]) -> tuple[Row, ...]:
        return table.get_many((Key(pk, sort) for sort in sorts), self._pause)

    def _loop_key(self, memory: MemoryId, sort: str) -> Key:
        return Key(partition(memory, "LOOP"), sort)

    def _loop(self, memory: MemoryId, prefix: str, cls: type[T]) -> tuple[T, ...]:
        return tuple(entities(table.query(partition(memory, "LOOP"), Row.sk.startswith(prefix)), cls))

    def _one(self, key: Key, cls: type[T]) -> T | None:
        row = table.get(key)
        return None if row is None else as_entity(row, cls)


def _entry(row: Row) -> LogEntry:
    """A log entry; a damaged one is handed on as such, so that one bad entry cannot stop a memory."""
    try:
        return as_entity(row, LogEntry)
    except IntegrityError:
        return LogEntry(seq=keys.seq_of(row.sk), commit_id="", at=0, by="", unreadable=True)


def _unexpired(grains: Iterable[Grain], now: int) -> Iterator[Grain]:
    return (grain for grain in grains if grain.expires_at is None or grain.expires_at > now)

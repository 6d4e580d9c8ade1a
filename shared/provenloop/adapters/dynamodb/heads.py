"""The head items of a memory: the log's counters, the passes' watermarks, the timer.

``0#LOG`` is moved by every committer with one ADD and is never part of a transaction, so that writers do not collide
on it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pynamodb.expressions.condition import Condition
from pynamodb.expressions.condition import size as size_of
from pynamodb.expressions.update import Action

from provenloop.adapters.dynamodb import keys, table
from provenloop.adapters.dynamodb.items import entity_of, row_of
from provenloop.adapters.dynamodb.keys import Key, partition
from provenloop.adapters.dynamodb.rows import Row, number_of
from provenloop.adapters.dynamodb.writes import add_write
from provenloop.domain.commit import Heads, LogHead, PassHead, TimerHead
from provenloop.domain.errors import IntegrityError, InvalidInputError, TooLargeError
from provenloop.domain.memory_config import MemoryConfig
from provenloop.domain.names import MemoryId, tenant_itself
from provenloop.domain.records import MemoryRecord
from provenloop.services.ports import Reservation, Write

MAX_NAMESPACES = 100
LOG_TYPE = "log_head"


def read(memory: MemoryId) -> Heads | None:
    """All heads in one query; None when the memory does not exist."""
    return _heads_of(_rows(memory, Row.sk.startswith(keys.HEADS_PREFIX)))


def read_with_config(memory: MemoryId) -> tuple[Heads, MemoryConfig] | None:
    """All heads and the configuration in one query; None when the memory does not exist."""
    found = _rows(memory, Row.sk.between(keys.HEADS_PREFIX, keys.CONFIG))
    heads = _heads_of(found)
    config = entity_of(found[keys.CONFIG]) if keys.CONFIG in found else MemoryConfig()
    if not isinstance(config, MemoryConfig):
        raise IntegrityError("a head item is not what its key says")
    return None if heads is None else (heads, config)


def _rows(memory: MemoryId, chosen: Condition) -> Mapping[str, Row]:
    return {row.sk: row for row in table.query(partition(memory, "HEAD"), chosen)}


def _heads_of(found: Mapping[str, Row]) -> Heads | None:
    if keys.LOG_HEAD not in found:
        return None
    folds = entity_of(found[keys.PASS_HEAD])
    timer = entity_of(found[keys.TIMER_HEAD])
    if not isinstance(folds, PassHead) or not isinstance(timer, TimerHead):
        raise IntegrityError("a head item is not what its key says")
    return Heads(_log_head(found[keys.LOG_HEAD]), folds, timer)


def create(memory: MemoryId, record: MemoryRecord, key: bytes, told: Sequence[Write], pause: table.Pause) -> bool:
    """Make the heads and the registry row of a memory, and say so on the tenant; False when it is there already."""
    log = Row(
        partition(memory, "HEAD"),
        keys.LOG_HEAD,
        type=LOG_TYPE,
        seq=0,
        grains=0,
        errors=0,
        secret=key,
        created_at=record.created_at,
        reserved_at=record.created_at,
    )
    transaction = table.Transaction()
    absent = Row.sk.does_not_exist()
    for row in (log, row_of(memory, PassHead(rev=1)), row_of(memory, TimerHead(rev=1)), row_of(memory, record)):
        transaction.put(row, absent)
    for write in told:
        add_write(transaction, tenant_itself(memory.tenant), write, record.created_at)
    try:
        table.commit(transaction, pause)
    except table.RefusedError:
        return False
    return True


def reserve(memory: MemoryId, wanted: Reservation) -> LogHead | None:
    """Take the next number; None when the memory does not exist.

    Raises:
        InvalidInputError: the memory would have over 100 namespaces.
        TooLargeError: its lessons would be over the room they have.
    """
    row = Row(partition(memory, "HEAD"), keys.LOG_HEAD)
    room = _room_for(wanted, len(wanted.namespaces))
    if table.update(row, _reservation(memory, wanted, wanted.namespaces), room):
        return _log_head(row)
    return _reserve_among_known(memory, wanted)


def _reserve_among_known(memory: MemoryId, wanted: Reservation) -> LogHead | None:
    """The first try counted every namespace as new; count only those that really are."""
    stored = table.get(Key(partition(memory, "HEAD"), keys.LOG_HEAD))
    if stored is None:
        return None
    if wanted.lesson_room and (number_of(stored.lesson_bytes) or 0) + wanted.lesson_bytes > wanted.lesson_room:
        raise TooLargeError("the memory's lessons have reached max_lessons_bytes", field="detail")
    new = wanted.namespaces - frozenset(stored.namespaces or ())
    row = Row(partition(memory, "HEAD"), keys.LOG_HEAD)
    if table.update(row, _reservation(memory, wanted, new), _room_for(replace(wanted, namespaces=new), len(new))):
        return _log_head(row)
    raise InvalidInputError(f"a memory has at most {MAX_NAMESPACES} namespaces", field="events")


def give_back_lesson(memory: MemoryId, size: int) -> None:
    """Take back a lesson of so many bytes that was counted and not stored."""
    actions: list[Action] = [Row.lesson_bytes.add(-size), Row.lessons.add(-1)]
    table.update(Row(partition(memory, "HEAD"), keys.LOG_HEAD), actions, Row.seq.exists())


def _room_for(wanted: Reservation, count: int) -> Condition:
    """The memory exists, ``count`` more namespaces fit, and so does a line of the lesson stream."""
    condition: Condition = Row.seq.exists()
    if wanted.lesson_room:
        fits: Condition = Row.lesson_bytes <= wanted.lesson_room - wanted.lesson_bytes
        is_first = Row.lesson_bytes.does_not_exist()
        condition = condition & (is_first | fits if wanted.lesson_bytes <= wanted.lesson_room else fits)
    if wanted.namespaces:
        room: Condition = size_of(Row.namespaces) <= MAX_NAMESPACES - count  # type: ignore[no-untyped-call]
        condition = condition & (Row.namespaces.does_not_exist() | room)
    return condition


def _reservation(memory: MemoryId, wanted: Reservation, namespaces: frozenset[str]) -> list[Action]:
    actions: list[Action] = [
        Row.seq.add(1),
        Row.grains.add(wanted.grains),
        Row.errors.add(wanted.errors),
        Row.reserved_at.set(wanted.at),
        Row.wake.set(keys.wake_shard(memory)),
        Row.wake_at.set(Row.wake_at | wanted.wake_at),
    ]
    if wanted.lesson_bytes:
        actions += [Row.lesson_bytes.add(wanted.lesson_bytes), Row.lessons.add(1)]
    if namespaces:
        actions.append(Row.namespaces.add(set(namespaces)))
    return actions


def clear_wake(memory: MemoryId, seq: int) -> None:
    """Take the memory out of the wake index, unless more has been reserved since."""
    row = Row(partition(memory, "HEAD"), keys.LOG_HEAD)
    table.update(row, [Row.wake.remove(), Row.wake_at.remove()], (Row.seq == seq) & Row.wake.exists())


def _log_head(row: Row) -> LogHead:
    return LogHead(
        seq=int(row.seq),
        grains=int(row.grains),
        errors=int(row.errors),
        key=row.secret,
        created_at=int(row.created_at),
        reserved_at=int(row.reserved_at),
        namespaces=frozenset(row.namespaces or ()),
        wake_at=number_of(row.wake_at),
    )

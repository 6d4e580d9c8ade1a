"""Write values to conditional transactions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from provenloop.adapters.dynamodb import table
from provenloop.adapters.dynamodb.card_items import add_count
from provenloop.adapters.dynamodb.items import entity_of, key_of, row_of
from provenloop.adapters.dynamodb.rows import Row, number_of
from provenloop.domain.grain import Grain
from provenloop.domain.names import MemoryId
from provenloop.services.card_count import Count
from provenloop.services.ports import (
    MAX_TRIES,
    Erase,
    Failure,
    Put,
    Remove,
    Replace,
    Require,
    Restate,
    Wake,
    Write,
    WriteRefusedError,
)


def transact(memory: MemoryId, writes: Sequence[Write], now: int, pause: table.Pause, tries: int = MAX_TRIES) -> None:
    """Commit the writes as one transaction.

    Raises:
        WriteRefusedError: conditions did not hold; nothing was written.
        LoopError: a reason of the store.
    """
    transaction = table.Transaction()
    for write in writes:
        add_write(transaction, memory, write, now)
    commit_writes(transaction, writes, pause, tries)


def commit_writes(
    transaction: table.Transaction, writes: Sequence[Write], pause: table.Pause, tries: int = MAX_TRIES
) -> None:
    """Commit a transaction that begins with the writes; a refusal names those of them that failed.

    Raises:
        WriteRefusedError: conditions did not hold; nothing was written.
        LoopError: a reason of the store.
    """
    try:
        table.commit(transaction, pause, tries)
    except table.RefusedError as error:
        raise WriteRefusedError(
            [
                Failure(index, writes[index], entity_of(row) if row is not None else None)
                for index, row in error.failures
                if index < len(writes)
            ]
        ) from error


def _absent(now: int) -> Condition:
    """Nothing is stored there, or what is has expired: TTL deletes late, so expiry counts from its own time."""
    absent: Condition = Row.sk.does_not_exist() | (Row.ttl <= now // 1000)
    return absent


def add_write(transaction: table.Transaction, memory: MemoryId, write: Write, now: int) -> None:
    """Add one write with the condition it assumes."""
    if isinstance(write, Put):
        transaction.put(row_of(memory, write.entity), _absent(now))
    elif isinstance(write, Replace) and isinstance(write.entity, Grain):
        _add_grain_change(transaction, memory, write, write.entity)
    elif isinstance(write, Replace):
        transaction.put(row_of(memory, write.entity), Row.rev == write.expected)
    elif isinstance(write, Erase):
        transaction.put(row_of(memory, write.entity), Row.sk.exists())
    elif isinstance(write, Remove):
        transaction.delete(row_of(memory, write.entity), _unmoved(write))
    elif isinstance(write, Count):
        add_count(transaction, memory, write, row_of(memory, write.card))
    elif isinstance(write, Wake):
        _add_wake(transaction, memory, write)
    elif isinstance(write, Require):
        transaction.check(key_of(memory, write.entity), Row.rev == write.expected)
    else:
        _add_restatement(transaction, memory, write)


def _add_wake(transaction: table.Transaction, memory: MemoryId, write: Wake) -> None:
    """The revision is added to and never set, so that those who only move it do not refuse each other."""
    row = row_of(memory, write.entity)
    if write.is_earlier:
        actions: list[Action] = [
            Row.doc.set(row.doc),
            Row.wake.set(row.wake),
            Row.wake_at.set(row.wake_at),
            Row.rev.add(1),
        ]
        transaction.update(row, actions, Row.wake_at.does_not_exist() | (Row.wake_at > write.at))
    else:
        transaction.update(row, [Row.rev.add(1)], Row.wake_at <= write.at)


def _unmoved(write: Remove | Replace) -> Condition | None:
    """The revision and counter that must hold; a row that is written once needs neither."""
    condition: Condition | None = None
    if write.expected is not None:
        condition = Row.rev == write.expected
    if write.stated is not None:
        condition = (condition & (Row.stated == write.stated)) if condition is not None else Row.stated == write.stated
    return condition


def _add_grain_change(transaction: table.Transaction, memory: MemoryId, write: Replace, grain: Grain) -> None:
    """A grain's head moves without its counters, which others may be moving at the same time."""
    row = row_of(memory, grain)
    actions: list[Action] = [Row.doc.set(row.doc), Row.rev.set(row.rev), Row.version.set(row.version)]
    actions.append(Row.ttl.set(row.ttl) if number_of(row.ttl) is not None else Row.ttl.remove())
    # What is no applied lesson any more is no longer found among them.
    places: tuple[tuple[Any, str | None], ...] = ((Row.time_pk, row.time_pk), (Row.time_sk, row.time_sk))
    actions += [name.set(place) if place is not None else name.remove() for name, place in places]
    if write.restated:
        actions.append(Row.stated.add(write.restated))
    elif write.counters:
        actions.append(Row.stated.set(grain.stated))
    if write.restated or write.counters:
        actions += [Row.last_stated_at.set(grain.last_stated_at), Row.place.set(grain.place)]
    transaction.update(row, actions, _unmoved(write))


def _add_restatement(transaction: table.Transaction, memory: MemoryId, write: Restate) -> None:
    actions: list[Action] = [Row.stated.add(write.times), Row.last_stated_at.set(write.at), Row.place.set(write.place)]
    transaction.update(row_of(memory, write.grain), actions, Row.rev == write.expected)

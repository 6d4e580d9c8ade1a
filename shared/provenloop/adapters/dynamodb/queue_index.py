"""Listing recommendations in queue order from the index ``queue``, and counting those of an id prefix."""

from __future__ import annotations

import heapq
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from provenloop.adapters.dynamodb import keys
from provenloop.adapters.dynamodb.faults import translating
from provenloop.adapters.dynamodb.rows import Row
from provenloop.domain.cursor import cursor_at, place_of
from provenloop.domain.lifecycle import Status
from provenloop.domain.names import MemoryId
from provenloop.services.loop_port import QueuePage

#: A place in the order that ``keys.queue_order`` makes.
_PLACE = re.compile(r"[0-3]#[0-9]+#[a-z2-7]+")


def page(memory: MemoryId, statuses: Sequence[Status], *, limit: int, cursor: str | None) -> QueuePage:
    """The next ``limit`` rows of all the statuses together, in queue order, after the cursor.

    Each status is a partition of the index with the same order, so a merge needs no more than one page of each, and
    the last row's place is the whole cursor.
    """
    after = place_of(cursor, _PLACE)[0] if cursor is not None else " "
    streams = [_rows(memory, status, after, limit + 1) for status in statuses]
    merged = list(_first(heapq.merge(*streams, key=lambda row: row[0]), limit + 1))
    rows = tuple(row for _, row in merged[:limit])
    more = len(merged) > limit
    return QueuePage(rows, cursor_at(merged[limit - 1][0]) if more else None)


def _rows(memory: MemoryId, status: str, after: str, limit: int) -> Iterator[tuple[str, Mapping[str, Any]]]:
    found = iter(Row.queue.query(keys.queue_partition(memory, status), Row.queue_sk > after, limit=limit))
    while True:
        row = translating(lambda: next(found, None))
        if row is None:
            return
        yield row.queue_sk, json.loads(row.row)


def _first(rows: Iterator[tuple[str, Mapping[str, Any]]], limit: int) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for _, row in zip(range(limit), rows, strict=False):
        yield row


def count(memory: MemoryId, prefix: str) -> int:
    """How many recommendations have an id that starts with ``prefix``."""
    chosen = Row.sk.startswith(keys.recommendation(prefix))
    return translating(lambda: Row.count(keys.partition(memory, "LOOP"), chosen, consistent_read=True))

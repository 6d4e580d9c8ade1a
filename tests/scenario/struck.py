"""A client's request struck by one fault at one of its AWS calls, again and again from the same table.

What the table holds is compared as a whole with what a run without faults leaves. Numbers of the log that a failed try
used up move what is written later: so the run to compare with starts after as many lost numbers.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from provenloop.adapters.dynamodb import keys
from provenloop.adapters.dynamodb.items import entity_of
from provenloop.adapters.dynamodb.outbox import DynamoOutbox
from provenloop.adapters.dynamodb.rows import Row
from provenloop.adapters.dynamodb.store import DynamoStore
from provenloop.domain.audit import AuditEntry
from provenloop.domain.bus_events import event_of
from provenloop.domain.commit import LogEntry
from provenloop.domain.errors import LoopError
from provenloop.services.log_number import next_slot
from provenloop.services.ports import MAX_TRIES, Reservation
from provenloop.services.publish import LEFT_BEHIND_MS, Publisher
from tests.builders import Desk
from tests.faults import (
    Call,
    Crash,
    Fault,
    FaultLayer,
    Kind,
    RawItems,
    SavedTable,
    raw_items,
    single_faults,
    unobserved,
)
from tests.faults.tables import TABLE
from tests.scenario.bus import Bus
from tests.store_fixture import REGION, prepared

#: From the table, the id of what is decided, and an Idempotency-Key: the answer.
Deed = Callable[[Desk, str, str | None], dict[str, Any]]

KEY = "the-one-request"


#: What can go wrong with a read; whether it was done makes no difference.
_AT_READS = (Kind.CRASH_BEFORE, Kind.LOST_REPLY, Kind.THROTTLE, Kind.SERVER_ERROR)


def faults_of(calls: Sequence[Call]) -> Iterator[Fault]:
    """One fault of every kind at every call, and at every transaction others that keep holding an item of it."""
    for fault in single_faults(calls):
        if calls[fault.nth - 1].writes or fault.kind in _AT_READS:
            yield fault
    for call in calls:
        if call.operation == "TransactWriteItems":
            yield Fault(Kind.CONFLICT, call.n, times=MAX_TRIES)


@dataclass(frozen=True)
class Left:
    """What a request leaves in the table, and what it answers: None where the process died."""

    items: RawItems
    answer: dict[str, Any] | LoopError | None
    published: frozenset[str]

    @property
    def seq(self) -> int:
        """The last number of the log."""
        return next(int(item["seq"]["N"]) for key, item in self.items.items() if key[1] == keys.LOG_HEAD)

    @property
    def waiting(self) -> frozenset[str]:
        """The ids of the events in the outbox."""
        return self._outbox - self.callbacks

    @property
    def callbacks(self) -> frozenset[str]:
        """What workflows that wait are still to be told."""
        return frozenset(place for place in self._outbox if place.startswith("CALL#"))

    @property
    def _outbox(self) -> frozenset[str]:
        return frozenset(str(key[1]) for key in self.items if key[0].endswith("#OUTBOX"))


@dataclass
class Struck:
    """One deed on one prepared table, whose events are published right after it."""

    desk: Desk
    rec: str
    deed: Deed
    saved: SavedTable
    now: int
    bus: Bus = field(default_factory=Bus)
    _known: dict[tuple[int, str], Left] = field(default_factory=dict)
    _after: list[tuple[RawItems, str, Left]] = field(default_factory=list)

    @property
    def start(self) -> Left:
        """What is there before."""
        return Left(self.saved.items, None, frozenset())

    def calls(self) -> list[Call]:
        """The calls of a run without faults."""
        layer = FaultLayer(self.desk.client)
        try:
            calls = layer.count(self._request)
        finally:
            layer.remove()
        self.saved.restore()
        return calls

    def strike(self, fault: Fault) -> Left:
        """What a request leaves in which one fault strikes. The table is put back."""
        layer = FaultLayer(self.desk.client)
        try:
            with layer.faults(fault):
                left = self._left(self._request)
                assert layer.fired, fault
        finally:
            layer.remove()
        self.saved.restore(left.items)
        return left

    def clean(self, seq: int | None = None, key: str = KEY) -> Left:
        """What a request leaves in which nothing fails; so many numbers of the log were lost before that the last one
        is ``seq`` then.
        """
        lost = 0 if seq is None else seq - self.clean().seq
        if (lost, key) not in self._known:
            with unobserved():
                for _ in range(lost):
                    wanted = Reservation(0, 0, frozenset(), self.now, next_slot(self.now))
                    self.desk.store.reserve(self.desk.memory, wanted)
            left = self._known[lost, key] = self._left(lambda: self._request(key))
            self.saved.restore(left.items)
        return self._known[lost, key]

    def sent_again(self, first: Left, key: str) -> Left:
        """What the request leaves once it was sent again, to a new process, and a later tick has swept. As nothing but
        the table remembers, that is tried once for each table that is found.
        """
        for items, sent, left in self._after:
            if items == first.items and sent == key:
                return left
        SavedTable(self.desk.client, TABLE, first.items).restore(self.saved.items)
        left = self._left(lambda: self._request(key, sweeps=bool(first.waiting)))
        self._after.append((first.items, key, left))
        self.saved.restore(left.items)
        return left

    def entries(self, left: Left) -> frozenset[str]:
        """The ids of the audit entries that came since the start and have an event."""
        found = [
            entity_of(Row.from_raw_data(item))
            for key, item in left.items.items()
            if key not in self.saved.items and key[0].endswith("#AUDIT")
        ]
        return frozenset(entry.id for entry in found if isinstance(entry, AuditEntry) and event_of(entry) is not None)

    def _request(self, key: str = KEY, *, sweeps: bool = False) -> dict[str, Any] | LoopError:
        """A new process serves the request, at the same instant each time: what it answers, once it has published."""
        self.desk.now, self.desk.numbers = self.now, itertools.count(1000)
        self.bus = Bus()
        publisher = Publisher(lambda: self.desk.store, lambda: self.bus)
        self.desk.store = DynamoStore(TABLE, REGION, pause=lambda _attempt: None, committed=publisher.note)
        try:
            return self.deed(self.desk, self.rec, key)
        except LoopError as error:
            return error
        finally:
            publisher.flush(self.desk.now)
            if sweeps:
                outbox = DynamoOutbox(TABLE, REGION, pause=lambda _attempt: None)
                publisher.sweep(outbox, self.desk.now + 2 * LEFT_BEHIND_MS)

    def _left(self, request: Callable[[], dict[str, Any] | LoopError]) -> Left:
        try:
            answer: dict[str, Any] | LoopError | None = request()
        except Crash:
            answer = None
        return Left(raw_items(self.desk.client, TABLE), answer, frozenset(self.bus.ids))


def told(left: Left) -> RawItems:
    """The items without what a failed try may leave: the log's counter, empty entries, events not published yet, and
    in the index of terms the address of a grain that is forgotten.
    """
    return {
        key: item
        for key, item in left.items.items()
        if not key[0].endswith("#OUTBOX")
        and key[1] != keys.LOG_HEAD
        and not str(key[1]).startswith(keys.term(""))
        and not _is_given_back(key, item)
    }


def _is_given_back(key: tuple[Any, ...], item: dict[str, Any]) -> bool:
    """Whether an item is the empty entry of a number that was not used."""
    if not key[0].endswith("#LOG"):
        return False
    entry = entity_of(Row.from_raw_data(item))
    return isinstance(entry, LogEntry) and not entry.commit_id


def struck(store: DynamoStore, prepare: Callable[[Desk], str], deed: Deed) -> Struck:
    """A prepared memory whose earlier events are published, and what shall be done in it."""
    desk, rec = prepared(store, prepare)
    with unobserved():
        for key, item in raw_items(desk.client, TABLE).items():
            if key[0] == keys.partition(desk.memory, "OUTBOX"):
                desk.client.delete_item(TableName=TABLE, Key={"pk": item["pk"], "sk": item["sk"]})
    return Struck(desk, rec, deed, SavedTable(desk.client, TABLE), desk.now)

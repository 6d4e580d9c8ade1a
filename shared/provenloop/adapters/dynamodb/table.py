"""The table as the store uses it: strongly consistent reads with all pages, and conditional transactions.

Invariants: no scan; every page is followed; unprocessed keys are asked for again with a pause; a transaction that
collides with another one is tried five more times; a refused one tells which conditions failed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, ClassVar

from pynamodb.connection import Connection
from pynamodb.exceptions import TransactWriteError, UpdateError
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action
from pynamodb.transactions import TransactWrite

from provenloop.adapters.dynamodb.faults import failed_conditions, is_collision, is_condition_failure, translated
from provenloop.adapters.dynamodb.faults import translating as _translating
from provenloop.adapters.dynamodb.keys import Key
from provenloop.adapters.dynamodb.limits import LimitGuard
from provenloop.adapters.dynamodb.meter import Meter, Usage
from provenloop.adapters.dynamodb.rows import Row
from provenloop.adapters.dynamodb.units import IndexSpec
from provenloop.domain.errors import BusyError, TooLargeError, UnavailableError
from provenloop.services.ports import MAX_TRIES

INDEXES = (
    IndexSpec("queue", ("queue_pk", "queue_sk"), ("row",)),
    IndexSpec("due", ("wake", "wake_at")),
    IndexSpec("bytime", ("time_pk", "time_sk")),
)
BATCH_GET_KEYS = 100
MAX_TRANSACTION_ITEMS = 100

#: Waits before try number n (from 1); the composition root jitters, tests do not wait.
Pause = Callable[[int], None]


class RefusedError(Exception):
    """Conditions of a transaction did not hold: (index of the write, the row found there or None)."""

    def __init__(self, failures: Sequence[tuple[int, Row | None]]) -> None:
        super().__init__("conditions did not hold")
        self.failures = failures


class Transaction:
    """Collects writes in the caller's order and commits them at once."""

    def __init__(self) -> None:
        self._checks: list[tuple[int, Callable[[TransactWrite], None]]] = []
        self._deletes: list[tuple[int, Callable[[TransactWrite], None]]] = []
        self._puts: list[tuple[int, Callable[[TransactWrite], None]]] = []
        self._updates: list[tuple[int, Callable[[TransactWrite], None]]] = []
        self._count = 0

    def _next(self) -> int:
        self._count += 1
        return self._count - 1

    def put(self, row: Row, condition: Condition) -> None:
        """Write the whole item."""
        self._puts.append((self._next(), lambda tx: tx.save(row, condition, return_values="ALL_OLD")))

    def update(self, row: Row, actions: list[Action], condition: Condition | None) -> None:
        """Change some attributes."""
        self._updates.append((self._next(), lambda tx: tx.update(row, actions, condition, return_values="ALL_OLD")))

    def delete(self, row: Row, condition: Condition | None) -> None:
        """Remove the item."""
        self._deletes.append((self._next(), lambda tx: tx.delete(row, condition)))

    def check(self, key: Key, condition: Condition) -> None:
        """Insist on a condition of an item that is not written."""
        self._checks.append((self._next(), lambda tx: tx.condition_check(Row, key.pk, key.sk, condition)))

    def commit(self) -> None:
        """Send it.

        Raises:
            RefusedError: conditions did not hold.
            PynamoDBException: any other reason.
        """
        if self._count > MAX_TRANSACTION_ITEMS:
            raise TooLargeError(f"a transaction holds at most {MAX_TRANSACTION_ITEMS} writes")
        # The order in which pynamodb sends a transaction, and so the order of the reasons for its refusal.
        ordered = [*self._checks, *self._deletes, *self._puts, *self._updates]
        try:
            with TransactWrite(connection=connection()) as transaction:
                for _, add in ordered:
                    add(transaction)
        except TransactWriteError as error:
            failures = failed_conditions(error)
            if not failures:
                raise
            raise RefusedError(
                [
                    (ordered[place][0], Row.from_raw_data(reason.raw_item) if reason.raw_item else None)
                    for place, reason in failures
                ]
            ) from error


def connection() -> Connection:
    """The one connection of the process; its client is where tests and the meter listen."""
    return Row._get_connection().connection  # noqa: SLF001  (pynamodb offers no public way)


def bind(table_name: str, region: str | None) -> None:
    """Point the process at one table. A process serves one table at a time."""
    Row.Meta.table_name = table_name
    Row.Meta.region = region
    Row.Meta.connect_timeout_seconds = 3  # type: ignore[attr-defined]
    Row.Meta.read_timeout_seconds = 8  # type: ignore[attr-defined]
    _Instruments.on(connection().client)


@dataclass
class _Instruments:
    """What listens on the process's one client: the meter, and the guard of limits that emulators do not check."""

    client: object
    meter: Meter
    guard: LimitGuard
    current: ClassVar[_Instruments | None] = None

    @classmethod
    def on(cls, client: object) -> _Instruments:
        """The instruments of this client, put on it once."""
        if cls.current is None or cls.current.client is not client:
            meter = Meter(client, indexes=INDEXES)
            cls.current = cls(client, meter, LimitGuard(client, shapes=meter.shapes))
        return cls.current


def metered() -> AbstractContextManager[Usage]:
    """Measures what the calls inside use."""
    return _Instruments.on(connection().client).meter.measure()


def get(key: Key) -> Row | None:
    """One item, strongly consistent."""

    def read() -> Row | None:
        try:
            return Row.get(key.pk, key.sk, consistent_read=True)
        except Row.DoesNotExist:
            return None

    return _translating(read)


def get_many(keys: Iterable[Key], pause: Pause) -> tuple[Row, ...]:
    """Those of the items that are there, strongly consistent, in no particular order.

    Raises:
        UnavailableError: the store kept leaving keys unanswered.
    """
    wanted: list[Any] = [{"pk": key.pk, "sk": key.sk} for key in dict.fromkeys(keys)]
    found: list[Row] = []
    tries = 0
    while wanted:
        page, rest = wanted[:BATCH_GET_KEYS], wanted[BATCH_GET_KEYS:]
        items, left = _translating(lambda page=page: Row._batch_get_page(page, True, None))  # type: ignore[misc,no-untyped-call]  # noqa: FBT003, SLF001
        found.extend(Row.from_raw_data(item) for item in items or ())
        unanswered = [{"pk": key["pk"]["S"], "sk": key["sk"]["S"]} for key in left or []]
        tries = tries + 1 if unanswered else 0
        if tries >= MAX_TRIES:
            raise UnavailableError("the store answers only in part; try again")
        if unanswered:
            pause(tries)
        wanted = unanswered + rest
    return tuple(found)


def query(
    pk: str, condition: Condition | None = None, *, forward: bool = True, limit: int | None = None
) -> Iterator[Row]:
    """Items of one partition in key order, strongly consistent, all pages (or the first ``limit`` items)."""
    rows = iter(Row.query(pk, condition, consistent_read=True, scan_index_forward=forward, limit=limit))
    while True:
        row = _translating(lambda: next(rows, None))
        if row is None:
            return
        yield row


def update(row: Row, actions: list[Action], condition: Condition) -> bool:
    """Change one item; ``row`` then holds its new attributes. False when the condition did not hold."""
    try:
        row.update(actions, condition)
    except UpdateError as error:
        if is_condition_failure(error):
            return False
        raise translated(error) from error
    return True


def commit(transaction: Transaction, pause: Pause, tries: int = MAX_TRIES) -> None:
    """Commit, sent at most ``tries`` times where another transaction holds an item.

    Raises:
        RefusedError: conditions did not hold.
        LoopError: BusyError after the last try, or another reason of the store.
    """
    for attempt in range(1, tries + 1):
        try:
            return transaction.commit()
        except TransactWriteError as error:
            if not is_collision(error):
                raise translated(error) from error
        if attempt < tries:
            pause(attempt)
    raise BusyError("other writers keep changing the same items; try again")

"""Two or three who decide about one finding at once: in whatever order their AWS calls come, it is as if they had come
one after the other, and who comes too late is told so.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import settings

from provenloop.adapters.dynamodb import keys
from provenloop.adapters.dynamodb.items import entity_of
from provenloop.adapters.dynamodb.rows import Row
from provenloop.adapters.dynamodb.store import DynamoStore
from provenloop.domain.audit import AuditEntry
from provenloop.domain.errors import ConflictError, IllegalTransitionError
from provenloop.services.log_number import next_slot
from provenloop.services.ports import Reservation
from tests.builders import Desk
from tests.faults import Call, Outcome, SavedTable, assert_unchanged, raw_items, unobserved
from tests.faults.orders import Order, Ordered, commute, every_order
from tests.faults.tables import TABLE
from tests.scenario.struck import Left, told
from tests.scenario.test_every_fault import applied, approved, merged, pending, snoozed
from tests.store_fixture import prepared

Deed = Callable[[Desk, str, str | None], dict[str, Any]]

APPROVE: Deed = lambda desk, rec, key: desk.approve(rec, key=key)  # noqa: E731
REJECT: Deed = lambda desk, rec, key: desk.reject(rec, key=key)  # noqa: E731
APPLY: Deed = lambda desk, rec, key: desk.apply(rec, key=key)  # noqa: E731
BOTH: Deed = lambda desk, rec, key: desk.approve_and_apply(rec, key=key)  # noqa: E731
ROLL_BACK: Deed = lambda desk, rec, key: desk.roll_back(rec, key=key)  # noqa: E731
SNOOZE: Deed = snoozed

TOO_LATE = (ConflictError, IllegalTransitionError)


def make_no_difference(one: Call, other: Call) -> bool:
    """Whether the order of two calls does not matter. Whose number of the log is the lower one does not, either."""
    return one.operation == other.operation == "UpdateItem" or commute(one, other)


@dataclass
class Meeting:
    """Several who each do one thing about one finding, from a table that is put back each time."""

    desk: Desk
    rec: str
    deeds: Sequence[Deed]
    saved: SavedTable
    now: int
    runs: list[dict[str, Outcome]] = field(default_factory=list)
    _serial: dict[tuple[Order, int], Left] = field(default_factory=dict)

    def run(self, order: Order) -> Ordered:
        """Everybody at once, beginning in this order."""
        self.saved.restore()
        race = Ordered(self.desk.client, order=order, commuting=make_no_difference)
        for n in range(len(self.deeds)):
            race.actor(str(n), lambda n=n: self._do(n))  # type: ignore[misc]
        try:
            self.runs.append(race.run())
        finally:
            race.remove()
        return race

    def serial(self, order: Order, lost: int) -> Left:
        """What is left when these come one after the other, once so many numbers of the log were lost."""
        if (order, lost) not in self._serial:
            self.saved.restore()
            with unobserved():
                for _ in range(lost):
                    wanted = Reservation(0, 0, frozenset(), self.now, next_slot(self.now))
                    self.desk.store.reserve(self.desk.memory, wanted)
            for name in order.names:
                self._do(int(name))
            self._serial[order, lost] = self.left()
        return self._serial[order, lost]

    def left(self) -> Left:
        """The table as it is."""
        return Left(raw_items(self.desk.client, TABLE), None, frozenset())

    def _do(self, n: int) -> dict[str, Any]:
        self.desk.now, self.desk.numbers = self.now + n, itertools.count(1000 + n)
        return self.deeds[n](self.desk, self.rec, f"key {n}")


def meeting(store: DynamoStore, prepare: Callable[[Desk], str], *deeds: Deed) -> Meeting:
    desk, rec = prepared(store, prepare)
    return Meeting(desk, rec, deeds, SavedTable(desk.client, TABLE), desk.now)


def winners(met: Meeting, left: Left) -> Order:
    """Who has decided, in turn."""
    rows = (entity_of(Row.from_raw_data(item)) for key, item in left.items.items() if key[0].endswith("#AUDIT"))
    place = {entry.id: entry.n for entry in rows if isinstance(entry, AuditEntry)}
    done = {name: outcome.value for name, outcome in met.runs[-1].items() if outcome.state == "done"}
    return Order(tuple(sorted(done, key=lambda name: place[done[name]["audit"]])))


def lost_before(met: Meeting, won: Order) -> int:
    """How many numbers of the log were taken, and given back, before that of the one who changed the memory."""
    seqs = [met.runs[-1][name].value["seq"] for name in won.names if "seq" in met.runs[-1][name].value]
    return seqs[0] - Left(met.saved.items, None, frozenset()).seq - 1 if seqs else 0


def require_as_if_in_turn(met: Meeting, order: tuple[str, ...]) -> Order:
    """Who won, in turn: the table is as if only they had come; everybody else was told that it was too late."""
    left = met.left()
    won = winners(met, left)
    for outcome in met.runs[-1].values():
        assert outcome.state == "done" or type(outcome.error) in TOO_LATE, order
    assert_unchanged(told(met.serial(won, lost_before(met, won))), told(left))
    log = keys.partition(met.desk.memory, "LOG")
    assert sorted(key[1] for key in left.items if key[0] == log) == [keys.log_entry(n + 1) for n in range(left.seq)]
    return won


def tried(met: Meeting) -> Iterator[tuple[str, ...]]:
    """All orders of two; of three half as many as the profile of hypothesis has examples: in the nightly one all."""
    most = None if len(met.deeds) == 2 else settings().max_examples // 2
    return itertools.islice(every_order(met.run), most)


ONE_WINS: dict[str, tuple[Any, ...]] = {
    "two approve": (pending, APPROVE, APPROVE),
    "three approve": (pending, APPROVE, APPROVE, APPROVE),
    "two reject": (pending, REJECT, REJECT),
    "two apply": (approved, APPLY, APPLY),
    "three apply": (approved, APPLY, APPLY, APPLY),
    "one applies and one withdraws": (approved, APPLY, REJECT),
    "two approve and apply": (pending, BOTH, BOTH),
    "two roll back": (applied, ROLL_BACK, ROLL_BACK),
    "two roll back a merge": (merged, ROLL_BACK, ROLL_BACK),
    "three roll back": (applied, ROLL_BACK, ROLL_BACK, ROLL_BACK),
}


@pytest.mark.parametrize("name", ONE_WINS)
def test_in_every_order_of_their_calls_exactly_one_wins(store: DynamoStore, name: str) -> None:
    met = meeting(store, *ONE_WINS[name])
    won = {require_as_if_in_turn(met, order).names for order in tried(met)}
    everybody = {(str(n),) for n in range(len(met.deeds))}
    assert won == everybody if len(met.deeds) == 2 else set() < won <= everybody


def test_decisions_that_may_follow_each_other_take_turns_in_every_order_of_their_calls(store: DynamoStore) -> None:
    met = meeting(store, pending, SNOOZE, APPROVE, REJECT)
    won = {require_as_if_in_turn(met, order).names for order in tried(met)}
    assert set() < won <= {("0",), ("1",), ("2",), ("0", "1"), ("0", "2"), ("1", "2"), ("0", "1", "2")}

"""Whatever fails at whichever call with which a pass measures or applies by policy: that is done or not, and once."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pytest

from provenloop.adapters.dynamodb.items import entity_of
from provenloop.adapters.dynamodb.rows import Row
from provenloop.adapters.dynamodb.store import DynamoStore
from provenloop.domain.audit import AuditEntry
from provenloop.domain.bus_events import event_of
from provenloop.domain.checkpoint import Checkpoint, Regression, Watch
from provenloop.domain.errors import UnavailableError
from provenloop.domain.grain import Grain
from provenloop.domain.policy import Grant, Policy
from provenloop.domain.recommendation import FindingKey, Recommendation
from provenloop.domain.records import Undo
from tests.builders import DAY_MS, MINUTE_MS, Desk, make_fact
from tests.faults import Call, Crash, Fault, FaultLayer, RawItems, SavedTable, raw_items
from tests.faults.tables import TABLE
from tests.scenario.struck import faults_of
from tests.store_fixture import prepared

GRANTED = Policy(auto_apply_enabled=True, auto_apply=(Grant("loop.duplicate_sweep", ("memory",), "low"),))


def due_tomorrow(desk: Desk) -> None:
    """A contradiction was resolved, has come up again, and the first horizon has passed."""
    desk.record(make_fact("Berlin"), make_fact("Tokyo"))
    desk.run()
    desk.approve_and_apply(desk.finding("contradiction_sweep"))
    began = desk.now
    desk.now = began + 60 * MINUTE_MS
    desk.record(make_fact("Rome"))
    desk.run()
    desk.now = began + DAY_MS + 120 * MINUTE_MS


def spelled_twice(desk: Desk) -> None:
    """One fact in two spellings, which the policy lets a pass merge."""
    desk.record(make_fact("tea", relation="likes", tags=("a",)))
    desk.record(make_fact("Tea", relation="likes", tags=("b",)))


@dataclass
class Stretch:
    """A pass over a table that is put back each time, and of its calls those that lead up to one transaction."""

    desk: Desk
    saved: SavedTable
    now: int
    calls: list[Call]
    first: int
    last: int

    def decided(self, clean: RawItems) -> list[Any]:
        """The keys that the transaction changes and no other one of the pass; ``clean`` is what a whole pass leaves.

        Without those that hold its number of the log, which is another one where the first was lost.
        """
        others = {key for call in self.calls if call.writes and call.n != self.last for key in call.keys}
        changed = [key for key in self.calls[self.last - 1].keys if clean.get(key) != self.saved.items.get(key)]
        numbers = [key[1].removeprefix("L#") for key in changed if key[0].endswith("#LOG")]
        return [key for key in changed if key not in others and not any(number in key[1] for number in numbers)]

    def pass_(self, fault: Fault | None = None) -> RawItems:
        """What a pass from the start leaves, under a fault."""
        self.saved.restore()
        self.desk.now, self.desk.numbers = self.now, itertools.count(1000)
        layer = FaultLayer(self.desk.client)
        try:
            with layer.faults(*([fault] if fault else [])), suppress(Crash, UnavailableError):
                self.desk.run()
            assert layer.fired or fault is None, fault
        finally:
            layer.remove()
        return raw_items(self.desk.client, TABLE)

    def settled(self) -> dict[str, list[Any]]:
        """What is seen once the lease has run out and a pass has caught up."""
        self.desk.now = self.now + 20 * MINUTE_MS
        self.desk.run()
        return seen(raw_items(self.desk.client, TABLE))


def stretch(store: DynamoStore, prepare: Callable[[Desk], None], decides: str) -> Stretch:
    """The calls up to the transaction that writes a key which holds ``decides``, since the transaction before."""
    desk, _ = prepared(store, prepare)
    desk.policy = GRANTED
    saved, now = SavedTable(desk.client, TABLE), desk.now
    layer = FaultLayer(desk.client)
    try:
        calls = layer.count(desk.run)
    finally:
        layer.remove()
    transactions = [call for call in calls if call.operation == "TransactWriteItems"]
    place = next(place for place, call in enumerate(transactions) if any(decides in key[1] for key in call.keys))
    first, last = transactions[place - 1].n + 1, transactions[place].n
    return Stretch(desk, saved, now, calls, first, last)


def seen(items: RawItems) -> dict[str, list[Any]]:
    """Everything that must not depend on faults, in terms of what people see."""
    found = [entity_of(Row.from_raw_data(item)) for key, item in items.items() if key[0].endswith(("#LOOP", "#GRAIN"))]
    return {
        "recommendations": sorted((r.id, r.status, r.held_back or "", r.chain.n) for r in _of(found, Recommendation)),
        "keys": sorted((k.dedup_key, k.strikes, k.open_id or "", k.last_status or "") for k in _of(found, FindingKey)),
        "checkpoints": sorted(
            (c.recommendation, c.horizon_ms, c.verdict or "", *c.whole) for c in _of(found, Checkpoint)
        ),
        "regressions": sorted(r.recommendation for r in _of(found, Regression)),
        "watches": sorted(w.recommendation for w in _of(found, Watch)),
        "inverses": sorted((u.recommendation, len(u.images)) for u in _of(found, Undo)),
        "grains": sorted((g.address, g.state, g.stated, str(g.body)) for g in _of(found, Grain)),
        "audit": sorted(key[1] for key in items if key[0].endswith("#AUDIT")),
    }


def _of(found: list[Any], cls: type[Any]) -> list[Any]:
    return [entity for entity in found if isinstance(entity, cls)]


def require_events(items: RawItems, fault: Fault) -> None:
    """Each audit entry has its event in the outbox, which nobody has emptied."""
    entries = [entity_of(Row.from_raw_data(item)) for key, item in items.items() if key[0].endswith("#AUDIT")]
    expected = {entry.id for entry in entries if isinstance(entry, AuditEntry) and event_of(entry) is not None}
    assert expected == {key[1] for key in items if key[0].endswith("#OUTBOX")}, fault


@pytest.mark.parametrize(
    ("prepare", "decides"),
    [(due_tomorrow, "CHK#"), (spelled_twice, "UNDO#")],
    ids=["measuring", "applying by policy"],
)
def test_a_fault_at_any_call_leaves_it_done_or_not_done_and_the_next_pass_does_it_once(
    store: DynamoStore, prepare: Callable[[Desk], None], decides: str
) -> None:
    made = stretch(store, prepare, decides)
    decided = made.decided(made.pass_())
    assert len(decided) > 1
    expected = made.settled()
    faults = [fault for fault in faults_of(made.calls) if made.first <= fault.nth <= made.last]
    assert {fault.nth for fault in faults} == set(range(made.first, made.last + 1))
    for fault in faults:
        left = made.pass_(fault)
        moved = {left.get(key) != made.saved.items.get(key) for key in decided}
        assert len(moved) == 1, fault
        require_events(left, fault)
        assert made.settled() == expected, fault
    made.desk.verify()

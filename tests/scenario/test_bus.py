"""Events: written with their audit entry, published at least once whatever fails, and never failing a decision."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from provenloop.adapters.dynamodb import keys, table
from provenloop.adapters.dynamodb.items import entity_of
from provenloop.adapters.dynamodb.outbox import DynamoOutbox
from provenloop.adapters.dynamodb.store import DynamoStore
from provenloop.domain.bus_events import BusEvent, event_of
from provenloop.domain.errors import LoopError
from provenloop.services.publish import LEFT_BEHIND_MS, SWEPT_AT_ONCE, Published, Publisher
from tests.builders import DAY_MS, MEMORY, Desk, make_tool_call
from tests.faults import Fault, FaultLayer, Kind, unobserved
from tests.faults.tables import TABLE
from tests.scenario.bus import Bus
from tests.store_fixture import REGION, first_pass, prepared

HOUR_MS = 3_600_000


@dataclass
class Office:
    """A desk whose transactions are published."""

    desk: Desk
    bus: Bus
    publisher: Publisher

    def flush(self) -> Published:
        return self.publisher.flush(self.desk.now)

    def sweep(self, *, later: int = 2 * LEFT_BEHIND_MS) -> Published:
        self.desk.now += later
        return self.publisher.sweep(DynamoOutbox(TABLE, REGION, pause=lambda _: None), self.desk.now)


def rows(desk: Desk) -> list[BusEvent]:
    """What is in the outbox."""
    with unobserved():
        found = [entity_of(row) for row in table.query(keys.partition(desk.memory, "OUTBOX"))]
    return [event for event in found if isinstance(event, BusEvent)]


def expected(desk: Desk) -> set[str]:
    """The ids of every event that the audit trail says there must be."""
    with unobserved():
        return {entry.id for entry in desk.store.audit_entries(desk.memory) if event_of(entry) is not None}


@pytest.fixture
def office(store: DynamoStore) -> Office:
    desk, _ = prepared(store, first_pass)
    bus = Bus()
    publisher = Publisher(lambda: desk.store, lambda: bus)
    desk.store = DynamoStore(TABLE, REGION, pause=lambda _attempt: None, committed=publisher.note)
    return Office(desk, bus, publisher)


def test_a_pass_and_each_decision_leave_one_event_an_entry_in_their_own_transaction(office: Office) -> None:
    desk = office.desk
    assert {event.kind for event in rows(desk)} == {"RecommendationProposed"}
    lesson, clash = desk.finding("tool_failure"), desk.finding("contradiction_sweep")
    desk.reject(lesson)
    desk.approve_and_apply(clash)
    desk.roll_back(clash)
    assert {event.id for event in rows(desk)} == expected(desk)
    steps = sorted((event.detail["recommendation"], event.detail["n"], event.kind) for event in rows(desk))
    assert steps == sorted(
        [
            (lesson, 1, "RecommendationProposed"),
            (lesson, 2, "RecommendationDecided"),
            (clash, 1, "RecommendationProposed"),
            (clash, 2, "RecommendationDecided"),
            (clash, 3, "ChangeApplied"),
            (clash, 4, "ChangeRolledBack"),
        ]
    )
    assert {event.detail["severity"] for event in rows(desk)} <= {"low", "medium", "high"}


def test_a_checkpoint_and_its_correction_leave_one_event_each_in_the_transaction_of_the_verdict(office: Office) -> None:
    desk = office.desk
    lesson = desk.finding("tool_failure")
    desk.approve_and_apply(lesson)
    began = desk.now
    desk.record(make_tool_call("ok"))
    desk.run(at=began + 2 * DAY_MS)
    desk.record(make_tool_call("late", occurred_at=began + HOUR_MS), make_tool_call("now"))
    desk.run()
    desk.record(make_tool_call("bad", error="card declined", occurred_at=began + HOUR_MS))
    desk.run()
    told = sorted((event for event in rows(desk) if event.kind == "OutcomeMeasured"), key=lambda event: event.at)
    names = ("recommendation", "from", "status", "verdict", "errors", "calls", "late_errors", "late_calls")
    assert [tuple(event.detail[name] for name in names) for event in told] == [
        (lesson, "applied", "applied", "held", 0, 1, 0, 0),
        (lesson, "applied", "applied", "regressed", 0, 1, 1, 2),
    ]
    assert {event.id for event in rows(desk)} == expected(desk)
    desk.verify()


def test_a_refused_decision_leaves_no_event(office: Office) -> None:
    before = rows(office.desk)
    with pytest.raises(LoopError):
        office.desk.apply(office.desk.finding("contradiction_sweep"))
    assert rows(office.desk) == before
    assert office.flush() == Published(0, 0)


def test_what_was_committed_is_published_in_order_right_after_and_leaves_the_outbox(office: Office) -> None:
    left_by_the_pass = {event.id for event in rows(office.desk)}
    rec = office.desk.finding("contradiction_sweep")
    office.desk.approve(rec)
    office.desk.apply(rec)
    assert office.flush() == Published(2, 0)
    assert [event.kind for event in office.bus.taken] == ["RecommendationDecided", "ChangeApplied"]
    assert {event.id for event in rows(office.desk)} == left_by_the_pass
    assert office.flush() == Published(0, 0)


def test_a_sweep_publishes_what_was_left_behind_oldest_first_and_leaves_what_is_young(office: Office) -> None:
    assert office.sweep(later=0) == Published(0, 0)
    assert office.sweep(later=LEFT_BEHIND_MS + 1) == Published(2, 0)
    assert rows(office.desk) == []
    assert [event.at for event in office.bus.taken] == sorted(event.at for event in office.bus.taken)
    assert office.sweep() == Published(0, 0)


def test_a_bus_that_is_down_fails_no_decision_and_loses_nothing(office: Office) -> None:
    office.bus.is_up = False
    answer = office.desk.approve(office.desk.finding("contradiction_sweep"))
    assert answer["status"] == "approved"
    assert office.flush() == Published(0, 1)
    assert office.sweep() == Published(0, 3)
    assert len(rows(office.desk)) == 3
    office.bus.is_up = True
    assert office.sweep() == Published(3, 0)
    assert set(office.bus.ids) == expected(office.desk)


def test_an_event_that_the_bus_refuses_holds_up_no_other(office: Office) -> None:
    [first, second] = sorted(rows(office.desk), key=lambda event: event.id)
    office.bus.refused = {first.id}
    assert office.sweep() == Published(1, 1)
    assert [event.id for event in rows(office.desk)] == [first.id]
    assert office.bus.ids == [second.id]


def test_a_damaged_row_holds_up_no_other(office: Office) -> None:
    [first, second] = rows(office.desk)
    office.desk.client.update_item(
        TableName=TABLE,
        Key={"pk": {"S": keys.partition(MEMORY, "OUTBOX")}, "sk": {"S": first.id}},
        UpdateExpression="SET doc = :v",
        ExpressionAttributeValues={":v": {"B": b"{"}},
    )
    assert office.sweep() == Published(1, 0)
    assert office.bus.ids == [second.id]


def test_a_sweep_is_bounded_and_the_next_goes_on_with_the_oldest(office: Office) -> None:
    many = [BusEvent(f"{n:064d}", "ChangeApplied", office.desk.now + n) for n in range(SWEPT_AT_ONCE)]
    office.desk.plant(*many)
    office.desk.now += SWEPT_AT_ONCE
    assert office.sweep().sent == SWEPT_AT_ONCE
    assert [event.id for event in rows(office.desk)] == [event.id for event in many[-2:]]
    assert office.sweep() == Published(2, 0)


def test_two_who_publish_the_same_event_publish_it_twice_and_remove_it_once(office: Office) -> None:
    desk = office.desk
    desk.approve(desk.finding("contradiction_sweep"))
    office.sweep()
    assert office.flush() == Published(1, 0)
    assert len(office.bus.ids) == len(set(office.bus.ids)) + 1
    assert set(office.bus.ids) == expected(desk)
    assert rows(desk) == []


@pytest.mark.parametrize("kind", [Kind.CRASH_BEFORE, Kind.CRASH_AFTER, Kind.LOST_REPLY, Kind.THROTTLE])
@pytest.mark.parametrize("nth", [1, 4, 8, 9, 10, 11])
def test_no_fault_at_any_call_of_a_sweep_loses_an_event(office: Office, kind: Kind, nth: int) -> None:
    def work() -> object:
        try:
            return office.sweep()
        except LoopError as error:
            return error

    layer = FaultLayer(office.desk.client)
    try:
        layer.survives(work, Fault(kind, nth))
    finally:
        layer.remove()
    office.sweep()
    assert set(office.bus.ids) == expected(office.desk)
    assert rows(office.desk) == []

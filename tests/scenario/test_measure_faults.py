"""A checkpoint is measured exactly once, and a revert carried out exactly once, whatever fails at whichever call."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from provenloop.adapters.dynamodb import keys, table
from provenloop.adapters.dynamodb.items import entity_of
from provenloop.adapters.dynamodb.store import DynamoStore
from provenloop.domain.bus_events import BusEvent
from provenloop.domain.checkpoint import Checkpoint, Regression, Watch
from provenloop.domain.errors import BusyError, ConflictError, UnavailableError
from provenloop.domain.recommendation import FindingKey
from tests.builders import DAY_MS, MINUTE_MS, Desk, make_calls, make_fact
from tests.faults import Crash, Fault, FaultLayer, Kind, unobserved
from tests.faults.tables import TABLE
from tests.store_fixture import first_pass, prepared

HOUR_MS = 3_600_000
WRITING = (Kind.CRASH_BEFORE, Kind.CRASH_AFTER, Kind.LOST_REPLY)


def due_tomorrow(desk: Desk) -> int:
    """A lesson and a resolution were applied, both came to nothing, and the first horizon has passed."""
    first_pass(desk)
    for family in ("tool_failure", "contradiction_sweep"):
        desk.approve_and_apply(desk.finding(family))
    began = desk.now
    desk.now = began + HOUR_MS
    desk.record(*make_calls(2, 1, name="again"), make_fact("Rome"))
    desk.run()
    desk.now = began + DAY_MS + 2 * HOUR_MS
    return began


def proposed(desk: Desk) -> int:
    """As above, and measured: both changes are proposed for undoing."""
    began = due_tomorrow(desk)
    desk.run()
    return began


def seen(desk: Desk) -> dict[str, Any]:
    """Everything that must not depend on faults."""
    with unobserved():
        rows = [entity_of(row) for row in table.query(keys.partition(desk.memory, "LOOP"))]
        recs = sorted(desk.store.all_recommendations(desk.memory), key=lambda rec: rec.id)
        waiting = [entity_of(row) for row in table.query(keys.partition(desk.memory, "OUTBOX"))]
    return {
        "checkpoints": sorted(
            (c.recommendation, c.horizon_ms, c.verdict, *c.whole, c.rev) for c in rows if isinstance(c, Checkpoint)
        ),
        "told": sorted((e.detail["recommendation"], e.detail["n"], e.kind) for e in waiting if isinstance(e, BusEvent)),
        "watches": sorted((w.recommendation, str(w.calls), str(w.errors)) for w in rows if isinstance(w, Watch)),
        "regressions": sorted(r.recommendation for r in rows if isinstance(r, Regression)),
        "keys": sorted((k.dedup_key, k.strikes, k.open_id or "") for k in rows if isinstance(k, FindingKey)),
        "recommendations": [(rec.id, rec.status, rec.chain.n) for rec in recs],
        "grains": sorted((grain.address, grain.state, grain.stated) for grain in desk.grains().values()),
    }


def settled(desk: Desk) -> dict[str, Any]:
    """What is seen once the lease has run out and a pass has caught up."""
    desk.now += 20 * MINUTE_MS
    desk.run()
    return seen(desk)


@dataclass
class Bench:
    """A memory that can be put back to where it began."""

    desk: Desk
    start: list[Any]
    now: int

    def again(self) -> Desk:
        """The memory as it was at the start."""
        client = self.desk.client
        with unobserved():
            items = client.scan(TableName=TABLE)["Items"]
            wanted = [{"PutRequest": {"Item": item}} for item in self.start if item not in items]
            known = {_key(item) for item in self.start}
            strange = [{"DeleteRequest": {"Key": _only_key(item)}} for item in items if _key(item) not in known]
            for start in range(0, len(requests := [*strange, *wanted]), 25):
                client.batch_write_item(RequestItems={TABLE: requests[start : start + 25]})
        self.desk.now, self.desk.numbers = self.now, itertools.count(100)
        return self.desk


def _only_key(item: Any) -> Any:
    return {name: item[name] for name in ("pk", "sk")}


def _key(item: Any) -> tuple[str, str]:
    return item["pk"]["S"], item["sk"]["S"]


def bench(store: DynamoStore, prepare: Callable[[Desk], int]) -> Bench:
    desk, _ = prepared(store, prepare)
    return Bench(desk, desk.client.scan(TableName=TABLE)["Items"], desk.now)


def calls_of(made: Bench, work: Callable[[], object]) -> list[str]:
    """The operations of the calls that a piece of work makes, in order."""
    made.again()
    layer = FaultLayer(made.desk.client)
    try:
        return [call.operation for call in layer.count(work)]
    finally:
        layer.remove()


def plans(operations: list[str]) -> list[tuple[int, Kind]]:
    """Every write with everything that can go wrong at it."""
    writes = [nth for nth, operation in enumerate(operations, 1) if operation in ("TransactWriteItems", "UpdateItem")]
    return [(nth, kind) for nth in writes for kind in WRITING]


def strike(made: Bench, work: Callable[[], object], fault: Fault) -> None:
    """Do something while one fault strikes."""
    layer = FaultLayer(made.desk.client)
    try:
        with layer.faults(fault):
            with suppress(Crash, UnavailableError, BusyError, ConflictError):
                work()
            assert layer.fired, fault
    finally:
        layer.remove()


def test_a_fault_at_any_write_of_a_measuring_pass_measures_and_proposes_once(store: DynamoStore) -> None:
    made = bench(store, due_tomorrow)
    operations = calls_of(made, made.desk.run)
    expected = settled(made.desk)
    assert [verdict for _, _, verdict, *_ in expected["checkpoints"] if verdict] == ["regressed", "regressed"]
    assert sorted(strikes for _, strikes, _ in expected["keys"]) == [0, 0, 1, 1]
    assert [kind for *_, kind in expected["told"]].count("OutcomeMeasured") == 2
    for nth, kind in plans(operations):
        strike(made, made.again().run, Fault(kind, nth))
        assert settled(made.desk) == expected, (nth, kind)
    made.desk.verify()


def test_a_fault_at_any_write_of_a_revert_undoes_once(store: DynamoStore) -> None:
    made = bench(store, proposed)
    desk = made.desk
    [wanted] = [
        row["id"]
        for row in desk.queue(analyzer="loop.outcome_review")
        if row["details"]["metric"] == "tool_error_recurrence"
    ]

    def revert() -> object:
        return desk.approve_and_apply(wanted, key="once")

    operations = calls_of(made, revert)
    expected = settled(desk)
    assert (len(expected["regressions"]), desk.recommendation(wanted).status) == (1, "applied")
    for nth, kind in plans(operations):
        made.again()
        strike(made, revert, Fault(kind, nth))
        revert()
        assert settled(desk) == expected, (nth, kind)
    desk.verify()

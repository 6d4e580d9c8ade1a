"""A pass that asks a model, struck by every fault at every call: what it finds itself is found, and nothing twice."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from contextlib import suppress

from provenloop.adapters.dynamodb.store import DynamoStore
from provenloop.domain.errors import LoopError
from tests.builders import MINUTE_MS, Desk, make_calls, make_fact
from tests.faults import Call, Crash, Fault, FaultLayer, Kind, SavedTable
from tests.faults.tables import TABLE
from tests.scenario.struck import faults_of
from tests.scenario.test_outside_findings import about_sam
from tests.scripted_model import ScriptedModel
from tests.store_fixture import prepared


def something_to_find(desk: Desk) -> None:
    desk.record(*make_calls(3, 3), make_fact("early riser", relation="note"), make_fact("late", relation="note"))


def of_origin(desk: Desk, origin: str) -> list[str]:
    recs = desk.store.all_recommendations(desk.memory)
    return sorted(rec.id for rec in recs if rec.origin.startswith(origin) and rec.status == "pending")


def test_whatever_fails_in_a_pass_that_asks_a_model_nothing_is_found_twice_or_lost_of_our_own(
    store: DynamoStore,
) -> None:
    desk, _ = prepared(store, something_to_find)
    saved, began = SavedTable(desk.client, TABLE), desk.now
    model = ScriptedModel(about_sam)
    desk.outside = model.outside()
    with FaultLayer(desk.client) as layer:
        calls: list[Call] = layer.count(desk.run)
    asks = next(call.n for call in calls if any("LOOKED#" in str(key) for key in call.keys))
    ours, theirs = of_origin(desk, "builtin"), of_origin(desk, "llm")
    assert (len(ours), len(theirs)) == (1, 1)
    for fault in (fault for fault in faults_of(calls) if fault.nth >= asks and is_told_apart(calls, fault)):
        saved.restore()
        desk.now, desk.numbers = began, itertools.count(1000)
        model.seen.clear()
        struck(desk, fault)
        for _ in range(2):
            desk.run(at=desk.now + 61 * MINUTE_MS)
        assert of_origin(desk, "builtin") == ours, fault
        assert len(of_origin(desk, "llm")) <= 1, fault
        assert [request.op for request in model.seen].count("discover") <= 2, fault
        desk.verify()


def is_told_apart(calls: Sequence[Call], fault: Fault) -> bool:
    """Of what can go wrong with a read, that the process dies there; the store tries again after anything else."""
    return calls[fault.nth - 1].writes or fault.kind is Kind.CRASH_BEFORE


def struck(desk: Desk, fault: Fault) -> None:
    """A pass under a fault, that may die or be refused."""
    with FaultLayer(desk.client) as layer, layer.faults(fault), suppress(Crash, LoopError):
        desk.run()

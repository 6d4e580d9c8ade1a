"""Whoever lets a pass run accepts nothing of what models and external analyzers found in it, on no surface."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from provenloop.entry.local.gateway import HttpResponse
from provenloop.entry.local.stack import LocalStack
from tests.functions.api import Api
from tests.functions.programs import analyzer_that_finds, model_that_finds
from tests.functions.requests import ADMIN, MEMORY, NOW, ROOT
from tests.functions.review_desk import Desk

FIVE_MINUTES_MS, DAY_MS = 300_000, 86_400_000
FAMILIES = ["loop.llm", "ext.second_look"]
NOTES = [
    {"kind": "fact", "subject": "ann", "relation": "note", "object": text} for text in ("early riser", "up at noon")
]
FINDING = {"target": "entity:shared/ann", "summary": "two notes disagree"}
SELF_APPROVAL = (403, "PVL-E021")
BECAUSE = {"because": "it is right"}


@dataclass(frozen=True)
class Found:
    """A memory in which a model and an external analyzer found something, and who may decide on it.

    Attributes:
        trigger: token of whoever let the pass run; it may administer, and so decide anything.
        child: token of another principal, which the trigger minted.
        other: token of a reviewer who had no part in it.
        ids: of the findings, by family.
    """

    api: Api
    trigger: str
    child: str
    other: str
    ids: dict[str, str]

    def decide(self, way: str, family: str, token: str, **more: Any) -> HttpResponse:
        return self.api.call(way, {**MEMORY, "id": self.ids[family]}, {**BECAUSE, **more}, token=token)

    def shown(self, family: str) -> dict[str, Any]:
        shown: dict[str, Any] = self.api.done("show_recommendation", {**MEMORY, "id": self.ids[family]})
        return shown


@pytest.fixture(scope="module")
def advised() -> Iterator[LocalStack]:
    """The system with a model and an external analyzer, in which no wait of a review ends by itself."""
    waits = dict.fromkeys(("RemindAfterSeconds", "ExpireAfterSeconds", "ApplyWithinSeconds"), str(DAY_MS // 1_000))
    model, analyzer = model_that_finds(**FINDING), analyzer_that_finds("second.look", **FINDING)
    with LocalStack(
        ROOT, dev_token=ADMIN, now_ms=NOW, parameters=waits, llm_command=model, analyzer_commands=[analyzer]
    ) as stack:
        yield stack


def found_by(stack: LocalStack, run: Callable[[Api, str], object]) -> Found:
    """What is found in notes that the trigger wrote, once a pass was begun and the schedule had its turn."""
    stack.reset()
    stack.set_clock(NOW)
    api = Api(stack)
    trigger = api.mint("runner", "admin", kind="human")
    child = api.mint("runner's hand", "review", "apply", "read", kind="human", token=trigger)
    other = api.mint("reviewer", "review", "apply", "read", kind="human")
    api.done("create_memory")
    api.done("record_events", body={"events": NOTES}, token=trigger)
    run(api, trigger)
    stack.set_clock(NOW + FIVE_MINUTES_MS)
    report = stack.tick()
    assert (report.failed, report.retrying) == ([], 0)
    rows = api.done("list_recommendations")["recommendations"]
    return Found(api, trigger, child, other, {row["analyzer"].partition("/")[0]: row["id"] for row in rows})


@pytest.fixture
def found(advised: LocalStack) -> Found:
    """What was found in a pass that the trigger asked for."""
    found = found_by(advised, lambda api, trigger: api.done("run_pass", body={}, token=trigger))
    assert sorted(found.ids) == sorted(FAMILIES)
    return found


@pytest.mark.parametrize("status", ["pending", "snoozed"])
@pytest.mark.parametrize("family", FAMILIES)
def test_the_trigger_accepts_it_in_no_way_nor_does_a_token_that_it_minted(
    found: Found, family: str, status: str
) -> None:
    if status == "snoozed":
        assert found.decide("snooze", family, found.other, until=NOW + DAY_MS).status == 200
    before = found.shown(family)
    for token in (found.trigger, found.child):
        for way in ("approve", "approve_and_apply", "acknowledge"):
            assert found.api.refused(found.decide(way, family, token)) == SELF_APPROVAL, way
        refused = found.decide("approve", family, token, then_apply=True)
        assert found.api.refused(refused) == SELF_APPROVAL
        for action in ("approve", "acknowledge"):
            batch = {"ids": list(found.ids.values()), "action": action, **BECAUSE}
            results = found.api.done("batch_review", body=batch, token=token)["results"]
            assert {each["error"]["code"] for each in results} == {"PVL-E021"}
    assert found.shown(family) == before
    assert before["status"] == status


@pytest.mark.parametrize("way", ["approve", "acknowledge"])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_reviewer_who_had_no_part_in_it_accepts_it(found: Found, family: str, way: str) -> None:
    assert found.decide(way, family, found.other).json()["status"] == f"{way}d"


@pytest.mark.parametrize("family", FAMILIES)
def test_another_administrator_is_not_the_trigger(found: Found, family: str) -> None:
    assert found.decide("acknowledge", family, ADMIN).status == 200


@pytest.mark.parametrize("who", ["trigger", "child"])
@pytest.mark.parametrize("family", FAMILIES)
def test_the_trigger_may_refuse_it(found: Found, family: str, who: str) -> None:
    assert found.decide("reject", family, getattr(found, who)).json()["status"] == "rejected"


@pytest.mark.parametrize("family", FAMILIES)
def test_a_review_by_the_workflow_is_ended_by_the_decision_of_another_and_not_by_the_triggers(
    found: Found, family: str
) -> None:
    desk = Desk(found.api, found.ids[family])
    execution = str(found.api.done("request_review", desk.path, token=found.trigger)["execution"])
    desk.waits_in(execution, "Open")
    for token in (found.trigger, found.child):
        for way in ("approve", "acknowledge"):
            assert found.api.refused(found.decide(way, family, token)) == SELF_APPROVAL
    assert (desk.status, desk.states(execution)[-1]) == ("pending", "Open")
    desk.decide("acknowledge", found.other)
    assert desk.ended(execution)[1]["outcome"] == "acknowledged"


def test_whoever_lets_it_be_found_once_more_is_barred_as_well(found: Found) -> None:
    api, second = found.api, found.api.mint("second runner", "write", "review", "read")
    api.done("record_events", body={"events": [{**NOTES[0], "object": "naps"}]})
    outcome = api.done("run_pass", body={}, token=second)
    assert outcome["stored"] == 0
    api.stack.set_clock(NOW + 2 * FIVE_MINUTES_MS)
    assert api.stack.tick().failed == []
    assert len(api.done("list_recommendations")["recommendations"]) == len(FAMILIES)
    for family in FAMILIES:
        for token in (found.trigger, second):
            assert api.refused(found.decide("acknowledge", family, token)) == SELF_APPROVAL
        assert found.decide("acknowledge", family, found.other).status == 200


@pytest.mark.parametrize("family", FAMILIES)
def test_what_the_schedule_had_found_may_be_accepted_by_whoever_wrote_the_notes(
    advised: LocalStack, family: str
) -> None:
    found = found_by(advised, lambda _api, _trigger: None)
    assert found.decide("acknowledge", family, found.trigger).json()["status"] == "acknowledged"

"""The review workflow, run for real: the definition of the template in an interpreter that calls our functions.

Its waits take real time, so they are parameters of one second here, or of a day where nothing may end them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from moto.stepfunctions.parser.asl.component.common.retry import retrier_decl

from provenloop.adapters.dynamodb.store import DynamoStore
from provenloop.adapters.step_functions import StepFunctionsReviews
from provenloop.domain.errors import UnavailableError
from provenloop.domain.names import MemoryId
from provenloop.entry.local.stack import LocalStack
from tests.functions.api import Api
from tests.functions.requests import ADMIN, MEMORY, NOW, ROOT
from tests.functions.review_desk import Desk

LONG, SHORT = "86400", "1"
DAY_MS = 86_400_000


def running(folder: Path, first: str, second: str, apply: str) -> Iterator[LocalStack]:
    policy = folder / "policy.json"
    parameters = {"RemindAfterSeconds": first, "ExpireAfterSeconds": second, "ApplyWithinSeconds": apply}
    with LocalStack(ROOT, dev_token=ADMIN, now_ms=NOW, policy_file=policy, parameters=parameters) as stack:
        yield stack


@pytest.fixture(scope="module")
def patient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalStack]:
    """A system in which no wait ends by itself."""
    yield from running(tmp_path_factory.mktemp("patient"), LONG, LONG, LONG)


def opened(stack: LocalStack) -> Desk:
    """A contradiction that waits for a decision, and a queue that hears notices."""
    stack.reset()
    stack.set_clock(NOW)
    assert stack.policy_file is not None
    stack.policy_file.write_text("{}", encoding="utf-8")
    sns, sqs = stack.aws.client("sns"), stack.aws.client("sqs")
    [topic] = sns.list_topics()["Topics"]
    url = sqs.create_queue(QueueName="reviewers")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    sns.subscribe(TopicArn=topic["TopicArn"], Protocol="sqs", Endpoint=arn)
    api = Api(stack)
    found = {each["analyzer"]: each["id"] for each in api.find()}
    return Desk(api, found["loop.contradiction_sweep/1"])


@pytest.fixture
def desk(patient: LocalStack) -> Desk:
    return opened(patient)


@pytest.fixture
def no_pause_between_tries() -> Iterator[None]:
    """Repeats of a task follow at once, instead of after seconds."""
    with patch.object(retrier_decl, "time") as time:
        time.sleep = lambda _seconds: None
        yield


def test_a_rejection_ends_the_review_and_reviewers_heard_of_it_once(desk: Desk) -> None:
    execution = desk.request()
    desk.waits_in(execution, "Open")
    desk.decide("reject")
    assert desk.notices() == ["A recommendation waits for review."]
    assert desk.ended(execution) == ("SUCCEEDED", {"outcome": "rejected", "then_apply": False})
    assert desk.states(execution) == ["Prepare", "Open", "Told", "Done"]


def test_an_approval_that_asks_for_it_is_applied_by_the_workflow_in_the_name_of_the_decider(desk: Desk) -> None:
    execution = desk.request()
    desk.waits_in(execution, "Open")
    decider = desk.api.mint("rita", "review", "apply", kind="human")
    desk.decide("approve", decider, then_apply=True)
    assert desk.ended(execution) == ("SUCCEEDED", {"outcome": "applied", "then_apply": False})
    shown = desk.api.done("show_recommendation", desk.path)
    assert shown["status"] == "applied"
    assert [entry["by"]["label"] for entry in shown["audit"][-2:]] == ["rita", "rita"]
    assert desk.api.done("verify_audit")["ok"]


def test_an_approval_alone_waits_until_somebody_applies_it(desk: Desk) -> None:
    execution = desk.request()
    desk.waits_in(execution, "Open")
    desk.decide("approve")
    desk.waits_in(execution, "WaitApply")
    assert desk.status == "approved"
    desk.decide("apply")
    assert desk.ended(execution)[1]["outcome"] == "applied"


@pytest.mark.parametrize("revoked", [False, True])
def test_a_decider_who_may_not_apply_or_no_longer_leaves_it_to_somebody_who_may(desk: Desk, revoked: bool) -> None:
    execution = desk.request()
    desk.waits_in(execution, "Open")
    scopes = ("review", "apply") if revoked else ("review",)
    decider = desk.api.mint("rita", *scopes, kind="human")
    if revoked:
        with patch.object(StepFunctionsReviews, "tell", lambda *_args, **_more: False):
            desk.decide("approve", decider, then_apply=True)
        [token] = [each["id"] for each in desk.api.done("list_tokens", {})["tokens"] if each["label"] == "rita"]
        desk.api.done("revoke_token", {"id": token})
        desk.api.stack.set_clock(NOW + 3_600_000)
        desk.api.stack.tick()
    else:
        desk.decide("approve", decider, then_apply=True)
    desk.waits_in(execution, "WaitApply")
    assert "Apply" in desk.states(execution)
    assert desk.status == "approved"
    desk.decide("reject")
    assert desk.ended(execution)[1]["outcome"] == "rejected"


@pytest.mark.usefixtures("no_pause_between_tries")
def test_an_apply_that_is_throttled_is_tried_again_and_changes_things_once(desk: Desk) -> None:
    execution = desk.request()
    desk.waits_in(execution, "Open")
    write = DynamoStore.transact
    throttled: list[int] = []

    def sometimes(store: DynamoStore, *args: Any, **more: Any) -> None:
        if len(throttled) < 3 and desk.states(execution)[-1] == "Apply":
            throttled.append(1)
            raise UnavailableError("the store did not answer in time; try again")
        write(store, *args, **more)

    with patch.object(DynamoStore, "transact", sometimes):
        desk.decide("approve", then_apply=True)
        assert desk.ended(execution)[1]["outcome"] == "applied"
    assert len(throttled) == 3
    assert desk.api.done("verify_audit")["ok"]
    assert (
        len([each for each in desk.api.done("show_recommendation", desk.path)["audit"] if each["to"] == "applied"]) == 1
    )


def test_what_was_decided_elsewhere_before_the_workflow_began_ends_it_at_once_without_a_notice(desk: Desk) -> None:
    with patch.object(StepFunctionsReviews, "start", lambda *_args: None):
        desk.request()
    desk.decide("reject")
    reviews = StepFunctionsReviews(
        desk.workflows.list_state_machines()["stateMachines"][0]["stateMachineArn"], client=desk.workflows
    )
    reviews.start(MemoryId("default", MEMORY["memory"]), desk.rec_id, f"{desk.rec_id}-1")
    assert desk.ended(f"{desk.rec_id}-1")[1]["outcome"] == "rejected"
    assert desk.notices() == []


def test_a_callback_that_was_lost_is_sent_again_by_the_tick(desk: Desk) -> None:
    execution = desk.request()
    desk.waits_in(execution, "Open")
    with patch.object(StepFunctionsReviews, "tell", lambda *_args, **_more: False):
        desk.decide("reject")
    assert desk.described(execution)["status"] == "RUNNING"
    desk.api.stack.set_clock(NOW + 3_600_000)
    desk.api.stack.tick()
    assert desk.ended(execution)[1]["outcome"] == "rejected"


def test_the_policy_has_what_a_pass_proposed_reviewed_by_way_of_the_bus(desk: Desk) -> None:
    stack = desk.api.stack
    stack.tick()
    assert stack.policy_file is not None
    stack.policy_file.write_text(json.dumps({"review": {"start_workflow_at": "medium"}}), encoding="utf-8")
    calls = [
        {"kind": "tool_call", "tool": "mail", "is_error": True, "result": "quota exceeded", "call_id": f"m{n}"}
        for n in range(6)
    ]
    desk.api.done("record_events", body={"events": calls})
    stack.set_clock(NOW + 3_600_000)
    desk.api.done("run_pass", body={"full_sweep": True})
    stack.tick()
    found = desk.api.done("list_recommendations")["recommendations"]
    [new] = [each["id"] for each in found if each["created_at"] != found[-1]["created_at"]] or [found[0]["id"]]
    fresh = Desk(desk.api, new)
    fresh.waits_in(f"{new}-1", "Open")
    assert desk.api.done("show_recommendation", desk.path)["reviews"] == 0
    stack.tick()
    assert desk.api.done("show_recommendation", fresh.path)["reviews"] == 1


@pytest.mark.parametrize("by", ["engine", "reviewer"])
def test_what_was_snoozed_is_reviewed_anew_once_it_wakes_if_it_is_grave_enough(desk: Desk, by: str) -> None:
    """The first review ends with the snooze; the bus tells of the waking, whoever brought it about."""
    stack = desk.api.stack
    assert stack.policy_file is not None
    stack.policy_file.write_text(json.dumps({"review": {"start_workflow_at": "medium"}}), encoding="utf-8")
    first = desk.request()
    desk.waits_in(first, "Open")
    desk.decide("snooze", until=NOW + DAY_MS)
    assert desk.ended(first) == ("SUCCEEDED", {"outcome": "snoozed", "then_apply": False})
    stack.tick()
    assert desk.reviews == 1
    stack.set_clock(NOW + DAY_MS)
    if by == "reviewer":
        desk.decide("wake")
    else:
        desk.api.done("run_pass", body={})
    assert desk.status == "pending"
    report = stack.tick()
    assert report.failed == []
    second = f"{desk.rec_id}-2"
    desk.waits_in(second, "Open")
    stack.tick()
    assert desk.reviews == 2
    desk.decide("approve", then_apply=True)
    assert desk.ended(second)[1]["outcome"] == "applied"


def test_what_wakes_below_the_severity_of_the_policy_is_left_to_who_asks(desk: Desk) -> None:
    stack = desk.api.stack
    assert stack.policy_file is not None
    stack.policy_file.write_text(json.dumps({"review": {"start_workflow_at": "high"}}), encoding="utf-8")
    desk.decide("snooze", until=NOW + DAY_MS)
    stack.set_clock(NOW + DAY_MS)
    desk.api.done("run_pass", body={})
    assert stack.tick().failed == []
    assert (desk.status, desk.reviews) == ("pending", 0)


def test_a_review_that_nobody_answers_reminds_and_ends_and_leaves_the_recommendation_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, patient: LocalStack
) -> None:
    patient.stop()
    for stack in running(tmp_path_factory.mktemp("hasty"), SHORT, SHORT, SHORT):
        desk = opened(stack)
        execution = desk.request()
        assert desk.ended(execution) == ("SUCCEEDED", {"outcome": "expired", "then_apply": False})
        assert desk.states(execution) == ["Prepare", "Open", "Remind", "Expire", "Told", "Done"]
        assert desk.notices() == ["A recommendation waits for review.", "A recommendation still waits for review."]
        assert desk.status == "pending"
        assert desk.request() == f"{desk.rec_id}-2"
    patient.start()

"""Events of the whole system, as a queue that listens to the bus gets them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any
from unittest.mock import patch

import pytest

from provenloop.adapters.event_bus import EventBridgeBus
from provenloop.services.bus_port import Waiting
from tests.functions.api import Api
from tests.functions.requests import MEMORY, NOW

HOUR_MS = 3_600_000


@pytest.fixture
def heard(api: Api) -> Callable[[], list[dict[str, Any]]]:
    """Gives what was published since it was last asked."""
    events, sqs = api.stack.aws.client("events"), api.stack.aws.client("sqs")
    [bus] = [each["Name"] for each in events.list_event_buses()["EventBuses"] if each["Name"] != "default"]
    url = sqs.create_queue(QueueName="listener")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    events.put_rule(Name="all", EventBusName=bus, EventPattern=json.dumps({"source": ["provenloop"]}))
    events.put_targets(Rule="all", EventBusName=bus, Targets=[{"Id": "listener", "Arn": arn}])

    def received() -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        while messages := sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", []):
            for message in messages:
                found.append(json.loads(message["Body"]))
                sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
        return found

    return received


def outbox(api: Api) -> list[dict[str, Any]]:
    return [item for item in api.stack.items()["Table"] if item["pk"]["S"].endswith("#OUTBOX")]


def audit_ids(api: Api) -> list[str]:
    return [json.loads(line)["id"] for line in api.call("export_audit").text.splitlines()]


def test_every_step_is_heard_once_right_after_it_and_nothing_waits(
    api: Api, heard: Callable[[], list[dict[str, Any]]]
) -> None:
    found = api.find()
    proposed = heard()
    assert sorted(event["detail"]["recommendation"] for event in proposed) == sorted(each["id"] for each in found)
    assert {event["detail-type"] for event in proposed} == {"RecommendationProposed"}
    clash = next(each["id"] for each in found if each["analyzer"] == "loop.contradiction_sweep/1")
    path, because = {**MEMORY, "id": clash}, {"because": "eu is right"}
    api.done("approve_and_apply", path, because)
    api.done("roll_back", path, because)
    later = heard()
    kinds = ["RecommendationDecided", "ChangeApplied", "ChangeRolledBack"]
    assert [event["detail-type"] for event in later] == kinds
    assert sorted(event["detail"]["id"] for event in [*proposed, *later]) == sorted(audit_ids(api))
    assert "eu is right" not in json.dumps(later)
    assert outbox(api) == []


def test_what_an_applied_change_came_to_is_heard_when_it_is_measured(
    api: Api, heard: Callable[[], list[dict[str, Any]]]
) -> None:
    lesson = next(each["id"] for each in api.find() if each["analyzer"] == "loop.tool_failure/1")
    path = {**MEMORY, "id": lesson}
    api.done("approve_and_apply", path, {"because": "we know"})
    again = [{"kind": "tool_call", "tool": "http_get", "is_error": True, "result": "connect timeout"}]
    api.stack.set_clock(NOW + HOUR_MS)
    api.done("record_events", body={"events": again})
    heard()
    api.stack.set_clock(NOW + 26 * HOUR_MS)
    api.done("run_pass", body={})
    [told] = [event for event in heard() if event["detail-type"] == "OutcomeMeasured"]
    last = api.done("show_recommendation", path)["audit"][-1]
    assert (told["detail"]["id"], told["detail"]["n"]) == (last["id"], last["n"])
    names = ("verdict", "errors", "calls", "baseline_errors", "baseline_calls", "horizon_ms")
    assert [told["detail"][name] for name in names] == ["regressed", 1, 1, 5, 7, 24 * HOUR_MS]
    assert told["detail"]["proposal"] == api.done("show_recommendation", path)["proposal_digest"]
    assert (api.done("verify_audit")["ok"], outbox(api)) == (True, [])


def test_while_the_bus_is_down_decisions_go_on_and_a_later_tick_tells_of_them(
    api: Api, heard: Callable[[], list[dict[str, Any]]]
) -> None:
    def down(_bus: EventBridgeBus, _waiting: Sequence[Waiting]) -> frozenset[str]:
        return frozenset()

    with patch.object(EventBridgeBus, "send", down):
        [first, *_] = api.find()
        api.done("reject", {**MEMORY, "id": first["id"]}, {"because": "no"})
    assert heard() == []
    assert len(outbox(api)) == len(audit_ids(api)) == 3
    api.stack.set_clock(NOW + HOUR_MS)
    assert api.stack.invoke("DispatchFunction", {"id": "tick"}).payload["published"] == 3
    assert sorted(event["detail"]["id"] for event in heard()) == sorted(audit_ids(api))
    assert outbox(api) == []


def test_a_fault_of_ours_in_publishing_reaches_no_caller(api: Api) -> None:
    def broken(_bus: EventBridgeBus, _waiting: Sequence[Waiting]) -> frozenset[str]:
        raise RuntimeError("a fault of ours")

    with patch.object(EventBridgeBus, "send", broken):
        [first, *_] = api.find()
        api.done("reject", {**MEMORY, "id": first["id"]}, {"because": "no"})
        assert api.stack.invoke("DispatchFunction", {"id": "tick"}).payload["published"] == 0

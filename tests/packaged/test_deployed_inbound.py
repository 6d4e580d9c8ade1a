"""Events without HTTP in the deployed stack: from the bus and the bucket into memories, by the roles' own rights."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from provenloop.domain.errors import ScopeDeniedError
from tests.packaged.test_deployed_stack import _eventually, _messages

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.packaged.deployment import Deployment

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

CALLS = [{"kind": "tool_call", "tool": "scan", "is_error": True, "result": "no light"}] * 2
FACT = {"kind": "fact", "subject": "order 7", "relation": "status", "object": "shipped"}


@pytest.fixture(scope="module")
def deployed(deployment: Deployment) -> Deployment:
    """The deployment, with a memory for each source, and a bucket that needs no TLS: the emulator has none."""
    deployment.aws("s3").delete_bucket_policy(Bucket=deployment.outputs["InboxBucketName"])
    with deployment.http(token=deployment.token) as admin:
        for memory in ("orders-eu", "till"):
            assert admin.put(f"/v1/memories/{memory}", json={}).status_code == 201
    return deployment


@pytest.fixture
def impatient(deployed: Deployment) -> Iterator[str]:
    """The queue of events of the bus, which gives up within seconds."""
    sqs, url = deployed.aws("sqs"), deployed.resources["InboundQueue"]
    sqs.set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": "1"})
    yield "InboundDeadLetterQueue"
    sqs.set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": "360"})
    sqs.purge_queue(QueueUrl=deployed.resources["InboundDeadLetterQueue"])


def test_an_event_of_the_bus_is_recorded_for_the_source_that_its_rule_names(deployed: Deployment) -> None:
    _put_event(deployed, "shop.orders", {"memory": "orders-eu", "events": [FACT, *CALLS]})

    assert _eventually(lambda: len(_grains(deployed, "orders-eu")) == 3)
    _put_event(deployed, "till", {"events": [FACT]})
    _put_event(deployed, "shop.orders", {"memory": "orders-eu", "events": [{"kind": "goal", "name": "sell"}]})
    assert _eventually(lambda: len(_grains(deployed, "orders-eu")) == 4)
    # No rule names the till.
    assert _grains(deployed, "till") == []


def test_an_event_that_is_refused_ends_with_the_dead_letters(deployed: Deployment, impatient: str) -> None:
    _put_event(deployed, "shop.orders", {"memory": "till", "events": [FACT]})

    assert _eventually(lambda: _messages(deployed, impatient) == (1, 0), within_s=90)
    assert _grains(deployed, "till") == []


def test_a_file_is_recorded_and_reported_and_put_again_it_adds_nothing(deployed: Deployment) -> None:
    lines: list[dict[str, Any]] = [FACT, {"kind": "dream"}, *CALLS]
    first = _dropped(deployed, "till/till/day 1.jsonl", lines)

    assert [first[name] for name in ("status", "lines", "recorded", "known", "refused")] == ["read", 4, 3, 0, 1]
    assert [(each["line"], each["field"]) for each in first["refusals"]] == [(2, "kind")]
    grains = _grains(deployed, "till")
    assert len(grains) == 3

    again = _dropped(deployed, "till/till/day 1.jsonl", lines)
    assert [again[name] for name in ("recorded", "known", "refused")] == [0, 3, 1]
    assert _grains(deployed, "till") == grains


def test_a_file_for_a_memory_of_another_source_is_refused_as_a_whole(deployed: Deployment) -> None:
    report = _dropped(deployed, "shop.orders/till/night.jsonl", [FACT])

    assert (report["status"], report["code"]) == ("refused", ScopeDeniedError.code)


def _put_event(deployed: Deployment, source: str, detail: dict[str, Any]) -> None:
    entry = {
        "EventBusName": deployed.outputs["EventBusName"],
        "Source": source,
        "DetailType": "AgentEvents",
        "Detail": json.dumps(detail),
    }
    assert deployed.aws("events").put_events(Entries=[entry])["FailedEntryCount"] == 0


def _dropped(deployed: Deployment, name: str, lines: list[dict[str, Any]]) -> dict[str, Any]:
    """The report that follows when a file is put."""
    before = _report(deployed, name)
    body = "".join(f"{json.dumps(line)}\n" for line in lines)
    deployed.aws("s3").put_object(Bucket=deployed.outputs["InboxBucketName"], Key=f"inbox/{name}", Body=body.encode())
    assert _eventually(lambda: _report(deployed, name) != before)
    found = _report(deployed, name)
    assert found is not None
    return found


def _report(deployed: Deployment, name: str) -> dict[str, Any] | None:
    s3, bucket, key = deployed.aws("s3"), deployed.outputs["InboxBucketName"], f"reports/{name}.report.json"
    if not s3.list_objects_v2(Bucket=bucket, Prefix=key).get("Contents"):
        return None
    report: dict[str, Any] = json.loads(s3.get_object(Bucket=bucket, Key=key)["Body"].read())
    return report


def _grains(deployed: Deployment, memory: str) -> list[dict[str, Any]]:
    """The grains of a memory, as its export has them."""
    with deployed.http(token=deployed.token) as admin:
        answer = admin.get(f"/v1/memories/{memory}/export")
    assert answer.status_code == 200, answer.text
    lines = [json.loads(line) for line in answer.text.splitlines()]
    return [line["grain"] for line in lines if "grain" in line]

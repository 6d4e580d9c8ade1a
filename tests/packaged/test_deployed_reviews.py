"""Reviews on the deployed stack: started by the policy, by way of the bus, or by somebody who asks; waits of seconds.

The emulator's interpreter has no limit for a whole execution and no heartbeats, which the workflow does not rest on;
which errors are tried again is tried in ``tests/functions/test_review_approval.py``.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from provenloop.adapters.dynamodb.keys import partition
from provenloop.adapters.dynamodb.rows import unpack
from provenloop.domain.names import MemoryId
from tests.packaged.test_deployed_stack import _eventually, _minted, _pending, _record

if TYPE_CHECKING:
    import httpx

    from tests.packaged.deployment import Deployment

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

#: A contradiction: less grave than a tool that always fails.
CITIES = [{"kind": "fact", "subject": "sam", "relation": "lives_in", "object": city} for city in ("Berlin", "Tokyo")]


@pytest.fixture(scope="module", autouse=True)
def notices(deployment: Deployment) -> str:
    """A queue that gets what reviewers are told."""
    sqs = deployment.aws("sqs")
    url: str = sqs.create_queue(QueueName="reviewers")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    let = {
        "Effect": "Allow",
        "Principal": {"Service": "sns.amazonaws.com"},
        "Action": "sqs:SendMessage",
        "Resource": arn,
    }
    policy = json.dumps({"Version": "2012-10-17", "Statement": [let]})
    sqs.set_queue_attributes(QueueUrl=url, Attributes={"Policy": policy})
    deployment.aws("sns").subscribe(TopicArn=deployment.outputs["NoticeTopicArn"], Protocol="sqs", Endpoint=arn)
    return url


@pytest.fixture(scope="module")
def unanswered(deployment: Deployment) -> str:
    """A grave finding for which the policy starts a review that nobody answers; its id. The policy stays in force."""
    deployment.rule({"review": {"start_workflow_at": "high"}}, "ApprovalFunction")
    return str(_found(deployment, "unanswered")["id"])


@pytest.mark.usefixtures("unanswered")
def test_the_policy_has_what_is_grave_reviewed_and_the_workflow_applies_it_for_who_approved(
    deployment: Deployment,
) -> None:
    mara = _minted(deployment, {"label": "mara", "kind": "human", "memories": "*", "scopes": ["review", "apply"]})
    grave = _found(deployment, "grave", CITIES, severity="high")
    path = f"/v1/memories/grave/loop/recommendations/{grave['id']}"
    assert _eventually(lambda: _is_waiting(deployment, "grave", grave["id"]))
    with deployment.http(token=mara) as decider, deployment.http(token=deployment.token) as admin:
        approved = decider.post(f"{path}/approve", json={"because": "agreed", "then_apply": True})
        assert approved.status_code == 200, approved.text
        assert _eventually(lambda: admin.get(path).json()["status"] == "applied")
        shown = admin.get(path).json()
        assert [entry["by"]["label"] for entry in shown["audit"][-2:]] == ["mara", "mara"]
        # What is less grave waits for whoever looks.
        [other] = _pending(deployment, "grave")
        assert admin.get(f"{path.rpartition('/')[0]}/{other['id']}").json()["reviews"] == 0
        assert admin.get("/v1/memories/grave/audit/verify").json()["ok"]
    assert _ended(deployment, f"{grave['id']}-1") == ("SUCCEEDED", {"outcome": "applied", "then_apply": False})


def test_a_review_that_is_asked_for_ends_with_a_rejection(deployment: Deployment) -> None:
    found = _found(deployment, "reviewed", CITIES, severity="medium")
    path = f"/v1/memories/reviewed/loop/recommendations/{found['id']}"
    with deployment.http(token=deployment.token) as admin:
        execution = _asked(admin, path)
        assert _eventually(lambda: _is_waiting(deployment, "reviewed", found["id"]))
        assert admin.post(f"{path}/reject", json={"because": "both are right"}).status_code == 200
    assert _ended(deployment, execution) == ("SUCCEEDED", {"outcome": "rejected", "then_apply": False})


def test_a_review_that_nobody_answers_reminds_and_ends_and_can_be_asked_for_anew(
    deployment: Deployment, unanswered: str, notices: str
) -> None:
    assert _ended(deployment, f"{unanswered}-1") == ("SUCCEEDED", {"outcome": "expired", "then_apply": False})
    heard = _heard(deployment, notices, "unanswered")
    assert heard == ["A recommendation waits for review.", "A recommendation still waits for review."]
    path = f"/v1/memories/unanswered/loop/recommendations/{unanswered}"
    with deployment.http(token=deployment.token) as admin:
        assert admin.get(path).json()["status"] == "pending"
        execution = _asked(admin, path)
        assert execution == f"{unanswered}-2"
        assert admin.post(f"{path}/reject", json={"because": "it was the network"}).status_code == 200
    assert _ended(deployment, execution) == ("SUCCEEDED", {"outcome": "rejected", "then_apply": False})


def _found(
    deployment: Deployment, memory: str, more: list[dict[str, Any]] | None = None, *, severity: str = "high"
) -> dict[str, Any]:
    """What a pass finds of that severity in a new memory with a tool that always fails, and ``more``."""
    _record(deployment, memory)
    with deployment.http(token=deployment.token) as admin:
        if more:
            assert admin.post(f"/v1/memories/{memory}/events", json={"events": more}).status_code == 200
        assert admin.post(f"/v1/memories/{memory}/loop/run", json={}).status_code == 200
    [found] = [each for each in _pending(deployment, memory) if each["severity"] == severity]
    return found


def _asked(admin: httpx.Client, path: str) -> str:
    """The execution that somebody asked for."""
    asked = admin.post(f"{path}/request-review")
    assert asked.status_code == 200, asked.text
    return str(asked.json()["execution"])


def _is_waiting(deployment: Deployment, memory: str, recommendation: str) -> bool:
    """Whether the workflow has left its callback token."""
    key = {"pk": {"S": partition(MemoryId("default", memory), "LOOP")}}
    key["sk"] = {"S": f"WAIT#{recommendation}#{recommendation}-1"}
    found = deployment.aws("dynamodb").get_item(TableName=deployment.outputs["TableName"], Key=key)
    return "Item" in found and '"token"' in unpack(bytes(found["Item"]["doc"]["B"]))


def _ended(deployment: Deployment, execution: str) -> tuple[str, Any]:
    """Wait for the end of an execution; its status and output."""
    machine = deployment.outputs["ReviewWorkflowArn"]
    arn = f"{machine.replace(':stateMachine:', ':execution:')}:{execution}"
    states = deployment.aws("stepfunctions")
    _eventually(lambda: states.describe_execution(executionArn=arn)["status"] != "RUNNING")
    described = states.describe_execution(executionArn=arn)
    return described["status"], json.loads(described.get("output", "null"))


def _heard(deployment: Deployment, url: str, memory: str) -> list[str]:
    """First lines of the notices about one memory."""
    sqs = deployment.aws("sqs")
    heard: list[str] = []
    while messages := sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", []):
        for message in messages:
            sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
            notice = json.loads(message["Body"])
            if notice["MessageAttributes"]["memory"]["Value"] == memory:
                heard.append(notice["Message"].splitlines()[0])
    return heard

"""The real template, built and deployed: every route and every trigger answers, and no right is missing."""

from __future__ import annotations

import json
import re
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

import pytest

from provenloop.adapters.dynamodb.keys import LOG_HEAD, partition
from provenloop.domain.names import MemoryId
from provenloop.entry.operations import OPERATIONS, Operation
from tests.scenario.sixty_second_proof import sixty_second_proof

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.packaged.deployment import Deployment

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

EVENTS = Path(__file__).parents[2] / "events"
PARAMETERS = {
    "memory": "routes",
    "address": "0" * 64,
    "namespace": "shared",
    "subject": "sam",
    "id": "0" * 26,
    "run": "0" * 32,
    "job": "0" * 32,
    "action": "arm",
}
FAILING_CALLS = [
    {"kind": "tool_call", "tool": "search", "call_id": f"c{n}", "is_error": True, "result": "Timeout after 30 s"}
    for n in range(5)
]

each_operation = pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)


def test_health_answers_whoever_asks(deployment: Deployment) -> None:
    with deployment.http() as nobody:
        assert nobody.get("/health").json()["status"] == "ok"


@pytest.mark.parametrize(
    "path", ["/", "/v1", "/v1/memories/demo/nothing", "/v1/memories/demo/loop/recommendations/a/b"]
)
def test_an_unknown_path_is_answered_by_a_problem_document(deployment: Deployment, path: str) -> None:
    with deployment.http() as nobody:
        answer = nobody.get(path)

    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["code"].startswith("PVL-")


@each_operation
def test_every_route_reaches_the_function_that_serves_it(deployment: Deployment, operation: Operation) -> None:
    # Every function knows its own routes only and answers 404 for any other, so a 401 tells that it is the right one.
    with deployment.http() as nobody:
        answer = nobody.request(operation.method, _path(operation), json={} if operation.body else None)

    assert answer.status_code == (401 if operation.scopes else 200), answer.text


@each_operation
def test_no_route_lacks_a_right(deployment: Deployment, operation: Operation) -> None:
    with deployment.http(token=deployment.token) as admin:
        admin.put("/v1/memories/routes", json={})
        answer = admin.request(operation.method, _path(operation), json=_body(operation))

    assert answer.status_code in {*operation.statuses, 404, 400}, answer.text


def test_the_sixty_second_proof_holds(deployment: Deployment) -> None:
    with deployment.http(token=deployment.token) as admin:
        sixty_second_proof(admin)


def test_the_proof_holds_for_whoever_has_a_minted_token(deployment: Deployment) -> None:
    token = _minted(deployment, {"label": "operator", "kind": "human", "memories": "*", "scopes": ["admin"]})

    with deployment.http(token=token) as operator:
        sixty_second_proof(operator, "minted")


def test_a_minted_token_does_nothing_beyond_its_scopes(deployment: Deployment) -> None:
    token = _minted(deployment, {"label": "reader", "kind": "agent", "memories": "*", "scopes": ["read"]})
    _record(deployment, "read-only")

    with deployment.http(token=token) as reader:
        assert reader.get("/v1/memories/read-only/loop/recommendations").status_code == 200
        assert reader.post("/v1/memories/read-only/events", json={"events": FAILING_CALLS}).status_code == 403
        assert reader.post("/v1/memories/read-only/loop/run", json={}).status_code == 403


def test_a_message_of_the_pass_queue_runs_a_pass_and_a_broken_one_holds_nobody_up(deployment: Deployment) -> None:
    _record(deployment, "queued")
    _send(deployment, "{}", group="broken")
    _send(deployment, json.dumps({"tenant": "default", "memory": "queued"}), group="default/queued")

    assert _eventually(lambda: _pending(deployment, "queued"))
    # The broken one is kept, hidden until it is tried again; the other one is gone.
    assert _eventually(lambda: _messages(deployment, "PassQueue") == (0, 1))
    assert _messages(deployment, "PassDeadLetterQueue") == (0, 0)


def test_a_tick_sends_memories_that_are_due_through_the_queue_to_a_pass(deployment: Deployment) -> None:
    _record(deployment, "due")
    _make_due(deployment, MemoryId("default", "due"))
    tick = (EVENTS / "dispatch.tick.json").read_text()
    answer = deployment.aws("lambda").invoke(FunctionName=deployment.resources["DispatchFunction"], Payload=tick)

    assert "FunctionError" not in answer, answer["Payload"].read()
    assert _eventually(lambda: _pending(deployment, "due"))


def test_the_schedule_starts_dispatch_and_its_failures_have_a_place(deployment: Deployment) -> None:
    events, functions = deployment.aws("events"), deployment.aws("lambda")
    dispatch = deployment.resources["DispatchFunction"]
    (rule,) = (each for each in events.list_rules()["Rules"] if each.get("ScheduleExpression") == "rate(5 minutes)")
    (target,) = events.list_targets_by_rule(Rule=rule["Name"])["Targets"]
    invoked = functions.get_function_event_invoke_config(FunctionName=dispatch, Qualifier="$LATEST")

    assert (rule["State"], rule["ScheduleExpression"]) == ("ENABLED", "rate(5 minutes)")
    assert target["Arn"].endswith(f":{dispatch}")
    failures = "provenloop-dispatch-failure"
    assert target["DeadLetterConfig"]["Arn"].endswith(failures)
    assert invoked["DestinationConfig"]["OnFailure"]["Destination"].endswith(failures)


def _path(operation: Operation) -> str:
    return re.sub(r"\{(\w+)\}", lambda match: PARAMETERS[match.group(1)], operation.path)


def _body(operation: Operation) -> dict[str, Any] | None:
    """The least that the operation takes."""
    if operation.body is None:
        return None
    bodies: dict[str, dict[str, Any]] = {
        "record_events": {"events": FAILING_CALLS},
        "create_memory": {},
        "run_pass": {},
        "mint_token": {"label": "routes", "kind": "agent", "memories": "*", "scopes": ["read"]},
    }
    return bodies.get(operation.name, {"because": "to see whether it answers"})


def _record(deployment: Deployment, memory: str) -> None:
    """A new memory with something to find."""
    with deployment.http(token=deployment.token) as admin:
        assert admin.put(f"/v1/memories/{memory}", json={}).status_code == 201
        assert admin.post(f"/v1/memories/{memory}/events", json={"events": FAILING_CALLS}).status_code == 200
    assert _pending(deployment, memory) == []


def _pending(deployment: Deployment, memory: str) -> list[dict[str, Any]]:
    with deployment.http(token=deployment.token) as admin:
        answer = admin.get(f"/v1/memories/{memory}/loop/recommendations")
    assert answer.status_code == 200, answer.text
    return list(answer.json()["recommendations"])


def _make_due(deployment: Deployment, memory: MemoryId) -> None:
    """A memory falls due up to five minutes after its first event; moved into the past here."""
    deployment.aws("dynamodb").update_item(
        TableName=deployment.outputs["TableName"],
        Key={"pk": {"S": partition(memory, "HEAD")}, "sk": {"S": LOG_HEAD}},
        UpdateExpression="SET wake_at = :past",
        ConditionExpression="attribute_exists(wake_at)",
        ExpressionAttributeValues={":past": {"N": "1"}},
    )


def _minted(deployment: Deployment, wanted: dict[str, Any]) -> str:
    """The secret of a new token."""
    with deployment.http(token=deployment.token) as admin:
        answer = admin.post("/v1/tokens", json=wanted)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["secret"])


def _send(deployment: Deployment, body: str, *, group: str) -> None:
    deployment.aws("sqs").send_message(
        QueueUrl=deployment.outputs["PassQueueUrl"],
        MessageBody=body,
        MessageGroupId=group,
        MessageDeduplicationId=group.replace("/", "-"),
    )


def _messages(deployment: Deployment, queue: str) -> tuple[int, int]:
    """How many messages a queue holds: visible ones, and ones that are out or hidden."""
    names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
    counted = deployment.aws("sqs").get_queue_attributes(QueueUrl=deployment.resources[queue], AttributeNames=names)
    visible, hidden = (int(counted["Attributes"][name]) for name in names)
    return visible, hidden


def _eventually(look: Callable[[], Any], within_s: float = 60) -> Any:
    """The first truthy answer, or the last one when the time is over: other processes are at work meanwhile."""
    until = monotonic() + within_s
    while not (found := look()) and monotonic() < until:
        sleep(0.5)
    return found

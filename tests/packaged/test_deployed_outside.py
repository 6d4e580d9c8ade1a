"""Those outside, asked by the deployed stack: a model on this machine, and external analyzers that are functions.

What the functions may do is what the template gives their roles: to read the model's key, and to invoke the samples.
"""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from provenloop.adapters.dynamodb.keys import partition
from provenloop.adapters.dynamodb.rows import unpack
from provenloop.domain.errors import SelfApprovalError
from provenloop.domain.names import MemoryId
from tests.finding_model import FACTS, play
from tests.model_server import ModelServer, model_server
from tests.packaged.deployment import Deployment, deploy
from tests.packaged.emulator import ROOT, running_emulator
from tests.packaged.test_deployed_stack import EVENTS, _eventually, _minted, _pending, _record, _send

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

MODEL = "claude-opus-5-5"
KEY = "sk-ant-deployed"
STAGES = ("discover", "ground", "verify")
NEEDS = ["fact", "observation", "tool_call"]
SAMPLES = {"ext.pii/1": "AnalyzerPiiArn", "ext.house_style/1": "AnalyzerHouseStyleArn"}
#: Something for each sample to find.
ODD = [
    {"kind": "observation", "text": "kim is at kim.roe@mail.example"},
    {"kind": "fact", "subject": "kim", "relation": "worksFrom", "object": "Bergen"},
]


@dataclass(frozen=True)
class Asking:
    """A deployment that asks a model and the samples, and the model."""

    deployment: Deployment
    server: ModelServer


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asking]:
    """Deployed into an emulator of its own: a model and samples are parameters of the template."""
    with model_server() as server, running_emulator(tmp_path_factory.mktemp("asking")) as emulator:
        server.plays(play)
        server.keys = {KEY}
        secret = emulator.client("secretsmanager").create_secret(Name="model-key", SecretString=KEY)
        parameters = {
            "Model": MODEL,
            "ModelUrl": server.url,
            "ModelKeySecretArn": secret["ARN"],
            "SampleAnalyzers": "true",
        }
        deployment = deploy(emulator, parameters)
        registered = [_registration(name, deployment.outputs[output]) for name, output in SAMPLES.items()]
        deployment.rule({"analyzers": registered}, "AnalyzeFunction")
        yield Asking(deployment, server)


@pytest.fixture
def unnamed(deployment: Deployment) -> Iterator[str]:
    """The ARN of a sample that somebody put beside a stack whose parameters name no external analyzer; registered."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.write(ROOT / "functions/analyzer_pii/app.py", "app.py")
    functions = deployment.aws("lambda")
    like = functions.get_function_configuration(FunctionName=deployment.resources["AnalyzeFunction"])
    made: str = functions.create_function(
        FunctionName="unnamed",
        Runtime=like["Runtime"],
        Role=like["Role"],
        Handler="app.lambda_handler",
        Code={"ZipFile": packed.getvalue()},
    )["FunctionArn"]
    deployment.rule({"analyzers": [_registration("ext.pii/1", made)]}, "AnalyzeFunction")
    yield made
    deployment.rule({}, "AnalyzeFunction")
    functions.delete_function(FunctionName=made)


def test_a_queued_pass_asks_the_model_stores_what_it_found_and_writes_what_it_cost(asking: Asking) -> None:
    deployment = asking.deployment
    _told(deployment, "asked", FACTS)
    asking.server.seen.clear()
    _queue(deployment, "asked")

    assert _eventually(lambda: _pending(deployment, "asked"))
    [found] = _pending(deployment, "asked")
    assert (found["analyzer"], found["origin"], found["rollbackable"]) == ("loop.llm/1", f"llm:{MODEL}", False)
    assert [(each.key, each.body["model"]) for each in asking.server.seen] == [(KEY, MODEL)] * len(STAGES)
    with deployment.http(token=deployment.token) as admin:
        rows = admin.get("/v1/memories/asked/ledger").json()["rows"]
    assert sorted(row["component"] for row in rows) == sorted(f"loop.{stage}" for stage in STAGES)
    assert all(row["cost_usd"] > 0 for row in rows)
    assert sum(row["output_tokens"] for row in rows) == sum(each.output_tokens for each in asking.server.charged)


def test_a_pass_over_http_leaves_the_model_to_a_later_one_and_who_asked_for_it_cannot_accept_what_that_finds(
    asking: Asking,
) -> None:
    deployment = asking.deployment
    _told(deployment, "left", FACTS)
    asking.server.seen.clear()
    runner, other = (
        _minted(deployment, {"label": label, "kind": "human", "memories": "*", "scopes": ["read", "write", "review"]})
        for label in ("runner", "other")
    )
    with deployment.http(token=runner) as asks:
        outcome = asks.post("/v1/memories/left/loop/run", json={}).json()
    assert outcome["outcome"] == "ran"
    assert {"id": "loop.llm/1", "reason": "left to a later pass: too little time"} in outcome["analyzers_skipped"]
    assert asking.server.seen == []

    # What was left makes the memory due.
    tick = (EVENTS / "dispatch.tick.json").read_text()
    answer = deployment.aws("lambda").invoke(FunctionName=deployment.resources["DispatchFunction"], Payload=tick)
    assert "FunctionError" not in answer, answer["Payload"].read()
    assert _eventually(lambda: _pending(deployment, "left"))
    [found] = _pending(deployment, "left")
    assert found["analyzer"] == "loop.llm/1"
    path = f"/v1/memories/left/loop/recommendations/{found['id']}"
    with deployment.http(token=runner) as asks, deployment.http(token=other) as decides:
        for decision in ("approve", "acknowledge"):
            refused = asks.post(f"{path}/{decision}", json={"because": "I asked for it"})
            assert (refused.status_code, refused.json()["code"]) == (403, SelfApprovalError.code)
        accepted = decides.post(f"{path}/acknowledge", json={"because": "ann was asked"})
        assert accepted.status_code == 200, accepted.text


def test_a_queued_pass_invokes_the_samples_and_what_they_find_waits_in_the_queue(asking: Asking) -> None:
    deployment = asking.deployment
    _told(deployment, "looked-at", ODD)
    _queue(deployment, "looked-at")

    assert _eventually(lambda: _outcomes(deployment, "looked-at"))
    [outcome] = _outcomes(deployment, "looked-at")
    assert [(each["id"], each["kept"], each["dropped"]) for each in outcome["external"]] == [
        (name, 1, {}) for name in SAMPLES
    ]
    found = {each["analyzer"]: each for each in _pending(deployment, "looked-at")}
    assert {name: each["origin"] for name, each in found.items()} == {name: f"command:{name}" for name in SAMPLES}
    assert found["ext.pii/1"]["summary"] == "An observation seems to hold an e-mail address"
    assert found["ext.house_style/1"]["summary"] == "A relation of it is not lower snake_case"


def test_without_the_right_to_invoke_it_an_analyzer_is_skipped_with_a_reason_and_the_pass_stands(
    deployment: Deployment, unnamed: str
) -> None:
    question = json.dumps({"loop_analyzer": 1, "op": "probe"})
    answer = deployment.aws("lambda").invoke(FunctionName=unnamed, Payload=question)
    assert json.loads(answer["Payload"].read())["id"] == "ext.pii/1"

    _record(deployment, "not-allowed")
    _queue(deployment, "not-allowed")
    assert _eventually(lambda: _outcomes(deployment, "not-allowed"))
    [outcome] = _outcomes(deployment, "not-allowed")
    assert (outcome["outcome"], outcome["stored"]) == ("ran", 1)
    assert {"id": "ext.pii/1", "reason": "unreachable"} in outcome["analyzers_skipped"]
    assert [each["analyzer"] for each in _pending(deployment, "not-allowed")] == ["loop.tool_failure/1"]


def _registration(name: str, arn: str) -> dict[str, Any]:
    """As the host policy has it."""
    return {"id": name, "endpoint": arn, "needs": NEEDS}


def _told(deployment: Deployment, memory: str, events: list[dict[str, Any]]) -> None:
    """A new memory that holds this."""
    with deployment.http(token=deployment.token) as admin:
        assert admin.put(f"/v1/memories/{memory}", json={}).status_code == 201
        assert admin.post(f"/v1/memories/{memory}/events", json={"events": events}).status_code == 200


def _queue(deployment: Deployment, memory: str) -> None:
    """Ask for a pass as the schedule does."""
    _send(deployment, json.dumps({"tenant": "default", "memory": memory}), group=f"default/{memory}")


def _outcomes(deployment: Deployment, memory: str) -> list[dict[str, Any]]:
    """The outcomes of the memory's passes; nobody was told the ids of those that came from the queue."""
    found = deployment.aws("dynamodb").query(
        TableName=deployment.outputs["TableName"],
        KeyConditionExpression="pk = :pk AND begins_with(sk, :run)",
        ExpressionAttributeValues={
            ":pk": {"S": partition(MemoryId("default", memory), "LOOP")},
            ":run": {"S": "RUN#"},
        },
    )
    return [json.loads(unpack(bytes(each["doc"]["B"])))["outcome"] for each in found["Items"]]

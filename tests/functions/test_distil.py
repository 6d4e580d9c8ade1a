"""The function that distils, on the whole stack: from the queue to a recipe, with a model on this machine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import boto3
import pytest

from provenloop.domain.distillation import Distillation
from provenloop.domain.names import MemoryId
from provenloop.domain.recipe import RecipeScope
from provenloop.entry.local.stack import LocalStack
from provenloop.entry.wiring import wiring
from provenloop.recipes.distillation import SCHEMA_VERSION
from provenloop.services.distil_recipe import Wanted, begin_distillation
from tests.builders import make_call, make_principal
from tests.functions.api import Api
from tests.functions.requests import ADMIN, NOW, ROOT
from tests.model_server import BROKEN, ModelServer, model_server, says

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

SECRET = "arn:aws:secretsmanager:us-east-1:123456789012:secret:model-key"
SUPPORT = MemoryId("default", "support")
LATER_MS = 10_000
ENVELOPE = {"problem": "How do I reset my password?", "final_message": "Open settings.", "signals": ["thumbs_up"]}
GOOD: dict[str, Any] = {
    "schema_version": SCHEMA_VERSION,
    "category": "accounts",
    "problem": "resetting a password",
    "positive_response": "Open settings, then choose Reset.",
    "principles": [],
    "confidence": 0.9,
    "safety_concern": False,
}


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with model_server() as made:
        yield made


@pytest.fixture(scope="module")
def running(server: ModelServer) -> Iterator[LocalStack]:
    parameters = {"ModelUrl": server.url, "ModelKeySecretArn": SECRET}
    with LocalStack(ROOT, parameters=parameters, dev_token=ADMIN, now_ms=NOW) as stack:
        yield stack


@pytest.fixture
def api(running: LocalStack, server: ModelServer) -> Api:
    running.reset()
    running.set_clock(NOW)
    server.seen.clear()
    server.keys = {"sk-ant-first"}
    secrets = boto3.client("secretsmanager", region_name="us-east-1")
    secrets.create_secret(Name="model-key", SecretString="sk-ant-first")
    made = Api(running)
    made.done("create_memory")
    return made


def begun(envelope: dict[str, Any] | None = None) -> Distillation:
    principal = replace(make_principal("ann"), tenant=SUPPORT.tenant)
    call = make_call(principal, memory=SUPPORT, now=NOW)
    wanted = Wanted(envelope or ENVELOPE, RecipeScope(agent="support"))
    current = wiring()
    return begin_distillation(current.store, current.distillations, call, wanted, has_model=True)


def ticked(api: Api, after_ms: int = LATER_MS) -> None:
    api.stack.set_clock(NOW + after_ms)
    report = api.stack.tick()
    assert (report.failed, report.retrying) == ([], 0)


def stored(job: Distillation) -> Distillation:
    found = wiring().store.distillation(SUPPORT, job.id)
    assert found is not None
    return found


def test_a_run_that_went_well_becomes_a_recipe_that_is_audited_and_counted(api: Api, server: ModelServer) -> None:
    server.plays(says(GOOD))
    job = begun()
    ticked(api)
    done = stored(job)
    assert done.status == "done"
    scope, _, name = done.recipe_id.partition("-")
    recipe = wiring().store.recipe(SUPPORT, scope, name)
    assert recipe is not None
    assert (recipe.request, recipe.response) == (ENVELOPE["problem"], GOOD["positive_response"])
    assert (recipe.provenance.run, recipe.provenance.model) == (job.id, "claude-opus-5-5")
    [row] = wiring().store.ledger(SUPPORT, NOW, NOW + 10**6, after=None, limit=9)
    assert row.usage == server.seen[0].charged
    assert api.done("verify_audit")["break"] is None
    assert api.stack.queue_depth("DistilQueue") == 0


def test_the_same_message_again_changes_nothing(api: Api, server: ModelServer) -> None:
    server.plays(says(GOOD))
    job = begun()
    ticked(api)
    before = api.stack.items()
    body = json.dumps({"tenant": "default", "memory": "support", "job": job.id})
    record = {"messageId": "m-1", "body": body, "attributes": {"SentTimestamp": str(NOW)}}
    for _ in range(2):
        invocation = api.stack.invoke("DistilFunction", {"Records": [record]})
        assert invocation.payload == {"batchItemFailures": []}
    assert api.stack.items() == before
    assert len(server.seen) == 1


def test_the_key_is_read_at_each_call(api: Api, server: ModelServer) -> None:
    server.plays(says(GOOD))
    secrets = boto3.client("secretsmanager", region_name="us-east-1")
    secrets.put_secret_value(SecretId="model-key", SecretString="sk-ant-second")
    first = begun()
    ticked(api)
    assert (stored(first).reason, stored(first).failure) == ("opus_error", "auth")
    server.keys = {"sk-ant-second"}
    second = begun({**ENVELOPE, "final_message": "Another."})
    ticked(api, 2 * LATER_MS)
    assert stored(second).status == "done"
    assert [seen.key for seen in server.seen] == ["sk-ant-second"] * 2


def test_a_model_that_fails_leaves_a_reason_and_no_message(api: Api, server: ModelServer) -> None:
    server.plays(BROKEN)
    job = begun()
    ticked(api)
    assert (stored(job).reason, stored(job).failure) == ("opus_error", "server")
    assert api.stack.queue_depth("DistilQueue") == 0


@pytest.mark.parametrize("sent_at", [NOW, NOW - 10**6])
def test_a_message_without_its_job_comes_again_for_a_while(api: Api, sent_at: int) -> None:
    body = json.dumps({"tenant": "default", "memory": "support", "job": "0" * 32})
    record = {"messageId": "m-1", "body": body, "attributes": {"SentTimestamp": str(sent_at)}}
    invocation = api.stack.invoke("DistilFunction", {"Records": [record]})
    failures = [{"itemIdentifier": "m-1"}] if sent_at == NOW else []
    assert invocation.payload == {"batchItemFailures": failures}

"""Loading a function imports no client of AWS, and nothing that only other functions or a developer's machine need.

What is imported is counted in modules, on top of those of an interpreter that does nothing: time differs by machine.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.functions.requests import ROOT

FUNCTIONS = [
    "ingest",
    "loop_api",
    "analyze",
    "apply",
    "approval",
    "dispatch",
    "jobs",
    "anchor",
    "lessons",
    "recipes",
    "distil",
    "mcp",
    "inbound",
    "inbox",
]
SAMPLES = ["analyzer_pii", "analyzer_house_style"]
#: Some more than there are: 477 of passes, which load most of all, 386 of events without HTTP, and 27 of a sample.
MOST_MODULES = {"analyze": 520, "inbound": 410, "inbox": 410, "analyzer_pii": 35, "analyzer_house_style": 35}
#: What only a pass needs that asks somebody outside.
OUTSIDE = ("provenloop.domain.pseudonyms", "provenloop.reflection.people", "provenloop.adapters.")
HEAVY = [
    "mcp",
    "mcp_types",
    "anthropic",
    "boto3",
    "botocore.client",
    "cryptography",
    "jwt",
    "pynamodb",
    "aws_xray_sdk",
    "moto",
    "httpx",
    "httpx2",
    "numpy",
    "tokenizers",
    "wordllama",
    "rich",
    "typer",
    "uvicorn",
    "yaml",
]
LOAD = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("app", "functions/{name}/app.py")
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
print(*sorted(set(sys.modules)))
"""


def loaded(name: str) -> set[str]:
    """The modules that a fresh interpreter has after it has loaded a function."""
    return set(run_alone(LOAD.format(name=name)).split())


def imported(name: str) -> set[str]:
    """The modules that loading a function adds."""
    return loaded(name) - set(run_alone("import importlib.util, sys; print(*sys.modules)").split())


def run_alone(code: str) -> str:
    """What a fresh interpreter prints."""
    run = [sys.executable, "-c", code]
    return subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=True).stdout  # noqa: S603 - our own code


SERVE = """
import sys, boto3
from tests.functions.recipe_desk import LOOK_ALIKE, NEAR, RecipeDesk, recipe_stack
with recipe_stack() as (stack, server):
    desk = RecipeDesk.opened(stack, server)
    desk.learn()
    for request in ("How do I reset my password?", NEAR):
        found = desk.match(request)
        desk.commit(found["hit_token"])
        print(found["hit"]["kind"], "anthropic" in sys.modules)
    secrets = boto3.client("secretsmanager", region_name="us-east-1")
    for key in (" ", "sk-ant-first"):
        secrets.put_secret_value(SecretId="model-key", SecretString=key)
        print(desk.match(LOOK_ALIKE)["reason"], "anthropic" in sys.modules)
"""


@pytest.fixture
def _quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POWERTOOLS_LOG_LEVEL", "CRITICAL")
    monkeypatch.setenv("POWERTOOLS_METRICS_DISABLED", "true")


@pytest.mark.usefixtures("_quiet")
def test_the_sdk_of_models_is_loaded_by_the_first_question_and_by_nothing_before() -> None:
    printed = run_alone(SERVE)
    assert printed.splitlines() == ["exact False", "semantic False", "near_miss False", "escalated True"]


PASS = """
import json, sys, boto3
from provenloop.entry.local.stack import LocalStack
from tests.finding_model import FACTS, play
from tests.functions.api import Api
from tests.functions.recipe_desk import SECRET
from tests.functions.requests import ADMIN, NOW, ROOT
from tests.model_server import model_server
with model_server() as server:
    server.plays(play)
    parameters = {"Model": "claude-opus-5-5", "ModelUrl": server.url, "ModelKeySecretArn": SECRET}
    with LocalStack(ROOT, parameters=parameters, dev_token=ADMIN, now_ms=NOW) as stack:
        api = Api(stack)
        api.done("create_memory")
        api.done("record_events", body={"events": FACTS})
        secrets = boto3.client("secretsmanager", region_name="us-east-1")
        secrets.create_secret(Name="model-key", SecretString=" ")
        for key in (" ", "sk-ant-first"):
            secrets.put_secret_value(SecretId="model-key", SecretString=key)
            message = {"messageId": key, "body": json.dumps({"tenant": "default", "memory": "support"})}
            assert stack.invoke("AnalyzeFunction", {"Records": [message]}).payload == {"batchItemFailures": []}
            found = api.done("list_recommendations")["recommendations"]
            names = ("anthropic", "provenloop.domain.pseudonyms")
            print(len(found), len(server.seen), *(name in sys.modules for name in names))
"""


@pytest.mark.usefixtures("_quiet")
def test_what_asks_models_about_a_memory_is_loaded_by_the_first_pass_that_asks_and_by_none_before() -> None:
    printed = run_alone(PASS)
    assert printed.splitlines() == ["0 0 False False", "1 3 True True"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_loading_a_function_imports_nothing_heavy(name: str) -> None:
    assert not loaded(name) & set(HEAVY)


@pytest.mark.parametrize("name", ["ingest", "inbound", "inbox"])
def test_a_function_loads_only_its_own_handlers(name: str) -> None:
    handlers = {module for module in loaded(name) if module.startswith("provenloop.entry.handlers.")}
    assert handlers == {f"provenloop.entry.handlers.{name}"}


def test_the_mcp_function_loads_no_use_case_that_answers_a_tool() -> None:
    assert not {module for module in loaded("mcp") if module.startswith("provenloop.entry.handlers.")}
    assert not {"provenloop.services.apply_change", "provenloop.adapters.dynamodb.store"} & loaded("mcp")


@pytest.mark.parametrize("name", ["dispatch", "anchor", "distil"])
def test_what_answers_no_requests_needs_no_models(name: str) -> None:
    assert "pydantic" not in loaded(name)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_needs_nothing_but_python(name: str) -> None:
    assert {module.partition(".")[0] for module in imported(name)} <= sys.stdlib_module_names


@pytest.mark.parametrize("name", MOST_MODULES)
def test_a_function_imports_so_many_modules_at_most(name: str) -> None:
    assert len(imported(name)) <= MOST_MODULES[name]


def test_passes_load_what_asks_others_only_where_they_ask_them() -> None:
    assert [module for module in loaded("analyze") if module.startswith(OUTSIDE)] == []

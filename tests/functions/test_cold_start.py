"""Loading a function imports no client of AWS, and nothing that only other functions or a developer's machine need."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.functions.requests import ROOT

FUNCTIONS = ["ingest", "loop_api", "analyze", "apply", "dispatch", "jobs", "anchor", "lessons", "recipes", "distil"]
HEAVY = [
    "anthropic",
    "boto3",
    "botocore.client",
    "cryptography",
    "jwt",
    "pynamodb",
    "aws_xray_sdk",
    "moto",
    "httpx",
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


def test_the_sdk_of_models_is_loaded_by_the_first_question_and_by_nothing_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("POWERTOOLS_LOG_LEVEL", "CRITICAL")
    monkeypatch.setenv("POWERTOOLS_METRICS_DISABLED", "true")
    printed = run_alone(SERVE)
    assert printed.splitlines() == ["exact False", "semantic False", "near_miss False", "escalated True"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_loading_a_function_imports_nothing_heavy(name: str) -> None:
    assert not loaded(name) & set(HEAVY)


def test_a_function_loads_only_its_own_handlers() -> None:
    handlers = {module for module in loaded("ingest") if module.startswith("provenloop.entry.handlers.")}
    assert handlers == {"provenloop.entry.handlers.ingest"}


@pytest.mark.parametrize("name", ["dispatch", "anchor", "distil"])
def test_what_answers_no_requests_needs_no_models(name: str) -> None:
    assert "pydantic" not in loaded(name)

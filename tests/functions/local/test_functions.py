"""Functions run as Lambda runs them."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from provenloop.entry.local.functions import FunctionHost, RequestIds
from provenloop.entry.local.intrinsics import TemplateError
from provenloop.entry.local.stack import LocalStack
from provenloop.entry.local.triggers import Function

SMALL = Path(__file__).parent / "small" / "functions"


def _host(
    code: str, tmp_path: Path, *, monotonic: Callable[[], float] = time.monotonic, extra: dict[str, str] | None = None
) -> FunctionHost:
    (tmp_path / "app.py").write_text(code, encoding="utf-8")
    function = Function(
        logical_id="F",
        name="stack-F",
        arn="arn:f",
        folder=tmp_path,
        module="app",
        handler="go",
        timeout_s=10,
        memory_mb=256,
        environment={"OF_F": "1"},
        retries=0,
        failure_arn=None,
    )
    return FunctionHost(function, extra=lambda: extra or {}, ids=RequestIds(), monotonic=monotonic)


def _told(stack: LocalStack, what: str) -> dict[str, Any]:
    told: dict[str, Any] = stack.request("GET", "/x").json()[what]
    return told


def test_a_function_sees_its_own_variables_resolved(small: LocalStack) -> None:
    environment = _told(small, "environment")
    assert environment["TABLE"] == "provenloop-local-Things"
    assert environment["COLOUR"] == "green"
    assert environment["ONLY_ECHO"] == "yes"
    assert environment["SECRET"] == "arn:aws:secretsmanager:us-east-1:123456789012:secret:provenloop-local-Key"
    assert environment["AWS_LAMBDA_FUNCTION_NAME"] == "provenloop-local-EchoFunction"
    assert environment["AWS_REGION"] == environment["AWS_DEFAULT_REGION"] == "us-east-1"
    assert "WORK" not in environment, "a variable of another function"


def test_a_function_sees_nothing_of_the_developers_own_account(
    small: LocalStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_PROFILE", "AWS_ENDPOINT_URL", "PROVENLOOP_TABLE"):
        monkeypatch.setenv(name, "mine")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "mine")
    environment = _told(small, "environment")
    assert not {"AWS_PROFILE", "AWS_ENDPOINT_URL", "PROVENLOOP_TABLE"} & environment.keys()
    assert environment["AWS_ACCESS_KEY_ID"] == "local"


def test_the_processs_own_environment_is_as_before_after_an_invocation(small: LocalStack) -> None:
    before = dict(os.environ)  # noqa: TID251 - the environment itself is what is tested
    small.request("GET", "/x")
    small.request("GET", "/x", {"x-raise": "no"})
    assert dict(os.environ) == before  # noqa: TID251


def test_the_context_is_lambdas(small: LocalStack) -> None:
    context = _told(small, "context")
    assert context["request_id"] == "00000001-0000-4000-8000-000000000000"
    assert context["name"] == "provenloop-local-EchoFunction"
    assert context["arn"] == "arn:aws:lambda:us-east-1:123456789012:function:provenloop-local-EchoFunction"
    assert context["memory"] == "128"
    assert 0 < context["remaining_ms"] <= 10_000


def test_function_folders_never_get_on_the_import_path(small: LocalStack) -> None:
    small.functions.load()
    assert not [entry for entry in sys.path if "functions" in Path(entry).parts]
    loaded = {sys.modules[f"functions.{name}.app"].__file__ for name in ("echo", "keep", "worker", "beat")}
    assert loaded == {str(SMALL / name / "app.py") for name in ("echo", "keep", "worker", "beat")}


def test_a_module_is_loaded_once_in_the_functions_own_environment(tmp_path: Path) -> None:
    begin = "import os\nseen = [os.environ['OF_F'], os.environ['EXTRA']]\n"
    code = f"{begin}def go(event, context):\n seen.append(event)\n return seen"
    host = _host(code, tmp_path, extra={"EXTRA": "2"})
    host.invoke("first")
    assert host.invoke("second").payload == ["1", "2", "first", "second"]


@pytest.mark.parametrize(
    ("body", "error_type"),
    [
        ("raise KeyError('x')", "KeyError"),
        ("raise SystemExit(1)", "SystemExit"),
        ("return {1, 2}", "Runtime.MarshalError"),
        ("return float('nan')", "Runtime.MarshalError"),
        ("return 'x' * 6291555", "Function.ResponseSizeTooLarge"),
    ],
)
def test_what_a_function_does_wrong_is_a_function_error(tmp_path: Path, body: str, error_type: str) -> None:
    outcome = _host(f"def go(event, context):\n {body}", tmp_path).invoke({})
    assert (outcome.failed, outcome.error_type) == (True, error_type)


def test_events_and_answers_pass_through_json(tmp_path: Path) -> None:
    host = _host("def go(event, context):\n event['seen'].append(1)\n return (event,)", tmp_path)
    event: dict[Any, Any] = {"seen": [], 1: "a"}
    assert host.invoke(event).payload == [{"seen": [1], "1": "a"}]
    assert event == {"seen": [], 1: "a"}


def test_an_event_over_6_mb_does_not_reach_the_function(tmp_path: Path) -> None:
    host = _host("def go(event, context):\n return len(event)", tmp_path)
    assert host.invoke("x" * 6_291_454).payload == 6_291_454
    assert host.invoke("x" * 6_291_455).error_type == "RequestEntityTooLargeException"


def test_a_function_that_takes_longer_than_its_timeout_has_failed(tmp_path: Path) -> None:
    clock: Iterator[float] = iter([0.0, 10.0, 20.0, 30.1])
    host = _host("def go(event, context):\n return 'done'", tmp_path, monotonic=lambda: next(clock))
    assert host.invoke({}).payload == "done"
    outcome = host.invoke({})
    assert outcome.error_type == "Sandbox.Timedout"
    assert outcome.payload["errorMessage"].endswith("Task timed out after 10.00 seconds")


def test_a_module_that_cannot_be_imported_fails_the_invocation_and_says_so_on_loading(tmp_path: Path) -> None:
    host = _host("import nothing_of_that_name\ndef go(event, context): ...", tmp_path)
    assert host.invoke({}).error_type == "Runtime.ImportModuleError"
    with pytest.raises(ModuleNotFoundError, match="nothing_of_that_name"):
        host.load()


def test_a_missing_file_or_handler_is_named(tmp_path: Path) -> None:
    host = _host("other = 1", tmp_path)
    with pytest.raises(TemplateError, match="F: there is no go in functions"):
        host.load()
    (tmp_path / "app.py").unlink()
    with pytest.raises(TemplateError, match=r"F: there is no .*app\.py"):
        host.load()

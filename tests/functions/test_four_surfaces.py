"""One day over HTTP, MCP, the Python client and the command line: the same ids, effects and codes."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from provenloop.cli.main import Surroundings, main
from provenloop.client import Options, Provenloop, ProvenloopError
from provenloop.entry.local.gateway import HttpResponse
from provenloop.entry.local.stack import LocalStack
from provenloop.entry.operations import NoCommand, Tool
from tests.faulty_service import faulty_service
from tests.functions.api import CALLS, VALUES, Api
from tests.functions.requests import ADMIN, MEMORY, NOW, ROOT, operation

DAY_MS = 86_400_000
LINE = {"project": "shop", "category": "deploys", "signature": "s", "detail": "d"}
#: What of the day is a command; the rest agents do.
TYPED = {
    "run_pass", "list_recommendations", "show_recommendation", "approve", "reject", "acknowledge", "snooze", "apply",
    "roll_back",
}  # fmt: skip
TOLD_OF_A_REFUSAL = ("status", "code", "detail", "field")

Told = tuple[Any, bool]
#: Takes an operation's name, what is sent, an Idempotency-Key and the id that the path names.
Step = Callable[[str, Mapping[str, Any], str, str | None], Told]


def refusal(problem: Mapping[str, Any]) -> Told:
    return {name: problem.get(name) for name in TOLD_OF_A_REFUSAL}, True


def answered(response: HttpResponse) -> Told:
    """What a response says, and whether it is a refusal."""
    return refusal(response.json()) if response.status >= 400 else (response.json(), False)


def over_http(api: Api, _: str) -> Step:
    def step(name: str, sent: Mapping[str, Any], key: str, named: str | None) -> Told:
        known = operation(name)
        path = {**MEMORY, "id": named} if named else MEMORY
        is_read = known.method == "GET"
        query = {field: str(value) for field, value in sent.items()} if is_read else None
        body = sent if known.body is not None else None
        return answered(api.call(name, path, body, query=query, key=None if is_read else key))

    return step


def over_mcp(api: Api, _: str) -> Step:
    def step(name: str, sent: Mapping[str, Any], key: str, named: str | None) -> Told:
        known = operation(name)
        assert isinstance(known.mcp, Tool)
        arguments = {**MEMORY, **sent} | ({} if known.mcp.action is None else {"action": known.mcp.action})
        arguments |= ({"id": named} if named else {}) | ({} if known.method == "GET" else {"idempotency_key": key})
        params = {"name": known.mcp.name, "arguments": arguments}
        call = json.dumps({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params})
        headers = {"content-type": "application/json", "authorization": f"Bearer {ADMIN}"}
        result = api.stack.request("POST", "/mcp", headers, call).json()["result"]
        found = result["structuredContent"]
        if result["isError"]:
            return refusal(found)
        return (found["run"] if name == "run_pass" else found), False

    return step


def over_client(api: Api, url: str) -> Step:
    by_http = over_http(api, url)

    def step(name: str, sent: Mapping[str, Any], key: str, named: str | None) -> Told:
        if name == "apply" and "because" not in sent:
            # Python itself refuses a call without what is needed.
            return by_http(name, sent, key, named)
        keyed = {} if operation(name).method == "GET" else {"key": key}
        with Provenloop(url, ADMIN, MEMORY["memory"]) as client:
            try:
                return getattr(client, str(operation(name).client))(*([named] if named else []), **sent, **keyed), False
            except ProvenloopError as error:
                return refusal(error.problem())

    return step


def over_command_line(api: Api, url: str, capture: pytest.CaptureFixture[str], home: Path) -> Step:
    by_http = over_http(api, url)
    named_like_this = {
        "PROVENLOOP_URL": url,
        "PROVENLOOP_TOKEN": ADMIN,
        "PROVENLOOP_MEMORY": "support",
        "HOME": str(home),
    }

    def step(name: str, sent: Mapping[str, Any], key: str, named: str | None) -> Told:
        words = operation(name).cli
        if name not in TYPED or isinstance(words, NoCommand) or (name == "apply" and "because" not in sent):
            return by_http(name, sent, key, named)
        options = [word for field, value in sent.items() for word in (f"--{field}", str(value))]
        arguments = [words.split(",")[0], *([named] if named else []), *options, "--json"]
        capture.readouterr()
        code = main(arguments, Surroundings(named_like_this, Options(new_key=lambda: key)))
        out, err = capture.readouterr()
        return refusal(json.loads(err)) if code else (json.loads(out), False)

    return step


def scenario(step: Step) -> Iterator[Told]:
    """A working day: what is found, decided, applied, undone, reported and refused."""
    keys = (f"key-{number}" for number in itertools.count())

    def take(name: str, sent: Mapping[str, Any] | None = None, named: str | None = None) -> Told:
        return step(name, sent or {}, next(keys), named)

    yield take("record_events", {"events": [*CALLS, *VALUES]})
    yield take("run_pass")
    queue = take("list_recommendations", {"limit": 10})
    yield queue
    first, second = (each["id"] for each in queue[0]["recommendations"])
    because = {"because": "seen"}
    yield take("list_recommendations", {"severity": "urgent"})
    yield take("list_recommendations", {"status": "waiting"})
    yield take("show_recommendation", named=first)
    for name in ("approve", "approve", "apply", "roll_back"):
        yield take(name, because, first)
    yield take("snooze", {**because, "until": NOW + DAY_MS}, second)
    yield take("snooze", {**because, "until": NOW + 100 * DAY_MS}, second)
    for name in ("reject", "acknowledge"):
        yield take(name, because, second)
    yield take("apply", because, "nobody")
    yield take("apply", {}, second)
    yield take("report_lesson", LINE)
    yield take("report_lesson", {**LINE, "colour": "red"})
    yield take("show_context", {"project": "shop", "k": 3})
    yield take("show_context", {"project": "shop", "k": 3000})
    yield take("recall", {"question": "deploy target"})
    yield take("recall", {"limit": 0, "subject": "s"})
    # Whether a match is found in time depends on how quick the machine is; how a bad one is refused does not.
    yield take("match_recipe", {"request": "Why?", "scope": {}})
    yield take("commit_recipe", {"hit_token": "x"})


@contextmanager
def stack() -> Iterator[Api]:
    """A stack whose ids repeat by its seed, with the memory in it."""
    with LocalStack(ROOT, dev_token=ADMIN, now_ms=NOW, seed="day") as running:
        api = Api(running)
        api.done("create_memory")
        yield api


def day_over(surface: Callable[[Api, str], Step]) -> tuple[list[Told], list[str]]:
    """What a day was answered over one surface, and its audit trail."""
    with stack() as api, faulty_service(api.stack) as service:
        return list(scenario(surface(api, service.url))), sorted(api.call("export_audit").text.splitlines())


@pytest.fixture
def _quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POWERTOOLS_METRICS_DISABLED", "true")
    monkeypatch.setenv("POWERTOOLS_LOG_LEVEL", "CRITICAL")


@pytest.mark.usefixtures("_quiet")
@pytest.mark.allow_hosts(["127.0.0.1"])
def test_a_day_has_the_same_ids_effects_and_codes_over_all_four_surfaces(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    asked, trail = day_over(over_http)
    assert {is_refusal for _, is_refusal in asked} == {True, False}
    assert len(trail) == 7
    for surface in (over_mcp, over_client, lambda api, url: over_command_line(api, url, capsys, tmp_path)):
        for expected, found in zip(asked, (other := day_over(surface))[0], strict=True):
            assert found == expected
        assert other[1] == trail

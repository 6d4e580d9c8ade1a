"""Hooks of coding agents: what they tell and record, and that they never stop their agent."""

from __future__ import annotations

import io
import json
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from provenloop.cli.hooks import EVENTS, LIMITS_S, tool_call_of
from provenloop.client import Options
from provenloop.entry.models.events import EventsRequest
from tests.faulty_service import Fault, FaultyServer, faulty_service
from tests.functions.api import CALLS, Api
from tests.functions.command_line import CommandLine
from tests.functions.requests import ADMIN

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

PROGRAM = str(Path(sys.executable).with_name("provenloop"))
GONE = "http://127.0.0.1:9"
STARTS = {"session_id": "s-1", "cwd": "/work/shop", "hook_event_name": "SessionStart"}
LINE = {"project": "shop", "category": "deploys", "signature": "s", "detail": "d"}
SECRET = "s3cret-payload"


class Agent(CommandLine):
    """Calls hooks as a coding agent does."""

    monkeypatch: pytest.MonkeyPatch

    def hook(self, event: str, given: Any, *options: str, **how: Any) -> str:
        """What the agent is told; it is never more than that, and never an error."""
        text = given if isinstance(given, str) else json.dumps(given)
        self.monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        assert self("hook", event, *options, **how) == 0
        assert self.err.count("\n") <= 1
        return self.out


@pytest.fixture
def agent(
    monkeypatch: pytest.MonkeyPatch, service: FaultyServer, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Agent:
    monkeypatch.setenv("POWERTOOLS_METRICS_DISABLED", "true")
    monkeypatch.setenv("POWERTOOLS_LOG_LEVEL", "CRITICAL")
    known = Agent(service.url, capsys, str(tmp_path), Options(sleep=lambda _: None))
    known.monkeypatch = monkeypatch
    return known


@pytest.fixture
def silent() -> Iterator[FaultyServer]:
    """A port behind which nobody answers before the test is over."""
    with faulty_service(None) as server:
        server.faults += [Fault(waits_s=30)] * 9
        yield server


def arm_a_rule(api: Api) -> None:
    card = api.done("report_lesson", body={**LINE, "statement": "Deploy from main only."})["card"]
    reviewer = api.mint("reviewer", "review", kind="human")
    path = {"memory": "support", "id": card, "action": "arm"}
    api.done("act_on_card", path, {"because": "so", "statement": "Deploy from main only."}, token=reviewer)


def test_a_session_that_starts_is_told_the_context_of_its_project(agent: Agent, api: Api) -> None:
    arm_a_rule(api)
    told = agent.hook("session-start", STARTS)
    assert told.startswith("<provenloop")
    assert "Deploy from main only." in told
    assert told == f"{api.done('show_context', query={'session': 's-1'})['block']}\n"
    assert "Deploy" not in agent.hook("session-start", {**STARTS, "session_id": "s-2", "cwd": "/work/other"})
    assert "Deploy" in agent.hook("session-start", {"session_id": "s-3"}, "--project", "shop")
    assert "Deploy" in agent.hook("session-start", {"cwd": "/work/shop"})


def test_a_token_that_may_only_read_is_told_the_same(agent: Agent, api: Api) -> None:
    arm_a_rule(api)
    assert "Deploy" in agent.hook("session-start", STARTS, token=api.mint("reader", "read"))
    assert agent.err == ""


def test_a_prompt_is_told_it_once_a_session_and_never_after_a_start(agent: Agent, api: Api) -> None:
    arm_a_rule(api)
    assert "Deploy" in agent.hook("prompt", {**STARTS, "prompt": SECRET})
    assert agent.hook("prompt", {**STARTS, "prompt": SECRET}) == ""
    agent.hook("session-start", {**STARTS, "session_id": "s-2"})
    assert agent.hook("prompt", {**STARTS, "session_id": "s-2"}) == ""
    assert agent.hook("prompt", {}) == ""


@pytest.mark.parametrize(
    ("given", "is_error"),
    [
        ({"tool_response": {"stdout": "fine"}}, False),
        ({"tool_response": {"is_error": True, "content": "no"}}, True),
        ({"tool_response": {"success": False}}, True),
        ({"tool_response": {"exit_code": 2, "stderr": "usage"}}, True),
        ({"tool_response": "Error: no such file"}, True),
        ({"error": "timed out", "is_interrupt": False}, True),
        ({}, False),
    ],
)
def test_a_tool_call_is_recorded_with_whether_it_failed(agent: Agent, given: dict[str, Any], is_error: bool) -> None:
    used = {"session_id": "s-1", "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t-1", **given}
    assert (agent.hook("after-tool", used), agent.err) == ("", "")
    agent.hook("after-tool", used)
    ran = agent.json("run")
    assert (ran["new_grains"], ran["new_error_events"]) == (1, int(is_error))


def test_calls_without_an_id_are_all_recorded(agent: Agent) -> None:
    for _ in range(2):
        agent.hook("after-tool", {"session_id": "s-1", "tool_name": "Bash", "tool_response": "ok"})
    assert agent.json("run")["new_grains"] == 2


def test_a_result_of_a_megabyte_is_cut_to_what_may_be_sent() -> None:
    event = tool_call_of({"tool_name": "Read", "tool_use_id": "t", "tool_response": {"text": "é" * 1_000_000}})
    assert len(json.dumps(event)) < 1_000_000
    EventsRequest.model_validate({"events": [event]})


def test_a_session_that_ends_runs_a_pass_where_there_is_enough_that_is_new(agent: Agent, api: Api) -> None:
    agent.hook("session-start", STARTS)
    for number in range(2):
        used = {"session_id": "s-1", "tool_name": "Bash", "tool_use_id": f"t-{number}", "error": "no"}
        agent.hook("after-tool", used)
    assert (agent.hook("session-end", STARTS), agent.err) == ("", "")
    assert api.done("loop_health")["last_run_at"] is None
    agent.hook("after-tool", {"session_id": "s-1", "tool_name": "Bash", "tool_use_id": "t-9", "error": "no"})
    assert (agent.hook("session-end", {"session_id": "s-1"}), agent.err) == ("", "")
    assert api.done("loop_health")["last_run_at"] is not None


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize(
    "given",
    ["", "{", "null", "[1]", '"text"', "\x00\xff", '{"session_id": 7, "cwd": 8, "tool_name": 9}', "[" * 100_000],
)
def test_garbage_on_stdin_is_one_line_at_most(agent: Agent, event: str, given: str) -> None:
    agent.hook(event, given)


@pytest.mark.parametrize("event", EVENTS)
def test_a_service_that_refuses_is_one_line(agent: Agent, event: str) -> None:
    given = {**STARTS, "tool_name": "Bash", "tool_use_id": "t", "tool_response": SECRET}
    for how in ({"token": "wrong"}, {"memory": "nowhere"}, {"memory": None}):
        assert agent.hook(event, given, **how) == ""
        assert agent.err.startswith(f"provenloop hook {event}: ")
        assert SECRET not in agent.err
        assert "wrong" not in agent.err
    assert agent.hook(event, given, "--colour", "red") == ""
    assert "--project" in agent.err


def program(event: str, text: bytes, url: str, *options: str) -> tuple[subprocess.CompletedProcess[bytes], float]:
    """(what the installed program did, how long it took in seconds)."""
    environment = {"PROVENLOOP_URL": url, "PROVENLOOP_TOKEN": ADMIN, "PROVENLOOP_MEMORY": "support", "HOME": "/nowhere"}
    began = time.monotonic()
    ran = subprocess.run(  # noqa: S603 - our own program
        [PROGRAM, "hook", event, *options], input=text, capture_output=True, env=environment, check=False, timeout=60
    )
    return ran, time.monotonic() - began


@pytest.mark.parametrize("event", EVENTS)
def test_with_a_service_that_never_answers_a_hook_ends_in_its_time(silent: FaultyServer, event: str) -> None:
    given = json.dumps({**STARTS, "tool_name": "Bash", "tool_use_id": "t", "tool_response": "x" * 1_000_000}).encode()
    ran, took_s = program(event, given, silent.url, "--limit", "0.5")
    assert (ran.returncode, ran.stdout, ran.stderr.count(b"\n")) == (0, b"", 1)
    assert took_s < 10


@pytest.mark.parametrize("event", EVENTS)
def test_with_a_service_that_is_gone_a_hook_says_so_and_ends(event: str) -> None:
    given = json.dumps({**STARTS, "tool_name": "Bash", "tool_use_id": "t"}).encode()
    ran, _ = program(event, given, GONE)
    assert (ran.returncode, ran.stdout, ran.stderr.count(b"\n")) == (0, b"", 1)
    assert b"unreachable" in ran.stderr


def test_an_agent_that_never_closes_stdin_is_not_waited_for() -> None:
    began = time.monotonic()
    with subprocess.Popen(  # noqa: S603 - our own program
        [PROGRAM, "hook", "after-tool", "--limit", "0.5"], stdin=subprocess.PIPE, stderr=subprocess.PIPE, env={}
    ) as ran:
        assert ran.wait(timeout=30) == 0
        assert ran.stderr is not None
        assert b"not done in 0.5 s" in ran.stderr.read()
    assert time.monotonic() - began < 10


def test_a_hook_loads_nothing_that_only_commands_need() -> None:
    code = f"""
import sys
from provenloop.cli.main import Surroundings, main
main(["hook", "after-tool"], Surroundings({{"PROVENLOOP_URL": {GONE!r}, "PROVENLOOP_MEMORY": "m", "HOME": "/nowhere"}}))
print(*sys.modules)
"""
    given = b'{"tool_name": "t"}'
    ran = subprocess.run([sys.executable, "-c", code], input=given, capture_output=True, check=True)  # noqa: S603
    loaded = set(ran.stdout.decode().split())
    assert b"unreachable" in ran.stderr
    assert not {"typer", "pydantic", "boto3", "argparse", "provenloop.services"} & loaded


def test_print_shows_settings_that_call_hooks_by_their_absolute_path_and_changes_nothing(
    agent: Agent, tmp_path: Path
) -> None:
    assert agent("hook", "print", "--project", "my shop") == 0
    shown = json.loads(agent.out)["hooks"]
    assert set(shown) == {"SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "SessionEnd"}
    for entries in shown.values():
        [entry] = entries[0]["hooks"]
        path, hook, event, *options = shlex.split(entry["command"])
        assert Path(path).is_absolute()
        assert Path(path).is_file()
        assert (hook, options) == ("hook", ["--project", "my shop"])
        assert entry["timeout"] > LIMITS_S[event]
    assert shown["PostToolUse"][0]["matcher"] == "*"
    assert list(tmp_path.iterdir()) == []


def test_a_hook_that_is_none_is_no_command(agent: Agent) -> None:
    assert agent("hook", "explode") == 1


def test_hooks_at_the_same_time_do_not_hinder_each_other(service: FaultyServer) -> None:
    calls = [
        json.dumps({"session_id": "s", "tool_name": "t", "tool_use_id": str(number)}).encode() for number in range(4)
    ]
    threads = [
        threading.Thread(target=program, args=("after-tool", call, service.url, "--limit", "60")) for call in calls
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({seen.body for seen in service.seen}) == len(CALLS[:4])

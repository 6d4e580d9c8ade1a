"""External analyzers in the whole system: registered by the host, asked in passes, bounded whatever they do."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from provenloop.entry.local.stack import LocalStack
from tests.functions.api import CALLS, VALUES, Api
from tests.functions.requests import ADMIN, NOW, ROOT

NOTE = {"kind": "observation", "text": "ann is at ann.lee@mail.example"}
NEEDS = ["fact", "observation", "tool_call"]
PII = shlex.join([sys.executable, str(ROOT / "functions/analyzer_pii/app.py")])
FINDING = '{"target": "entity:shared/ann", "summary": "x", "evidence": [sent["grains"][0]["hash"]]}'


def program(answer: str, probe: str = "{}") -> str:
    """A command that answers with these expressions; ``sent`` is what it was asked."""
    code = f"""
import json, sys, time
sent = json.load(sys.stdin)
print(json.dumps({probe} if sent["op"] == "probe" else {answer}))
"""
    return shlex.join([sys.executable, "-c", code])


@pytest.fixture(scope="module")
def governed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalStack]:
    """The system with a file for its policy."""
    file = tmp_path_factory.mktemp("host") / "policy.json"
    with LocalStack(ROOT, dev_token=ADMIN, now_ms=NOW, policy_file=file) as stack:
        yield stack


@pytest.fixture
def host(governed: LocalStack) -> Api:
    """The whole system with one memory, and no analyzer but its own."""
    governed.reset()
    governed.set_clock(NOW)
    api = Api(governed)
    register(api, {})
    api.done("create_memory")
    return api


def register(api: Api, commands: dict[str, str], timeout_ms: int = 10_000) -> None:
    """What the operator writes."""
    analyzers = [
        {"id": f"ext.{name}/1", "endpoint": f"command:{line}", "needs": NEEDS, "timeout_ms": timeout_ms}
        for name, line in commands.items()
    ]
    assert api.stack.policy_file is not None
    api.stack.policy_file.write_text(json.dumps({"analyzers": analyzers}), encoding="utf-8")


def run(api: Api, *, token: str | None = ADMIN) -> dict[str, Any]:
    outcome: dict[str, Any] = api.done("run_pass", body={}, token=token)
    return outcome


def skipped(outcome: dict[str, Any]) -> dict[str, str]:
    return {each["id"]: each["reason"] for each in outcome["analyzers_skipped"] if each["id"].startswith("ext.")}


def queue(api: Api, **filters: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = api.done("list_recommendations", query=filters)["recommendations"]
    return rows


def test_what_a_registered_analyzer_finds_waits_for_people_other_than_whoever_asked(host: Api) -> None:
    register(host, {"pii": PII})
    host.done("record_events", body={"events": [NOTE]})
    runner = host.mint("runner", "write", "review", "read")
    outcome = run(host, token=runner)
    assert (outcome["analyzers_run"][-1], outcome["stored"]) == ("ext.pii/1", 1)
    assert outcome["external"] == [{"id": "ext.pii/1", "title": "Personal data", "kept": 1, "dropped": {}}]
    [row] = queue(host, analyzer="ext.pii")
    assert (row["origin"], row["severity"], row["rollbackable"]) == ("command:ext.pii/1", "medium", False)
    assert row["summary"] == "An observation seems to hold an e-mail address"
    decided = {"because": "agreed"}
    path = {"memory": "support", "id": row["id"]}
    assert host.refused(host.call("approve", path, decided, token=runner))[0] == 403
    reviewer = host.mint("reviewer", "review", "read")
    assert host.done("acknowledge", path, decided, token=reviewer)["status"] == "acknowledged"


def test_one_that_a_memory_switched_off_is_not_asked(host: Api) -> None:
    register(host, {"pii": PII})
    host.done("configure", body={"analyzer": "ext.pii", "enabled": False})
    host.done("record_events", body={"events": [NOTE]})
    assert skipped(run(host)) == {"ext.pii/1": "disabled"}


def test_one_that_hangs_floods_or_breaks_is_skipped_with_a_reason_and_the_pass_stands(host: Api) -> None:
    host.done("record_events", body={"events": [*CALLS, *VALUES]})
    hostile = {
        "hangs": program("time.sleep(60)"),
        "floods": program("'x' * 10_000_000"),
        "breaks": program("1 / 0"),
        "garbage": program("[1, 2]"),
        "missing": "there-is-no-such-program",
    }
    register(host, hostile, timeout_ms=2_000)
    outcome = run(host)
    assert skipped(outcome) == {
        "ext.hangs/1": "timeout",
        "ext.floods/1": "too_large",
        "ext.breaks/1": "failed",
        "ext.garbage/1": "garbage",
        "ext.missing/1": "unreachable",
    }
    assert (outcome["outcome"], outcome["stored"]) == ("ran", 2)
    assert [each for each in outcome["analyzers_run"] if each.startswith("ext.")] == []
    assert {row["analyzer"] for row in queue(host)} == {"loop.contradiction_sweep/1", "loop.tool_failure/1"}


def test_one_that_lies_about_who_it_is_what_it_saw_or_where_it_aims_leaves_nothing_behind(host: Api) -> None:
    host.done("record_events", body={"events": [*CALLS, *VALUES]})
    register(
        host,
        {
            "builtin": program(f'{{"findings": [{FINDING}]}}', '{"id": "loop.cold_grains/1"}'),
            "fakes": program(f'{{"findings": [{{**{FINDING}, "evidence": ["ab" * 32]}}]}}'),
            "aims": program(f'{{"findings": [{{**{FINDING}, "target": "host:crontab"}}]}}'),
        },
    )
    outcome = run(host)
    assert skipped(outcome) == {"ext.builtin/1": "wrong id"}
    assert {"ext.fakes/1", "ext.aims/1"} <= set(outcome["analyzers_run"])
    assert outcome["external"] == [
        {"id": "ext.fakes/1", "title": "ext.fakes/1", "kept": 0, "dropped": {"evidence": 1}},
        {"id": "ext.aims/1", "title": "ext.aims/1", "kept": 0, "dropped": {"target": 1}},
    ]
    assert {row["analyzer"] for row in queue(host)} == {"loop.contradiction_sweep/1", "loop.tool_failure/1"}


def test_commands_that_a_local_stack_is_begun_with_go_by_the_names_they_tell(tmp_path: Path) -> None:
    told = (
        "import json, sys; print({'probe': '{\"id\": \"%s\"}'}.get(json.load(sys.stdin)['op'], '{\"findings\": []}'))"
    )
    scripts = {
        "acme.py": told % "Acme Finder/3",
        "posing.py": told % "loop.cold_grains/1",
        "my finder.py": "raise SystemExit(1)",
    }
    for name, code in scripts.items():
        (tmp_path / name).write_text(code, encoding="utf-8")
    commands = [PII, *(shlex.join([sys.executable, str(tmp_path / name)]) for name in scripts)]
    with LocalStack(ROOT, dev_token=ADMIN, now_ms=NOW, analyzer_commands=commands) as stack:
        api = Api(stack)
        api.done("create_memory")
        api.done("record_events", body={"events": [NOTE]})
        outcome = run(api)
        shown = [each["id"] for each in api.done("show_policy")["policy"]["analyzers"]]
        assert shown == ["ext.pii/1", "ext.acme_finder/1", "ext.posing/1", "ext.my_finder/1"]
        assert skipped(outcome) == {"ext.posing/1": "wrong id", "ext.my_finder/1": "failed"}
        assert [row["analyzer"] for row in queue(api)] == ["ext.pii/1"]

"""The host policy over HTTP: what is in force, what is wrong with it, and that passes and recalls follow it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from provenloop.entry.local.stack import LocalStack
from tests.functions.api import CALLS, Api
from tests.functions.requests import ADMIN, NOW, ROOT

GRANT = {"analyzer": "loop.duplicate_sweep", "targets": ["memory"], "max_severity": "low"}


@pytest.fixture(scope="module")
def governed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalStack]:
    """The system with a file for its policy."""
    file = tmp_path_factory.mktemp("host") / "policy.json"
    with LocalStack(ROOT, dev_token=ADMIN, now_ms=NOW, policy_file=file) as stack:
        yield stack


@pytest.fixture
def host(governed: LocalStack) -> Api:
    """The whole system, empty, with one memory and an empty policy."""
    governed.reset()
    governed.set_clock(NOW)
    api = Api(governed)
    api.done("create_memory")
    put(api, {})
    return api


def put(api: Api, policy: Any) -> None:
    """What the operator writes."""
    assert api.stack.policy_file is not None
    api.stack.policy_file.write_text(policy if isinstance(policy, str) else json.dumps(policy), encoding="utf-8")


def skipped(outcome: dict[str, Any]) -> dict[str, str]:
    return {skip["id"]: skip["reason"] for skip in outcome["analyzers_skipped"]}


def test_without_a_policy_the_closed_one_is_shown_and_nothing_is_at_fault(api: Api) -> None:
    api.done("create_memory")
    shown = api.done("show_policy")
    assert (shown["state"], shown["faults"]) == ("none", [])
    assert shown["policy"] == {
        "auto_apply_enabled": False, "auto_apply": [], "deny": [], "severity_floors": {}, "telemetry": "aggregate",
        "review": {"start_workflow_at": None}, "analyzers": [], "pseudonymize": {"enabled": False, "names": 0},
    }  # fmt: skip
    assert api.done("loop_health")["policy"] == {"state": "none", "faults": []}


def test_the_policy_in_force_is_shown_and_changed_by_no_client(host: Api) -> None:
    put(host, {"auto_apply_enabled": True, "auto_apply": [GRANT], "review": {"start_workflow_at": "high"}})
    shown = host.done("show_policy")
    assert (shown["state"], shown["faults"]) == ("in_force", [])
    assert shown["policy"]["auto_apply"] == [GRANT]
    assert shown["policy"]["review"] == {"start_workflow_at": "high"}
    refused = host.call("configure", body={"analyzer": "loop.duplicate_sweep", "auto_apply": [GRANT]})
    assert host.refused(refused) == (400, "PVL-E011")
    assert host.done("show_policy") == shown


def test_how_many_names_are_listed_is_shown_and_none_of_them_also_while_a_later_policy_is_refused(host: Api) -> None:
    put(host, {"pseudonymize": {"enabled": True, "names": ["Maria Lopez", "Project Zeus"]}})
    assert host.done("show_policy")["policy"]["pseudonymize"] == {"enabled": True, "names": 2}
    put(host, {"pseudonymize": True})
    shown = host.done("show_policy")
    assert [fault["field"] for fault in shown["faults"]] == ["pseudonymize"]
    assert shown["policy"]["pseudonymize"] == {"enabled": True, "names": 2}


def test_health_says_loudly_what_is_wrong_and_passes_run_closed(host: Api) -> None:
    put(host, {"deny": ["loop.tool_failure", "loop.tool_failures"], "telemetry": "off"})
    health = host.done("loop_health")["policy"]
    assert health["state"] == "refused"
    assert [(fault["field"], fault["code"]) for fault in health["faults"]] == [("deny[1]", "PVL-E011")]
    host.done("record_events", body={"events": CALLS})
    outcome = host.done("run_pass", body={})
    assert outcome["stored"] == 1
    assert set(skipped(outcome).values()) == {"disabled"}
    assert host.done("show_telemetry")["mode"] == "aggregate"


def test_what_the_policy_denies_does_not_run(host: Api) -> None:
    put(host, {"deny": ["loop.tool_failure/1"]})
    host.done("record_events", body={"events": CALLS})
    outcome = host.done("run_pass", body={})
    assert skipped(outcome)["loop.tool_failure/1"] == "denied by host policy"
    assert outcome["stored"] == 0
    [row] = [row for row in host.done("list_analyzers")["analyzers"] if row["id"] == "loop.tool_failure/1"]
    assert (row["enabled"], row["skip_reason"]) == (False, "denied by host policy")
    put(host, {})
    assert host.done("run_pass", body={})["stored"] == 1


def test_telemetry_that_is_off_records_no_recall_and_its_analyzers_say_so(host: Api) -> None:
    put(host, {"telemetry": "off"})
    host.done("record_events", body={"events": CALLS})
    outcome = host.done("run_pass", body={})
    needing = {"loop.cold_grains/1", "loop.coverage_gap/1", "loop.budget_pressure/1"}
    assert {name for name, why in skipped(outcome).items() if why == "missing capability: telemetry"} == needing
    before = host.stack.items()
    host.done("recall", query={"question": "who holds the key?"})
    assert host.stack.items() == before


def test_full_telemetry_keeps_a_row_for_each_recall(host: Api) -> None:
    put(host, {"telemetry": "full"})
    host.done("record_events", body={"events": CALLS})
    host.done("recall", query={"question": "who holds the key?", "run_id": "r-1"})
    assert sum(item["sk"]["S"].startswith("R#RECALL#") for item in host.stack.items()["Table"]) == 1
    assert host.done("show_telemetry")["mode"] == "full"


def test_the_higher_of_two_floors_holds(host: Api) -> None:
    put(host, {"severity_floors": {"loop.tool_failure": "high"}})
    host.done("configure", body={"analyzer": "loop.tool_failure", "severity_floor": "low"})
    [row] = [row for row in host.done("list_analyzers")["analyzers"] if row["id"] == "loop.tool_failure/1"]
    assert row["severity_floor"] == "high"
    host.done("record_events", body={"events": CALLS[2:]})
    outcome = host.done("run_pass", body={})
    assert (outcome["stored"], outcome["suppressed"]) == (0, 1)
    put(host, {})
    assert host.done("run_pass", body={})["stored"] == 1


def test_a_policy_that_is_not_where_it_was_said_to_be_is_a_fault(host: Api) -> None:
    assert host.stack.policy_file is not None
    Path(host.stack.policy_file).unlink()
    shown = host.done("show_policy")
    assert shown["state"] == "unreadable"
    assert [fault["code"] for fault in shown["faults"]] == ["PVL-E040"]


def test_the_policy_is_for_those_who_may_read(host: Api) -> None:
    writer = host.mint("writer", "write")
    assert host.refused(host.call("show_policy", token=writer)) == (403, "PVL-E022")
    reader = host.mint("reader", "read")
    assert host.done("show_policy", token=reader)["state"] == "in_force"


def test_external_analyzers_are_shown_without_what_may_be_secret(host: Api) -> None:
    limits = {"timeout_ms": 10_000, "max_bytes": 1_000_000}
    registered = {"id": "ext.pii/1", "endpoint": "https://pii.example/analyze?code=secret", "needs": ["fact"]}
    command = {"id": "ext.finder/1", "endpoint": "command:./finder.py --key secret", "needs": ["goal"]}
    put(host, {"analyzers": [registered, command]})
    assert host.done("show_policy")["policy"]["analyzers"] == [
        {**registered, **limits, "endpoint": "https://pii.example"},
        {**command, **limits, "endpoint": "command:./finder.py"},
    ]


def test_a_memory_restricts_what_the_host_registered_and_gives_it_no_parameters(host: Api) -> None:
    registered = {"id": "ext.pii/1", "endpoint": "https://pii.example/", "needs": ["fact", "tool_call"]}
    refused = host.call("configure", body={"analyzer": "ext.pii", "enabled": False})
    assert host.refused(refused) == (404, "PVL-E040")
    put(host, {"analyzers": [registered], "severity_floors": {"ext.pii": "low"}})
    own = {"severity_floor": "medium", "namespaces": ["shared"]}
    [row] = [
        row
        for row in host.done("configure", body={"analyzer": "ext.pii/1", **own})["analyzers"]
        if row["id"] == "ext.pii/1"
    ]
    told = {name: row[name] for name in ("trust", "kinds", "parameters", "auto_apply", "enabled", *own)}
    assert told == {
        "trust": "command", "kinds": ["fact", "tool_call"], "parameters": [], "auto_apply": "never",
        "enabled": True, **own,
    }  # fmt: skip
    host.done("configure", body={"analyzer": "ext.pii", "enabled": False})
    shown = {row["id"]: row["skip_reason"] for row in host.done("list_analyzers")["analyzers"]}
    assert shown["ext.pii/1"] == "disabled"
    refused = host.call("configure", body={"analyzer": "ext.pii", "parameters": {"strict": True}})
    assert host.refused(refused)[0] == 400


def test_the_queue_may_be_read_by_external_analyzers_also_when_they_are_registered_no_more(host: Api) -> None:
    for name in ("ext.pii", "ext.pii/1", "loop.llm", "loop.tool_failure/1"):
        assert host.done("list_recommendations", query={"analyzer": name})["recommendations"] == []
    for name in ("ext.", "ext.PII", "pii", "ext.pii/x", "loop.pii"):
        refused = host.call("list_recommendations", query={"analyzer": name})
        assert host.refused(refused) == (400, "PVL-E011")


def test_without_a_model_the_findings_of_models_are_a_capability_that_is_missing(host: Api) -> None:
    shown = {row["id"]: row["skip_reason"] for row in host.done("list_analyzers")["analyzers"]}
    assert shown["loop.llm/1"] == "missing capability: model"
    with LocalStack(ROOT, dev_token=ADMIN, now_ms=NOW, parameters={"Model": "claude-opus-5-5"}) as stack:
        api = Api(stack)
        api.done("create_memory")
        shown = {row["id"]: row["skip_reason"] for row in api.done("list_analyzers")["analyzers"]}
        assert shown["loop.llm/1"] is None
        told = api.done("configure", body={"analyzer": "loop.llm", "parameters": {"min_confidence": 0.9}})
    [row] = [row for row in told["analyzers"] if row["id"] == "loop.llm/1"]
    assert (row["skip_reason"], row["effective"]["min_confidence"]) == (None, 0.9)


def test_a_policy_may_deny_what_models_find(host: Api) -> None:
    put(host, {"deny": ["loop.llm"], "severity_floors": {"loop.llm/1": "medium"}})
    shown = {row["id"]: row["skip_reason"] for row in host.done("list_analyzers")["analyzers"]}
    assert shown["loop.llm/1"] == "denied by host policy"
    put(host, {"auto_apply": [{**GRANT, "analyzer": "loop.llm"}]})
    assert host.done("show_policy")["state"] == "refused"

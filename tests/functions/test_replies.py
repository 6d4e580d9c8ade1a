"""Every answer has the form that the OpenAPI document promises, all along the life of a finding."""

from __future__ import annotations

import json
from typing import Any

import pytest

from provenloop.entry.openapi import reply_model
from provenloop.entry.operations import OPERATIONS
from provenloop.services import audit_export
from tests.functions.api import CALLS, VALUES, Api
from tests.functions.requests import EVENT, GOAL, MEMORY, NOTE, NOW, SKILL, http_event, operation

ECHO = "<provenloop what=rules>"
BECAUSE = {"because": "Seen in three sessions."}


def asked(api: Api, name: str, path: Any = None, body: Any = None, **how: Any) -> Any:
    """The answer, held against its model in the document."""
    answer = api.done(name, MEMORY if path is None else path, body, **how)
    promised = operation(name).reply
    if promised is not None:
        reply_model(promised).model_validate(answer)
    return answer


def test_every_operation_answers_as_promised(api: Api) -> None:
    asked(api, "health", {}, token=None)
    asked(api, "openapi", {}, token=None)
    asked(api, "create_memory")
    asked(api, "list_memories", {})
    asked(api, "mint_token", {}, {"label": "x", "kind": "agent", "memories": "*", "scopes": ["read"]})
    recorded = asked(api, "record_events", body={"events": [*CALLS, *VALUES, VALUES[0]]})
    asked(api, "record_events", body={"events": [{**CALLS[0], "result": "differs"}, *VALUES]})
    kinds = asked(api, "record_events", body={"events": [SKILL, GOAL, EVENT, {**NOTE, "text": ECHO}]})
    for event in kinds["events"][:3]:
        asked(api, "show_grain", {**MEMORY, "address": event["address"]})
    replaced = {"kind": "supersede", "target": kinds["events"][1]["address"], "with": {**GOAL, "name": "other"}}
    asked(api, "record_events", body={"events": [replaced]})
    ran = asked(api, "run_pass", body={})
    skipped = asked(api, "run_pass", body={"min_new": 1})
    assert (ran["outcome"], skipped["outcome"]) == ("ran", "skipped")
    assert asked(api, "show_run", {**MEMORY, "run": ran["run"]}) == ran
    asked(api, "loop_health")
    asked(api, "list_analyzers")
    asked(api, "show_policy")
    asked(api, "configure", body={"analyzer": "loop.goal_stagnation", "enabled": True, **BECAUSE})
    lesson, conflict = asked(api, "list_recommendations")["recommendations"]
    at_lesson, at_conflict = ({**MEMORY, "id": row["id"]} for row in (lesson, conflict))
    asked(api, "show_recommendation", at_lesson)
    asked(api, "snooze", at_lesson, {**BECAUSE, "until": NOW + 86_400_000})
    asked(api, "show_recommendation", at_lesson)
    asked(api, "wake", at_lesson, BECAUSE)
    asked(api, "approve", at_lesson, BECAUSE)
    _ask_about_an_apply(api, at_lesson)
    asked(api, "approve_and_apply", at_conflict, BECAUSE)
    asked(api, "roll_back", at_conflict, BECAUSE)
    asked(api, "show_recommendation", at_conflict)
    asked(api, "list_recommendations", query={"status": "all", "limit": "1"})
    asked(api, "show_grain", {**MEMORY, "address": recorded["events"][0]["address"]})
    asked(api, "show_grain", {**MEMORY, "address": recorded["events"][7]["address"]})
    asked(api, "show_history", query={"address": kinds["events"][1]["address"]})
    asked(api, "show_history", query={"namespace": "shared", "subject": "Checkout", "relation": "deployTarget"})
    asked(api, "show_entity", {**MEMORY, "namespace": "shared", "subject": "CHECKOUT"})
    asked(api, "recall", query={"subject": "checkout"})
    asked(api, "show_telemetry")
    asked(api, "show_outcomes")
    forgotten = {"address": kinds["events"][0]["address"], **BECAUSE}
    assert [asked(api, "forget", body=forgotten)["forgotten"] for _ in range(2)] == [1, 0]
    asked(api, "forget", body={"namespace": "shared", "subject": "checkout", "dry_run": True})
    asked(api, "show_grain", {**MEMORY, "address": forgotten["address"]})
    asked(api, "show_history", query={"address": forgotten["address"]})
    _ask_about_lessons(api)
    assert asked(api, "verify_audit")["ok"] is True
    job = asked(api, "delete_memory", body=BECAUSE)["job"]
    asked(api, "show_job", {**MEMORY, "job": job})


def _ask_about_an_apply(api: Api, at_lesson: dict[str, str]) -> None:
    asked(api, "apply", at_lesson, BECAUSE)
    asked(api, "show_recommendation", at_lesson)
    told = asked(api, "show_context", query={"project": "p"})
    assert [row["recommendation"] for row in told["lessons"]] == [at_lesson["id"]]
    assert len(told["pending"]) == 1
    asked(api, "roll_back", at_lesson, BECAUSE)


def _ask_about_lessons(api: Api) -> None:
    line = {"project": "p", "category": "c", "signature": "s", "detail": "d", "session": "s1"}
    reported = asked(api, "report_lesson", body={**line, "statement": "look", "evidence": {"target": "t"}})
    asked(api, "report_lesson", body={**line, "kind": "gate_not_run"})
    at_card = {**MEMORY, "id": reported["card"]}
    asked(api, "act_on_card", {**at_card, "action": "arm"}, BECAUSE)
    asked(api, "report_lesson", body=line)
    _ask_about_sessions(api, line)
    asked(api, "show_card", at_card)
    replayed = asked(api, "replay_card", at_card)
    assert ([row["would_count"] for row in replayed["lessons"]], len(replayed["passes"])) == (
        ["violation", "environment", "violation"],
        1,
    )
    asked(api, "list_cards", query={"project": "p", "status": "armed"})
    assert [rule["verdict"] for rule in asked(api, "show_outcomes")["rules"]] == ["regressed"]
    asked(api, "list_lessons", query={"limit": "2"})
    asked(api, "lesson_stats")
    folds = {"c": "key"}
    configured = asked(api, "configure", body={"lesson_folds": folds, "lessons": {"demote_ratio": 0.75}})
    assert (configured["lesson_folds"], configured["lessons"]["demote_ratio"]) == (folds, 0.75)
    assert len(asked(api, "migrate_cards", body=BECAUSE)["merged"]) == 1
    asked(api, "configure", body={"lessons": {"enabled": False}})
    assert asked(api, "report_lesson", body=line) == {"ok": False, "reason": "disabled"}
    assert asked(api, "digest_lessons", body={"session": "s1"}) == {"ok": False, "reason": "disabled"}


def _ask_about_sessions(api: Api, line: dict[str, Any]) -> None:
    session, key = {**MEMORY, "id": "s1"}, {name: line[name] for name in ("project", "category", "signature")}
    assert len(asked(api, "start_session", session, {"project": "p"})["rules"]) == 1
    asked(api, "start_session", {**MEMORY, "id": "s2"}, {"project": "p", "parent": "s1"})
    assert asked(api, "pass_lesson", body={**key, "session": "s1"})["pass_of"]
    asked(api, "pass_lesson", body={**key, "signature": "other", "session": "s1"})
    assert asked(api, "end_session", session)["suppressed"] == 1


def test_a_rejection_answers_as_promised(api: Api) -> None:
    row = api.find()[0]
    asked(api, "reject", {**MEMORY, "id": row["id"]}, BECAUSE)


def test_an_acknowledgement_and_a_batch_answer_as_promised(api: Api) -> None:
    api.done("create_memory")
    stalled = {**SKILL, "proficiency": 0.1, "practice_count": 9}
    api.done("record_events", body={"events": [*CALLS, *VALUES, stalled]})
    api.done("run_pass", body={})
    by_analyzer = {row["analyzer"]: row["id"] for row in api.done("list_recommendations")["recommendations"]}
    advice = by_analyzer.pop("loop.skill_stall/1")
    asked(api, "acknowledge", {**MEMORY, "id": advice}, BECAUSE)
    listed = [*by_analyzer.values(), advice]
    for action, decided in (("approve", 2), ("reject", 2)):
        answer = asked(api, "batch_review", body={"ids": listed, "action": action, **BECAUSE})
        assert (answer["decided"], answer["refused"]) == (decided, 1)
        assert answer["results"][-1]["error"]["code"] == "PVL-E020"


@pytest.mark.parametrize(
    ("name", "body", "field"),
    [
        ("snooze", {}, "until"),
        ("snooze", {"until": "tomorrow"}, "until"),
        ("snooze", {"until": NOW - 1}, "until"),
        ("snooze", {"until": NOW + 91 * 86_400_000}, "until"),
        ("batch_review", {"ids": ["a"], "action": "apply"}, "action"),
        ("batch_review", {"ids": ["a"]}, "action"),
        ("batch_review", {"ids": "a", "action": "reject"}, "ids"),
        ("batch_review", {"ids": [], "action": "reject"}, "ids"),
        ("batch_review", {"ids": ["a", "a"], "action": "reject"}, "ids[1]"),
        ("batch_review", {"ids": ["a"], "action": "reject", "all": True}, "all"),
    ],
)
def test_a_decision_that_says_too_little_is_refused_by_name(
    api: Api, name: str, body: dict[str, Any], field: str
) -> None:
    row = api.find()[0]
    response = api.call(name, {**MEMORY, "id": row["id"]}, {**BECAUSE, **body})
    assert (*api.refused(response), response.json()["field"]) == (400, "PVL-E011", field)


def test_the_audit_trail_is_one_json_text_a_line(api: Api) -> None:
    row = api.find()[0]
    api.done("reject", {**MEMORY, "id": row["id"]}, BECAUSE)
    response = api.call("export_audit", query={"subject": row["id"]})
    assert response.header("content-type") == "application/x-ndjson"
    entries = [json.loads(line) for line in response.text.splitlines()]
    assert [(entry["n"], entry["to"]) for entry in entries] == [(1, "pending"), (2, "rejected")]
    everything = api.call("export_audit").text.splitlines()
    assert len(everything) == 3


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({}, "namespace"),
        ({"namespace": "shared"}, "subject"),
        ({"namespace": "shared", "subject": "s"}, "relation"),
        ({"subject": "s", "relation": "r"}, "namespace"),
        ({"namespace": "shared", "subject": "s", "relation": "r", "address": "0" * 64}, "address"),
        ({"address": "0" * 64, "namespace": "shared"}, "subject"),
        ({"address": "0"}, "address"),
        ({"addresses": "0" * 64}, "addresses"),
    ],
)
def test_a_history_is_that_of_a_grain_or_of_a_relation(api: Api, query: dict[str, str], field: str) -> None:
    api.done("create_memory")
    response = api.call("show_history", query=query)
    assert (*api.refused(response), response.json()["field"]) == (400, "PVL-E011", field)


def test_a_memory_is_made_once(api: Api) -> None:
    assert api.call("create_memory").status == 201
    before = api.stack.items()
    assert api.call("create_memory", body={}).status == 200
    assert api.stack.items() == before


def test_an_id_may_be_cut_to_any_unique_prefix(api: Api) -> None:
    first, second = (row["id"] for row in api.find())
    for length in (26, 12, 6):
        assert api.done("show_recommendation", {**MEMORY, "id": first[:length]})["id"] == first
    assert api.done("show_recommendation", {**MEMORY, "id": second.upper()})["id"] == second
    assert api.refused(api.call("show_recommendation", {**MEMORY, "id": "0"})) == (404, "PVL-E040")


def test_the_queue_comes_in_pages(api: Api) -> None:
    ids = [row["id"] for row in api.find()]
    first = api.done("list_recommendations", query={"limit": "1"})
    second = api.done("list_recommendations", query={"limit": "1", "cursor": first["cursor"]})
    assert [row["id"] for page in (first, second) for row in page["recommendations"]] == ids
    assert second["cursor"] is None


def test_the_trail_comes_in_pages_by_time_too(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    api.find()
    monkeypatch.setattr(audit_export, "PAGE_ENTRIES", 1)
    first = api.call("export_audit", query={"since": str(NOW)})
    cursor = first.header("provenloop-cursor")
    assert cursor is not None
    second = api.call("export_audit", query={"since": str(NOW), "cursor": cursor})
    assert second.header("provenloop-cursor") is None
    numbers = [json.loads(line)["n"] for page in (first, second) for line in page.text.splitlines()]
    assert numbers == [1, 1]
    assert api.call("export_audit", query={"until": str(NOW), "cursor": cursor}).text == ""
    for query, field in (
        ({"since": str(NOW), "until": str(NOW - 1)}, "until"),
        ({"since": "soon"}, "since"),
        ({"cursor": "x"}, "cursor"),
    ):
        response = api.call("export_audit", query=query)
        assert (api.refused(response), response.json()["field"]) == ((400, "PVL-E011"), field)


@pytest.mark.parametrize("cursor", ["x", "!!!!", "é", "e30", "AAAA" * 100, "null", "[]"])
def test_a_made_up_cursor_is_refused(api: Api, cursor: str) -> None:
    api.find()
    response = api.call("list_recommendations", query={"cursor": cursor})
    assert api.refused(response) == (400, "PVL-E011")
    assert response.json()["field"] == "cursor"


@pytest.mark.parametrize(
    "subject",
    [
        "src/app/main.py",
        "100%",
        "a b",
        "C++ #1",
        "Straße 🚀",
        '"quoted"',
        "a+b&c=d",
        "..",
        "a;b,c:d@e",
        "日本語",
        "a\\b`c",
    ],
)
def test_a_subject_of_any_spelling_is_found_by_its_path(api: Api, subject: str) -> None:
    api.done("create_memory")
    api.done("record_events", body={"events": [{**VALUES[0], "subject": subject}]})
    entity = api.done("show_entity", {**MEMORY, "namespace": "shared", "subject": subject})
    assert [fact["subject"] for fact in entity["facts"]] == [subject]


@pytest.mark.parametrize(
    ("sent", "subject"), [("100%25", "100%"), ("50%2525", "50%25"), ("a%252Fb", "a%2Fb"), ("5%", "5%")]
)
def test_a_percent_sign_is_the_one_escape_the_gateway_leaves(api: Api, sent: str, subject: str) -> None:
    api.done("create_memory")
    api.done("record_events", body={"events": [{**VALUES[0], "subject": subject}]})
    event = http_event("show_entity", path={**MEMORY, "namespace": "shared", "subject": sent})
    answer = json.loads(api.stack.invoke("LoopApiFunction", event).payload["body"])
    assert [fact["subject"] for fact in answer["facts"]] == [subject]


def test_every_reply_named_in_the_table_exists() -> None:
    for known in OPERATIONS:
        if known.reply is not None:
            assert reply_model(known.reply).model_fields

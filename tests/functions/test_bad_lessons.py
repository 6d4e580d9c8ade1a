"""Whatever is wrong with a report, a decision or a list is named, and writes nothing."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from provenloop.entry import telemetry
from tests.functions.api import Api
from tests.functions.requests import MEMORY, http_event, refusal

LINE = {"project": "shop", "category": "deploys", "signature": "s", "detail": "d"}
REFUSED: list[tuple[dict[str, Any], int, str]] = [
    ({"project": None}, 400, "project"),
    ({"project": ""}, 400, "project"),
    ({"project": "   "}, 400, "project"),
    ({"project": "a\x07b"}, 400, "project"),
    ({"project": "two\nlines"}, 400, "project"),
    ({"project": "p" * 513}, 400, "project"),
    ({"project": 7}, 400, "project"),
    ({"category": " \u200b "}, 400, "category"),
    ({"category": "a\u2028b"}, 400, "category"),
    ({"signature": "\u00a0"}, 400, "signature"),
    ({"signature": "nul\x00"}, 400, "signature"),
    ({"detail": " "}, 400, "detail"),
    ({"detail": "bell\x07"}, 400, "detail"),
    ({"detail": ["d"]}, 400, "detail"),
    ({"detail": "d" * 200_001}, 413, "detail"),
    ({"detail": "d" * 1_048_576}, 413, "body"),
    ({"source": 7}, 400, "source"),
    ({"statement": "s" * 2001}, 400, "statement"),
    ({"statement": "esc\x1b[0m"}, 400, "statement"),
    ({"session": ""}, 400, "session"),
    ({"session": "s" * 129}, 400, "session"),
    ({"kind": "gate_not_there"}, 400, "kind"),
    ({"evidence": {"target": "t" * 513}}, 400, "evidence.target"),
    ({"evidence": {"signature": "a\nb"}}, 400, "evidence.signature"),
    ({"evidence": {"needs_user_confirmation": "yes"}}, 400, "evidence.needs_user_confirmation"),
    ({"evidence": {"why": "x"}}, 400, "evidence.why"),
    ({"status": "armed"}, 400, "status"),
    ({"tenant": "other"}, 400, "tenant"),
]


@pytest.fixture
def opened(api: Api) -> Api:
    api.done("create_memory")
    return api


@pytest.mark.parametrize(("wrong", "status", "field"), REFUSED)
@pytest.mark.usefixtures("untouched")
def test_a_report_that_is_wrong_somewhere_is_refused_by_name_before_anything_is_read(
    wrong: dict[str, Any], status: int, field: str
) -> None:
    sent = {name: value for name, value in {**LINE, **wrong}.items() if value is not None}
    assert refusal(http_event("report_lesson", path=MEMORY, body=json.dumps(sent))) == (status, field)


def test_a_source_is_never_a_reason_to_lose_a_report(opened: Api) -> None:
    for source, kept in (("x" * 65, "manual"), (" ", "manual"), ("g" * 64, "g" * 64)):
        assert opened.done("report_lesson", body={**LINE, "source": source})["source"] == kept
    assert opened.done("report_lesson", body=LINE)["source"] == "manual"


@pytest.mark.parametrize(
    ("source", "warned"), [("x" * 65, True), (" ", True), ("g" * 64, False), ("guard password=hunter2hunter2", False)]
)
def test_the_log_tells_of_a_source_that_was_replaced_and_of_no_other(
    opened: Api,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    source: str,
    warned: bool,
) -> None:
    monkeypatch.setattr(telemetry, "_logger", logging.getLogger("entry-under-test"))
    kept = opened.done("report_lesson", body={**LINE, "source": source})["source"]
    warnings = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert warnings == ["a source is none and was kept as manual"] * warned
    assert (kept == "manual", "hunter2" in kept) == (warned, False)


def test_line_feeds_and_tabs_are_part_of_a_detail_and_a_statement(opened: Api) -> None:
    opened.done("report_lesson", body={**LINE, "detail": "a\n\tb", "statement": "c\n\td"})
    [line] = opened.done("list_lessons")["lessons"]
    assert (line["detail"], line["statement"]) == ("a\n\tb", "c\n\td")


WRONG_ACTIONS: list[tuple[str, dict[str, Any], int, str | None]] = [
    ("approve", {"because": "x"}, 400, "action"),
    ("arm", {}, 400, "because"),
    ("arm", {"because": " "}, 400, "because"),
    ("arm", {"because": "x"}, 400, "statement"),
    ("arm", {"because": "x", "statement": "\n"}, 400, "statement"),
    ("edit", {"because": "x", "statement": ""}, 400, "statement"),
    ("arm", {"because": "x", "statement": "bell\x07"}, 400, "statement"),
    ("arm", {"because": "x", "rule": "x"}, 400, "rule"),
    ("demote", {"because": "x"}, 409, None),
]


def test_an_action_that_is_wrong_somewhere_is_refused_by_name(opened: Api) -> None:
    card = opened.done("report_lesson", body=LINE)["card"]
    before = opened.stack.items()
    for action, body, status, field in WRONG_ACTIONS:
        response = opened.call("act_on_card", {**MEMORY, "id": card, "action": action}, body)
        assert (response.status, response.json().get("field")) == (status, field), (action, body)
    assert opened.stack.items() == before


def test_a_card_that_there_is_not_is_not_found(opened: Api) -> None:
    response = opened.call("act_on_card", {**MEMORY, "id": "zzzz", "action": "reject"}, {"because": "x"})
    assert (response.status, response.json()["code"]) == (404, "PVL-E040")


def test_an_agent_cannot_arm_even_as_an_admin_nor_through_a_token_of_its_own(opened: Api) -> None:
    card = opened.done("report_lesson", body=LINE)["card"]
    at_card, body = {**MEMORY, "id": card, "action": "arm"}, {"because": "x", "statement": "x"}
    agent = opened.mint("agent", "admin", kind="agent")
    assert opened.refused(opened.call("act_on_card", at_card, body, token=agent)) == (403, "PVL-E024")
    person = {"label": "me", "kind": "human", "memories": "*", "scopes": ["review"]}
    assert opened.refused(opened.call("mint_token", {}, person, token=agent)) == (403, "PVL-E024")
    reviewer = opened.mint("rita", "review", kind="human")
    assert opened.call("act_on_card", at_card, body, token=reviewer).status == 200


WRONG_QUERIES = [
    ({"limit": "0"}, "limit"),
    ({"limit": "-1"}, "limit"),
    ({"limit": "ten"}, "limit"),
    ({"limit": "1.5"}, "limit"),
    ({"limit": ""}, "limit"),
    ({"limit": "101"}, "limit"),
    ({"cursor": "nonsense"}, "cursor"),
    ({"project": " "}, "project"),
    ({"page": "2"}, "page"),
]


@pytest.mark.parametrize("name", ["list_lessons", "list_cards"])
def test_a_list_that_is_asked_for_wrongly_is_refused_by_name(opened: Api, name: str) -> None:
    for query, field in WRONG_QUERIES:
        response = opened.call(name, query=query)
        assert (response.status, response.json()["field"]) == (400, field), query


WRONG_SETTINGS: list[tuple[dict[str, Any], str]] = [
    ({"lessons": {"promote_threshold": 0}}, "lessons.promote_threshold"),
    ({"lessons": {"promote_threshold": 4, "unheard_of": 1}}, "lessons.unheard_of"),
    ({"lessons": {"demote_ratio": 0.33}}, "lessons.demote_ratio"),
    ({"lessons": {"enabled": "no"}}, "lessons.enabled"),
    ({"lessons": {"max_lessons_bytes": (1 << 30) + 1}}, "lessons.max_lessons_bytes"),
    ({"lesson_folds": {"": "key"}}, "lesson_folds"),
    ({"lesson_folds": {"deploys": "k" * 129}}, "lesson_folds"),
    ({"lesson_folds": {str(n): "k" for n in range(51)}}, "lesson_folds"),
]


def test_settings_are_stored_all_together_or_not_at_all(opened: Api) -> None:
    before = opened.stack.items()
    for body, field in WRONG_SETTINGS:
        response = opened.call("configure", body=body)
        assert (response.status, response.json()["field"]) == (400, field), body
    assert opened.stack.items() == before


def test_settings_are_laid_over_each_other_and_can_be_cleared(opened: Api) -> None:
    opened.done("configure", body={"lessons": {"promote_threshold": 2, "decay_days": 7}})
    answer = opened.done("configure", body={"lessons": {"decay_days": 8}, "because": "tried out"})
    assert (answer["lessons"]["promote_threshold"], answer["lessons"]["decay_days"]) == (2, 8)
    rev = answer["rev"]
    assert opened.done("configure", body={"lessons": {"decay_days": 8}})["rev"] == rev
    cleared = opened.done("configure", body={"clear_lessons": True, "lessons": {"decay_days": 9}})["lessons"]
    assert (cleared["promote_threshold"], cleared["decay_days"]) == (3, 9)
    assert opened.done("verify_audit")["ok"] is True

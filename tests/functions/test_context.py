"""The context of a session over HTTP."""

from __future__ import annotations

import pytest

from tests.functions.api import Api
from tests.functions.requests import MEMORY, ROOT
from tests.injected_block import context_in

BECAUSE = {"because": "Seen in three sessions."}


def test_an_agent_that_may_only_read_is_told_rules_lessons_and_what_waits(api: Api) -> None:
    lesson, conflict = api.find()
    api.done("approve_and_apply", {**MEMORY, "id": lesson["id"]}, BECAUSE)
    line = {"project": "shop", "category": "deploys", "signature": "s", "detail": "d", "statement": "Look first."}
    card = api.done("report_lesson", body=line)["card"]
    api.done("act_on_card", {**MEMORY, "id": card, "action": "arm"}, BECAUSE)
    reader = api.mint("reader", "read")
    told = api.done("show_context", token=reader, query={"project": "shop", "k": "5", "budget": "500"})
    assert list(context_in(told["block"]).values()) == [
        [["Look first."]],
        [["http_get fails with: connect timeout"]],
        [[f"{conflict['id']} {conflict['analyzer']} severity {conflict['severity']}, count {conflict['count']}"]],
    ]
    assert (told["rules"], [row["recommendation"] for row in told["lessons"]]) == ([card], [lesson["id"]])
    assert api.refused(api.call("show_context", token=api.mint("writer", "write"), query={"project": "shop"})) == (
        403,
        "PVL-E022",
    )


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({}, "project"),
        ({"project": ""}, "project"),
        ({"project": "two\nlines"}, "project"),
        ({"project": "p", "k": "51"}, "k"),
        ({"project": "p", "k": "-1"}, "k"),
        ({"project": "p", "k": "many"}, "k"),
        ({"project": "p", "budget": "63"}, "budget"),
        ({"project": "p", "budget": "100001"}, "budget"),
        ({"project": "p", "session": ""}, "session"),
        ({"project": "p", "namespace": "shared"}, "namespace"),
    ],
)
def test_whatever_is_wrong_with_the_question_is_named(api: Api, query: dict[str, str], field: str) -> None:
    api.done("create_memory")
    response = api.call("show_context", query=query)
    assert (*api.refused(response), response.json()["field"]) == (400, "PVL-E011", field)


def test_a_memory_or_session_that_is_not_there_is_a_404(api: Api) -> None:
    assert api.refused(api.call("show_context", query={"project": "p"})) == (404, "PVL-E040")
    api.done("create_memory")
    assert api.refused(api.call("show_context", query={"session": "s9"})) == (404, "PVL-E040")


def test_the_reference_names_the_bounds_that_hold() -> None:
    text = (ROOT / "shared/API.md").read_text(encoding="utf-8")
    for bounds in ("0 to 50, default 10", "64 to 100,000 tokens, default 2,000", "3 bytes of UTF-8"):
        assert bounds in text

"""Capture: nothing doubled by a retry, nothing of ours taken for news, no model asked, and each where it belongs."""

from __future__ import annotations

from provenloop.adapters.transcripts.openai_chat import read_chat
from provenloop.domain.injected import fenced
from provenloop.entry.models.events import EventsRequest, to_events
from provenloop.services.ingest import record_events
from tests.builders import NOW, Desk, make_calls, make_fact, make_free_event, make_observation
from tests.scenario.reported.steps import families, found_by_pass, recalled, shown


def test_what_was_recalled_and_sent_back_is_not_captured_again(desk: Desk) -> None:
    desk.record(make_observation("the depot moved to the harbour"))
    for _ in range(8):
        [text] = recalled(desk, "depot harbour")
        statuses = desk.statuses(make_observation(fenced(text, "recall")), make_free_event(fenced(text, "recall")))
        assert statuses == ["ignored", "ignored"]
    assert [grain.stated for grain in desk.grains().values() if grain.kind != "question"] == [1]


def test_a_request_that_is_retried_counts_nothing_twice(desk: Desk) -> None:
    for _ in range(3):
        desk.record(*make_calls(2, name="n"), make_fact("tea", relation="likes"), key="k")
    assert found_by_pass(desk) == []
    assert desk.facts()["tea"].stated == 1


def test_capture_calls_the_table_twice_and_nothing_else(desk: Desk) -> None:
    with desk.counted() as calls:
        desk.record(make_fact("Berlin"), make_observation(), *make_calls(2))
    assert calls == ["UpdateItem", "TransactWriteItems"]


def test_a_transcript_read_again_adds_nothing_and_a_call_is_one_event_with_its_answer(desk: Desk) -> None:
    ask = {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "search", "arguments": "{}"}}]}
    answer = {"role": "tool", "tool_call_id": "c", "content": "Error: no seats"}
    for _ in range(2):
        events = list(read_chat([ask, answer, ask, answer, ask, answer], session="s", occurred_at=NOW - 60_000))
        record_events(desk.store, desk.call(), to_events(EventsRequest.model_validate({"events": events}), NOW))
    calls = [grain for grain in desk.grains().values() if grain.kind == "tool_call"]
    assert len(calls) == 3
    assert all(grain.body["is_error"] for grain in calls)
    assert found_by_pass(desk) == ["tool_failure"]
    assert desk.recommendation(desk.only()["id"]).count == 3


def test_a_finding_is_the_engines_whoever_sent_the_evidence_and_shows_its_change(desk: Desk) -> None:
    desk.record(*make_calls(5))
    desk.run()
    assert families(desk) == ["tool_failure"]
    detail = shown(desk, desk.only()["id"])
    assert detail["origin"] == "builtin"
    assert desk.recommendation(detail["id"]).creators == ("engine:loop.tool_failure/1",)
    [operation] = detail["proposal"]["operations"]
    assert operation["op"] == "ADD"
    assert {row["body"]["result"] for row in detail["evidence"]} == {"card declined"}
    assert detail["metric"]["name"] == "tool_error_recurrence"
    assert detail["next"]

"""Transcripts in the chat form become tool calls, each once, with the answer it got."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenloop.adapters.transcripts.openai_chat import batches, looks_like_error, read_chat, read_runs
from provenloop.adapters.transcripts.report import ReadReport
from provenloop.analyzers.contract import ToolView
from provenloop.analyzers.tool_failure import ToolFailure
from provenloop.domain.address import Addresses
from provenloop.domain.commit import Change
from provenloop.domain.events import ToolCallEvent, prepare
from provenloop.domain.grain import GrainDraft
from provenloop.domain.rollup import SignatureDay, Tally, ToolDay, ToolWindow
from provenloop.entry.models.events import EventsRequest, to_events

AIRLINE = Path(__file__).parents[3] / "events" / "transcripts" / "airline-agent.jsonl"
BEGUN = 1_800_000_000_000
NOW = BEGUN + 86_400_000


def call(call_id: str, name: str = "search", arguments: str = '{"q": 1}') -> dict[str, Any]:
    return {"role": "assistant", "tool_calls": [{"id": call_id, "function": {"name": name, "arguments": arguments}}]}


def answer(call_id: str, content: Any = "fine", **more: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content, **more}


def read(*messages: Any, report: ReadReport | None = None) -> list[dict[str, Any]]:
    return list(read_chat(messages, session="7/0", occurred_at=BEGUN, report=report))


def test_a_call_and_its_answer_are_one_event() -> None:
    assert read(call("c1"), answer("c1", "Error: no seats")) == [
        {
            "kind": "tool_call", "tool": "search", "is_error": True, "result": "Error: no seats", "input": {"q": 1},
            "call_id": "7/0/c1/1", "session": "7/0", "occurred_at": BEGUN + 1000,
        }
    ]  # fmt: skip


def test_an_id_that_is_used_again_names_another_call() -> None:
    events = read(call("c1", "a"), answer("c1"), call("c1", "b"), answer("c1"))
    assert [(event["tool"], event["call_id"]) for event in events] == [("a", "7/0/c1/1"), ("b", "7/0/c1/2")]


def test_parallel_calls_find_their_own_answers() -> None:
    both = {"role": "assistant", "tool_calls": call("x", "a")["tool_calls"] + call("y", "b")["tool_calls"]}
    assert [event["tool"] for event in read(both, answer("y"), answer("x"))] == ["b", "a"]


def test_what_cannot_be_used_is_counted_and_not_raised() -> None:
    report = ReadReport()
    events = read(call("lost"), answer("other", name="late"), answer("nobody"), "noise", None, report=report)
    assert [event["tool"] for event in events] == ["late"]
    assert (report.unanswered, report.orphans, report.nameless) == (1, 2, 1)


def test_the_old_form_of_calls_is_read() -> None:
    asked = {"role": "assistant", "function_call": {"name": "search", "arguments": "not json"}}
    [event] = read(asked, {"role": "function", "name": "search", "content": "fine"})
    assert (event["tool"], event["input"], event["result"]) == ("search", "not json", "fine")


def test_content_in_parts_is_their_text() -> None:
    [event] = read(call("c"), answer("c", [{"type": "text", "text": "Error: a"}, {"type": "text", "text": "b"}]))
    assert (event["result"], event["is_error"]) == ("Error: a\nb", True)


@pytest.mark.parametrize("time", ["2027-01-15T08:05:00Z", 1_800_000_300])
def test_a_message_with_a_time_of_its_own_keeps_it(time: Any) -> None:
    [event] = read(call("c"), answer("c", created=time) if isinstance(time, int) else answer("c", timestamp=time))
    assert event["occurred_at"] == 1_800_000_300_000


@pytest.mark.parametrize(
    ("result", "failed"),
    [
        ("Error: no seats", True), ("  error: x", True), ("ERROR:x", True), ('{"error": "x"}', True),
        ({"is_error": True}, True), ("Errors are rare", False), ('{"error": null}', False), ("fine", False),
        ({"error": ""}, False), (None, False), (["error:"], False),
    ],
)  # fmt: skip
def test_errors_are_told_by_their_form(result: Any, *, failed: bool) -> None:
    assert looks_like_error(result) is failed


def test_a_line_that_holds_no_run_is_counted_and_skipped() -> None:
    report = ReadReport()
    lines: list[str | bytes] = ["{", "", "[]", '{"task_id": 1, "trial": 0, "messages": []}', b"\xff"]
    assert list(read_runs(lines, started_at=BEGUN, spacing_ms=1000, report=report)) == []
    assert (report.runs, report.malformed) == (1, [1, 3, 5])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(
    ["role", "tool_calls", "tool_call_id", "name", "content", "function_call", "created", "id", "function"]
)
MESSAGES = st.lists(JSON | st.dictionaries(KEYS, JSON | st.sampled_from(["tool", "assistant", "function"])), max_size=6)


@given(MESSAGES)
def test_mangled_messages_are_read_without_raising(messages: list[Any]) -> None:
    assert read(*messages) == read(*messages)


@pytest.fixture(scope="module")
def airline() -> tuple[list[dict[str, Any]], ReadReport]:
    report = ReadReport()
    with AIRLINE.open(encoding="utf-8") as lines:
        events = list(read_runs(lines, started_at=BEGUN, spacing_ms=60_000, report=report))
    return events, report


def test_the_airline_set_holds_what_its_description_says(airline: tuple[list[dict[str, Any]], ReadReport]) -> None:
    events, report = airline
    assert (report.runs, report.calls, report.errors, report.orphans, report.unanswered) == (150, 904, 64, 0, 0)
    assert len({event["call_id"] for event in events}) == 904
    assert {tool for tool, errors in report.errors_by_tool.items() if errors} == {
        "book_reservation", "update_reservation_baggages", "update_reservation_flights",
    }  # fmt: skip


def test_every_event_of_the_airline_set_is_valid_for_ingest(airline: tuple[list[dict[str, Any]], ReadReport]) -> None:
    for batch in batches(airline[0]):
        assert len(to_events(EventsRequest.model_validate({"events": batch}), NOW)) == len(batch)


def _drafts(events: list[dict[str, Any]]) -> list[GrainDraft]:
    requests = (EventsRequest.model_validate({"events": batch}) for batch in batches(events))
    told = [event for request in requests for event in to_events(request, NOW)]
    return [prepare(event, NOW).draft for event in told if isinstance(event, ToolCallEvent)]


def test_the_errors_of_the_airline_set_fall_into_their_eight_classes(
    airline: tuple[list[dict[str, Any]], ReadReport],
) -> None:
    drafts = _drafts(airline[0])
    assert len({draft.signature for draft in drafts if draft.is_error}) == 8


def test_the_airline_set_gives_the_two_findings_it_holds_and_no_other(
    airline: tuple[list[dict[str, Any]], ReadReport],
) -> None:
    addresses, tally, names = Addresses(b"k" * 32), Tally([]), dict[str, str]()
    for number, draft in enumerate(_drafts(airline[0])):
        key = addresses.tool_key("shared", draft.topic)
        names[key] = draft.topic
        tally.add(
            Change(
                "add", "tool_call", f"{number:064x}", "shared", key, draft.signature, draft.is_error, draft.occurred_at
            )
        )
    found = []
    for key, tool in names.items():
        rows = [row for row in tally.touched if row.tool_key == key]
        days = tuple(row for row in rows if isinstance(row, ToolDay))
        window = ToolWindow(key, days, tuple(row for row in rows if isinstance(row, SignatureDay)))
        view = ToolView(key, "shared", window, "0" * 64)
        drafts = ToolFailure().examine(view, ToolFailure.manifest.defaults(), NOW).drafts
        found += [(tool, draft.count, draft.summary.template) for draft in drafts]
    assert sorted(found) == [
        ("book_reservation", 17, "tool_failure.cluster"),
        ("update_reservation_flights", 40, "tool_failure.tool"),
    ]

"""Whatever a transcript holds: it is read without raising, alike each time, into events that the edge takes."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from provenloop.adapters.transcripts.openai_chat import read_chat, read_runs
from provenloop.adapters.transcripts.report import ReadReport
from provenloop.domain.canonical import parse_strict
from provenloop.domain.events import ToolCallEvent
from provenloop.domain.prepare import prepare
from provenloop.entry.models.events import EventsRequest, to_events

BEGUN = 1_800_000_000_000
NOW = BEGUN + 86_400_000

TEXT = st.text(st.characters(exclude_categories=()), max_size=8) | st.sampled_from(
    ["", " ", "a/b", "x" * 300, "{", "1"]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
ID = st.sampled_from(["a", "b", ""]) | TEXT
FUNCTION = st.fixed_dictionaries({}, optional={"name": ID | JSON, "arguments": TEXT | JSON}) | JSON
CALL = st.fixed_dictionaries({}, optional={"id": ID | JSON, "function": FUNCTION}) | JSON
MESSAGE = st.fixed_dictionaries(
    {},
    optional={
        "role": st.sampled_from(["assistant", "tool", "tool", "function"]) | JSON,
        "tool_calls": st.lists(CALL, max_size=3) | JSON,
        "function_call": FUNCTION,
        "tool_call_id": ID | JSON,
        "name": ID | JSON,
        "content": TEXT | JSON,
        "timestamp": JSON,
        "created": st.sampled_from([946_684_799, 946_684_800, 1_800_000_000.5, 10**30]) | JSON,
    },
)
SESSION = st.sampled_from(["7/0"]) | TEXT


@given(st.lists(MESSAGE | JSON, max_size=6), SESSION)
def test_mangled_messages_are_read_alike_twice_into_events_the_edge_takes(messages: list[Any], session: str) -> None:
    report = ReadReport()
    events = list(read_chat(messages, session=session, occurred_at=BEGUN, report=report))
    again = list(read_chat(messages, session=session, occurred_at=BEGUN))
    assert json.dumps(events) == json.dumps(again)
    assert len({event["call_id"] for event in events}) == len(events) == report.calls
    for event in events:
        body = parse_strict(json.dumps({"events": [event]}).encode())
        [taken] = to_events(EventsRequest.model_validate(body), NOW)
        assert isinstance(taken, ToolCallEvent)
        prepare(taken, NOW)


@given(st.lists(MESSAGE, max_size=8))
def test_every_answer_is_an_event_or_counted(messages: list[Any]) -> None:
    report = ReadReport()
    events = list(read_chat(messages, session="7/0", occurred_at=BEGUN, report=report))
    answers = sum(message.get("role") in ("tool", "function") for message in messages)
    assert len(events) + report.nameless + report.repeated == answers


@given(st.lists(st.binary(max_size=40) | JSON.map(lambda value: json.dumps(value).encode()), max_size=6))
def test_lines_of_any_kind_are_read_without_raising(lines: list[bytes]) -> None:
    report = ReadReport()
    list(read_runs(lines, started_at=BEGUN, spacing_ms=1000, report=report))
    assert report.runs + len(report.malformed) == sum(bool(line.strip()) for line in lines)

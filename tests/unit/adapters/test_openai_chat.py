"""Transcripts in the chat form become tool calls, each once, with the answer it got."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from provenloop.adapters.transcripts.openai_chat import batches, looks_like_error, read_chat, read_runs
from provenloop.adapters.transcripts.report import ReadReport
from provenloop.domain.canonical import parse_strict
from provenloop.domain.instants import EARLIEST_MS, LATEST_MS
from provenloop.entry.models.events import EventsRequest, to_events
from provenloop.entry.strict_body import MAX_BODY_BYTES

BEGUN = 1_800_000_000_000
NOW = BEGUN + 86_400_000


def call(call_id: str, name: str = "search", arguments: str = '{"q": 1}') -> dict[str, Any]:
    return {"role": "assistant", "tool_calls": [{"id": call_id, "function": {"name": name, "arguments": arguments}}]}


def answer(call_id: str, content: Any = "fine", **more: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content, **more}


def read(*messages: Any, report: ReadReport | None = None) -> list[dict[str, Any]]:
    return list(read_chat(messages, session="7/0", occurred_at=BEGUN, report=report))


def sent(events: list[dict[str, Any]]) -> list[Any]:
    """The events as the edge takes them in, having read them as strictly as it does."""
    body = parse_strict(json.dumps({"events": events}).encode())
    return list(to_events(EventsRequest.model_validate(body), NOW))


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


def test_ids_that_were_used_before_are_counted() -> None:
    report = ReadReport()
    events = read(call("c"), answer("c"), call("c"), call("c"), answer("c"), answer("c"), report=report)
    assert len({event["call_id"] for event in events}) == 3
    assert (report.reused, report.repeated, report.orphans) == (2, 0, 0)


def test_a_result_that_is_there_twice_is_one_event() -> None:
    report = ReadReport()
    assert len(read(call("c"), answer("c"), answer("c", "again", name="search"), report=report)) == 1
    assert (report.calls, report.repeated, report.orphans) == (1, 1, 0)


def test_calls_without_ids_are_answered_in_their_order() -> None:
    nameless_ids = [{"function": {"name": name, "arguments": "{}"}} for name in ("a", "b")]
    asked = {"role": "assistant", "tool_calls": nameless_ids}
    events = read(asked, *({"role": "tool", "content": text} for text in ("1", "2")))
    assert [(event["tool"], event["result"]) for event in events] == [("a", "1"), ("b", "2")]
    assert events[0]["call_id"] != events[1]["call_id"]


def test_one_call_id_never_names_the_calls_of_two_sessions() -> None:
    [one] = read_chat([call("b/c"), answer("b/c")], session="a", occurred_at=BEGUN)
    [other] = read_chat([call("c"), answer("c")], session="a/b", occurred_at=BEGUN)
    assert one["call_id"] != other["call_id"]


def test_ids_that_are_too_long_are_told_apart_within_bounds() -> None:
    long = "c" * 200
    one, other = read(call(long + "1"), answer(long + "1"), call(long + "2"), answer(long + "2"))
    assert one["call_id"] != other["call_id"]
    assert len(sent([one, other])) == 2


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


def test_several_calls_of_the_old_form_find_their_answers() -> None:
    report = ReadReport()
    asked = {"role": "assistant", "function_call": {"name": "search", "arguments": "{}"}}
    answers = ({"role": "function", "name": "search", "content": text} for text in ("1", "2"))
    first, second = read(asked, next(answers), asked, next(answers), report=report)
    assert (first["result"], second["result"]) == ("1", "2")
    assert first["call_id"] != second["call_id"]
    assert (report.reused, report.repeated, report.orphans, report.unanswered) == (0, 0, 0, 0)


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ('{"a": [1.5, null]}', {"a": [1.5, None]}), ('"x"', "x"), ("", ""), ("{", "{"), ('{"a": NaN}', '{"a": NaN}'),
        ('{"a": 1, "a": 2}', '{"a": 1, "a": 2}'), ('{"a": 1e999}', '{"a": 1e999}'), ("[" * 99, "[" * 99),
        ("9" * 60, "9" * 60), ({"a": 1}, {"a": 1}), (None, None),
    ],
)  # fmt: skip
def test_arguments_are_their_json_or_their_text(text: Any, given: Any) -> None:
    [event] = read(call("c", arguments=text), answer("c"))
    assert event["input"] == given
    assert sent([event])[0].input == given


@pytest.mark.parametrize(
    ("name", "tool"), [("a\nb", "a b"), ("  a ", "a"), ("a\u2028b\ud800", "a b"), ("\u200bsearch", "search")]
)
def test_tools_are_named_in_one_line(name: str, tool: str) -> None:
    [event] = read(call("c", name), answer("c"))
    assert sent([event])[0].tool == tool


def test_tools_of_long_names_are_told_apart_within_bounds() -> None:
    one, other = read(call("x", "t" * 200 + "1"), answer("x"), call("y", "t" * 200 + "2"), answer("y"))
    assert one["tool"] != other["tool"]
    assert len(sent([one, other])) == 2


def nested(depth: int) -> Any:
    return json.loads("[" * depth + "]" * depth)


@pytest.mark.parametrize(
    ("content", "result"),
    [
        ("half \ud800 of a character", "half ? of a character"), ({"a": [1.5]}, {"a": [1.5]}), (nested(29), nested(29)),
        (nested(30), "[" * 30 + "]" * 30), ({"a": float("nan")}, '{"a": NaN}'), (int("9" * 40), "9" * 40), ("", ""),
    ],
)  # fmt: skip
def test_results_are_kept_as_they_are_or_as_a_text_that_can_be_sent(content: Any, result: Any) -> None:
    [event] = read(call("c"), answer("c", content))
    assert event["result"] == result
    assert sent([event])[0].result == result


@pytest.mark.parametrize(("begun", "at"), [(0, EARLIEST_MS), (LATEST_MS, LATEST_MS)])
def test_times_stay_within_the_plausible(begun: int, at: int) -> None:
    [event] = read_chat([call("c"), answer("c")], session="7/0", occurred_at=begun)
    assert event["occurred_at"] == at


@pytest.mark.parametrize("char", ["x", "\x01", "\N{GRINNING FACE}"])
def test_huge_values_keep_their_ends_and_fit_a_request(char: str) -> None:
    huge = "Error: begins" + char * 600_000 + "ends"
    [event] = read(call("c", arguments=json.dumps([huge])), answer("c", huge))
    assert event["is_error"]
    assert event["result"].startswith("Error: begins")
    assert event["result"].endswith("ends")
    assert len(json.dumps({"events": [event]})) < MAX_BODY_BYTES
    assert len(sent([event])) == 1


def test_batches_are_bounded_in_number_and_in_bytes() -> None:
    small = read(*(message for n in range(200) for message in (call(f"c{n}"), answer(f"c{n}"))))
    assert [len(batch) for batch in batches(small)] == [90, 90, 20]
    large = read(*(message for n in range(9) for message in (call(f"c{n}"), answer(f"c{n}", "x" * 300_000))))
    requests = list(batches(large))
    assert [event for batch in requests for event in batch] == large
    assert max(len(json.dumps({"events": batch})) for batch in requests) < MAX_BODY_BYTES
    assert [len(batch) for batch in batches(small, size=1)] == [1] * 200


def test_content_in_parts_is_their_text() -> None:
    [event] = read(call("c"), answer("c", [{"type": "text", "text": "Error: a"}, {"type": "text", "text": "b"}]))
    assert (event["result"], event["is_error"]) == ("Error: a\nb", True)


@pytest.mark.parametrize("time", ["2027-01-15T08:05:00Z", 1_800_000_300])
def test_a_message_with_a_time_of_its_own_keeps_it(time: Any) -> None:
    [event] = read(call("c"), answer("c", created=time) if isinstance(time, int) else answer("c", timestamp=time))
    assert event["occurred_at"] == 1_800_000_300_000


def test_messages_without_a_time_follow_the_last_that_had_one() -> None:
    messages = [call("c"), answer("c"), call("d"), answer("d", created=1_800_000_300), call("e"), answer("e")]
    events = list(read_chat(messages, session="7/0", occurred_at=BEGUN, step_ms=10))
    assert [event["occurred_at"] - BEGUN for event in events] == [10, 300_000, 300_020]


@pytest.mark.parametrize("time", ["yesterday", "2027-01-15T08:05:00", 12, True, float("nan"), 10**400, None, []])
def test_what_is_no_time_is_passed_over(time: Any) -> None:
    [event] = read(call("c"), answer("c", created=time))
    assert event["occurred_at"] == BEGUN + 1000


def test_callers_say_what_an_error_is() -> None:
    messages = [call("c"), answer("c", "FAILED"), call("d"), answer("d", "Error: x")]
    events = read_chat(messages, session="7/0", occurred_at=BEGUN, is_error=lambda result: "FAILED" in result)
    assert [event["is_error"] for event in events] == [True, False]


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


def test_runs_of_one_name_are_two_sessions() -> None:
    report = ReadReport()
    messages = [call("c"), answer("c")]
    named = json.dumps({"task_id": 7, "trial": 0, "messages": messages})
    lines = [named, named, json.dumps({"messages": messages}), json.dumps({"task_id": "7", "messages": messages})]
    events = list(read_runs(lines, started_at=BEGUN, spacing_ms=1000, report=report))
    assert [event["session"] for event in events] == ["7/0", "7/0#2", "line 3", "7/0#3"]
    assert [event["occurred_at"] - BEGUN for event in events] == [1000, 2000, 3000, 4000]
    assert (report.runs, report.renamed) == (4, 2)


def test_runs_are_read_as_they_come() -> None:
    def lines() -> Iterator[str]:
        yield json.dumps({"task_id": 1, "trial": 0, "messages": [call("c"), answer("c")]})
        pytest.fail("the second run was asked for before the first was used")

    assert next(read_runs(lines(), started_at=BEGUN, spacing_ms=1000))["session"] == "1/0"

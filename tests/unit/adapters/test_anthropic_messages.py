"""Anthropic transcripts become tool calls, each once, with the answer it got."""

from __future__ import annotations

from typing import Any

from provenloop.adapters.transcripts.anthropic_messages import read_messages
from provenloop.adapters.transcripts.report import ReadReport

BEGUN = 1_800_000_000_000


def asks(*calls: tuple[str, str]) -> dict[str, Any]:
    blocks = [{"type": "tool_use", "id": key, "name": tool, "input": {"q": 1}} for key, tool in calls]
    return {"role": "assistant", "content": [{"type": "text", "text": "Let me look."}, *blocks]}


def gives(*answers: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "tool_result", **answer} for answer in answers]}


def read(*messages: Any, report: ReadReport | None = None, begun: int | None = BEGUN) -> list[dict[str, Any]]:
    return list(read_messages(messages, session="s-1", occurred_at=begun, report=report))


def test_a_use_and_its_result_are_one_event() -> None:
    failed = {"tool_use_id": "t1", "content": [{"type": "text", "text": "no such file"}], "is_error": True}
    assert read({"role": "user", "content": "Read it"}, asks(("t1", "read_file")), gives(failed)) == [
        {
            "kind": "tool_call", "tool": "read_file", "is_error": True, "result": "no such file", "input": {"q": 1},
            "call_id": "s-1/t1/1", "session": "s-1", "occurred_at": BEGUN + 2000,
        }
    ]  # fmt: skip


def test_uses_that_run_side_by_side_are_told_apart() -> None:
    events = read(
        asks(("t1", "a"), ("t2", "b")),
        gives({"tool_use_id": "t2", "content": "2"}, {"tool_use_id": "t1", "content": "1"}),
    )
    assert [(event["tool"], event["result"]) for event in events] == [("b", "2"), ("a", "1")]


def test_an_answer_says_itself_whether_it_failed_and_is_guessed_at_only_where_it_does_not() -> None:
    events = read(
        asks(("t1", "a"), ("t2", "a"), ("t3", "a")),
        gives(
            {"tool_use_id": "t1", "content": "Error: quoted from a log", "is_error": False},
            {"tool_use_id": "t2", "content": "Error: no seats"},
            {"tool_use_id": "t3", "content": "fine"},
        ),
    )
    assert [event["is_error"] for event in events] == [False, True, False]


def test_messages_within_the_lines_of_a_coding_agent_have_the_time_beside_them() -> None:
    def line(message: dict[str, Any], second: int) -> dict[str, Any]:
        return {"type": message["role"], "message": message, "timestamp": f"2027-01-15T08:00:0{second}.000Z"}

    [event] = read(line(asks(("t1", "a")), 1), line(gives({"tool_use_id": "t1"}), 2), begun=None)
    assert event["occurred_at"] == BEGUN + 2000
    assert event["result"] is None


def test_without_any_time_an_event_has_none() -> None:
    [event] = read(asks(("t1", "a")), gives({"tool_use_id": "t1", "content": ""}), begun=None)
    assert "occurred_at" not in event


def test_what_cannot_be_used_is_counted() -> None:
    report = ReadReport()
    given = {"tool_use_id": "t1", "content": "x"}
    events = read(
        "hello", 7, {"role": "assistant"}, {"content": [1, {"type": "thinking"}]}, asks(("t1", "a"), ("t2", "b")),
        gives(given, given, {"tool_use_id": "t9", "content": "whose?"}), report=report,
    )  # fmt: skip
    assert len(events) == 1
    assert (report.unreadable, report.unanswered, report.repeated, report.orphans, report.nameless) == (2, 1, 1, 1, 1)

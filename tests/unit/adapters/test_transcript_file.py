"""Files of tool logs: their form is seen, they are read line by line, and the same file gives the same ids."""

from __future__ import annotations

import io
import json
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest

from provenloop.adapters.transcripts.openai_chat import batches
from provenloop.adapters.transcripts.report import ReadReport
from provenloop.adapters.transcripts.transcript_file import (
    MAX_LINE_BYTES,
    NoTranscriptError,
    Transcript,
    form_of,
    lines_of,
)
from provenloop.entry.models.events import EventsRequest

CHAT = [
    {"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "search", "arguments": "{}"}}]},
    {"role": "tool", "tool_call_id": "c1", "content": "fine"},
]
BLOCKS = [
    {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "search", "input": {}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "fine"}]},
]
HALVES = [{"tool": "search", "id": "c1", "input": {}}, {"id": "c1", "result": "fine"}]
WHOLE = [{"tool": "search", "id": "c1", "input": {}, "result": "fine"}]


def as_lines(*values: Any) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def read(data: bytes, report: ReadReport | None = None, name: str = "log") -> list[dict[str, Any]]:
    form, lines = form_of(lines_of(io.BytesIO(data)))
    return list(Transcript(form, name, report=report).events(lines))


@pytest.mark.parametrize(
    ("form", "data"),
    [
        ("openai", as_lines(*CHAT)),
        ("openai", json.dumps(CHAT, indent=1).encode()),
        ("openai", json.dumps({"messages": CHAT}, indent=1).encode()),
        ("openai", as_lines({"messages": CHAT})),
        ("anthropic", as_lines(*BLOCKS)),
        ("anthropic", json.dumps(BLOCKS).encode()),
        ("anthropic", as_lines({"role": "user", "content": "hi"}, *BLOCKS)),
        ("anthropic", as_lines(*({"type": "x", "message": each} for each in BLOCKS))),
        ("jsonl", as_lines(*HALVES)),
        ("jsonl", as_lines(*WHOLE)),
        ("jsonl", json.dumps(WHOLE, indent=1).encode()),
    ],
)
def test_the_form_is_seen_and_a_call_and_its_result_are_one_event(form: str, data: bytes) -> None:
    assert form_of(lines_of(io.BytesIO(data)))[0] == form
    [event] = read(data)
    assert (event["tool"], event["input"], event["result"], event["is_error"]) == ("search", {}, "fine", False)
    EventsRequest.model_validate({"events": [event]})


@pytest.mark.parametrize(
    ("line", "is_error", "result"),
    [
        ({"tool": "t", "result": "ok"}, False, "ok"),
        ({"tool": "t", "error": "timed out"}, True, "timed out"),
        ({"tool": "t", "error": None, "output": "ok"}, False, "ok"),
        ({"name": "t", "is_error": True}, True, None),
        ({"tool": "t", "is_error": False, "result": "Error: quoted"}, False, "Error: quoted"),
        ({"tool": "t", "result": "Error: no seats"}, True, "Error: no seats"),
        ({"tool_name": "t", "tool_response": {"error": "x"}}, True, {"error": "x"}),
        ({"tool": "t", "status": "FAILED"}, True, None),
        ({"tool": "t", "status": "ok"}, False, None),
        ({"tool": "t", "exit_code": 2, "output": "usage"}, True, "usage"),
        ({"tool": "t", "exit_code": 0}, False, None),
    ],
)
def test_a_plain_line_says_in_its_own_way_whether_the_call_failed(
    line: dict[str, Any], is_error: bool, result: Any
) -> None:
    [event] = read(as_lines(line))
    assert (event["is_error"], event["result"]) == (is_error, result)


def test_plain_lines_have_their_own_session_and_time() -> None:
    line = {"tool": "t", "result": 1, "session_id": "s-1", "timestamp": "2027-01-15T08:00:00Z", "call_id": "c"}
    [event] = read(as_lines(line))
    assert (event["session"], event["call_id"], event["occurred_at"]) == ("s-1", "s-1/c/1", 1_800_000_000_000)


def test_a_call_without_an_id_is_known_again_by_its_line_when_the_file_has_grown() -> None:
    lines = [{"tool": "t", "result": number} for number in range(3)]
    before, after = read(as_lines(*lines)), read(as_lines(*lines, {"tool": "t", "result": 9}))
    assert after[:3] == before
    assert len({event["call_id"] for event in after}) == 4


def test_runs_of_one_file_that_have_one_name_are_told_apart() -> None:
    report = ReadReport()
    run = {"task_id": 7, "trial": 0, "messages": CHAT}
    events = read(as_lines(run, run, {"messages": CHAT}), report)
    assert [event["session"] for event in events] == ["log:7/0", "log:7/0#2", "log:line 3"]
    assert (report.runs, report.renamed) == (3, 1)


def test_two_files_are_two_sessions_and_one_file_is_the_same_again() -> None:
    data = as_lines(*CHAT)
    assert (
        read(data, name="a")[0]["call_id"] == read(data, name="a")[0]["call_id"] != read(data, name="b")[0]["call_id"]
    )


@pytest.mark.parametrize(
    "data", [b"", b"\n\n", b"hello\n", b"\xff\xfe\n", b"[]", b"{}\n", b'{"tool": "t"}\n', b"null\n", b"[1]\n[2]\n"]
)
def test_what_holds_no_call_gives_none(data: bytes) -> None:
    assert read(data) == []


def test_a_first_line_that_is_cut_off_costs_no_other() -> None:
    report = ReadReport()
    assert len(read(b'{"tool": "t", "resu\n' + as_lines(*WHOLE), report)) == 1
    assert report.malformed == [1]


def test_a_broken_list_is_no_transcript() -> None:
    with pytest.raises(NoTranscriptError, match="JSON lines"):
        read(b'[{"role": "user"},')


def test_a_line_that_is_too_long_is_counted_and_the_next_is_read() -> None:
    report = ReadReport()
    long = b'{"tool": "t", "result": "' + b"x" * MAX_LINE_BYTES + b'"}\n'
    assert len(read(as_lines(*WHOLE) + long + as_lines({"tool": "u", "result": 1}), report)) == 2
    assert report.malformed == [2, 3]


class LongFile(io.RawIOBase):
    """A file of so many lines of messages, 400 bytes each, that is nowhere whole."""

    def __init__(self, lines: int) -> None:
        self._lines = self._made(lines // 2)

    def readline(self, size: int | None = -1, /) -> bytes:
        del size
        return next(self._lines, b"")

    @staticmethod
    def _made(calls: int) -> Iterator[bytes]:
        filling = b"x" * 300
        for number in range(calls):
            name = b'"tool-%d", "arguments": "{}"' % (number % 20)
            call = b'{"id": "call-%d", "function": {"name": %b}}' % (number, name)
            yield b'{"role": "assistant", "tool_calls": [%b], "content": "%b"}\n' % (call, filling)
            yield b'{"role": "tool", "tool_call_id": "call-%d", "content": "%b"}\n' % (number, filling)


def batches_of(file: LongFile) -> Iterator[int]:
    """How many events each batch has that comes of the file."""
    form, lines = form_of(lines_of(file))  # type: ignore[arg-type]
    yield from (len(batch) for batch in batches(Transcript(form, "long").events(lines)))


def test_a_hundred_thousand_lines_become_small_batches_one_after_the_other() -> None:
    sizes = list(batches_of(LongFile(100_000)))
    assert (max(sizes), sum(sizes)) == (90, 50_000)


def test_of_a_long_file_a_small_part_is_held_at_a_time() -> None:
    tracemalloc.start()
    count = sum(batches_of(LongFile(10_000)))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 5_000
    assert peak < 2_000_000

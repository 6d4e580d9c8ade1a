"""Plain tool logs: one JSON object a line, a whole call or one of its two halves.

A line with a tool and an outcome is a call; one with a tool and an id alone is a call that waits, and a line with that
id and an outcome completes it. Names differ between programs, so each thing has several (``shared/CLI.md`` lists them).
A whole call without an id is known again by its place: its line, in the session that it belongs to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from provenloop.adapters.transcripts.call_book import Answer, CallBook, Clock, Event
from provenloop.adapters.transcripts.ingest_form import arguments, own_time, plain_text, tool_name
from provenloop.adapters.transcripts.openai_chat import looks_like_error
from provenloop.adapters.transcripts.report import ReadReport

TOOL: Final = ("tool", "tool_name", "name")
ID: Final = ("call_id", "id", "tool_call_id", "tool_use_id")
INPUT: Final = ("input", "arguments", "args", "tool_input")
RESULT: Final = ("result", "output", "response", "tool_response")
ERROR: Final = ("error",)
FLAG: Final = ("is_error", "isError", "failed")
SESSION: Final = ("session", "session_id", "sessionId", "run_id")
_STATUS, _EXIT_CODE = "status", "exit_code"
_FAILURES: Final = frozenset({"error", "failed", "failure"})
_OUTCOME: Final = (*RESULT, *ERROR, *FLAG, _STATUS, _EXIT_CODE)
_LINE = "line "


class PlainRun:
    """The lines of one session of one file."""

    def __init__(self, session: str, report: ReadReport) -> None:
        self.report = report
        self.book = CallBook(session, report, _LINE)

    def take(self, line: Mapping[str, Any], number: int, clock: Clock) -> Iterator[Event]:
        """Note a call without an outcome; the event that a line is or completes. ``number`` is its own in the file."""
        at = clock.next(own_time(line))
        tool, key = tool_name(first(line, TOOL)), plain_text(first(line, ID))
        is_outcome = any(name in line for name in _OUTCOME)
        if not (tool or key) or not (key or is_outcome):
            self.report.unreadable += 1
            return
        self.report.messages += 1
        key = key or f"{_LINE}{number}"
        if tool:
            self.book.ask(key, tool, arguments(first(line, INPUT)))
        if is_outcome:
            event = self.book.answer(key, tool, Answer(_result(line), _failed(line), at))
            if event is not None:
                yield event


def first(line: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    """The first of the named values that is there."""
    return next((line[name] for name in names if line.get(name) is not None), None)


def _result(line: Mapping[str, Any]) -> Any:
    found = first(line, RESULT)
    return first(line, ERROR) if found is None else found


def _failed(line: Mapping[str, Any]) -> bool:
    said = next((line[name] for name in FLAG if isinstance(line.get(name), bool)), None)
    if said is not None:
        return bool(said)
    if line.get("error"):
        return True
    status, code = line.get(_STATUS), line.get(_EXIT_CODE)
    if isinstance(status, str) and status.casefold() in _FAILURES:
        return True
    if isinstance(code, int) and code != 0:
        return True
    return looks_like_error(first(line, RESULT))

"""OpenAI chat transcripts: a call of the assistant and the tool's answer become one ``tool_call`` event.

Calls and answers are matched by ``tool_call_id``, in order, since an id may be used again later in a run. Providers'
ids repeat across runs, so an event's ``call_id`` is made of the session, the id and its turn: reading a transcript
again gives the same ids, and sending it again adds nothing. The old form (``function_call`` and role ``function``) is
read too. Anything that cannot be used is counted in the report and never raised.
"""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import sha256
from itertools import islice
from typing import Any

from provenloop.adapters.transcripts.report import ReadReport
from provenloop.domain.instants import InstantError, parse_instant

MAX_ID_CHARS = 128
MAX_TOOL_CHARS = 128
STEP_MS = 1000
BATCH_EVENTS = 90
_EARLIEST_EPOCH_S = 946_684_800
_LATEST_EPOCH_S = 7_258_118_400

IsError = Callable[[Any], bool]
Event = dict[str, Any]


def looks_like_error(result: Any) -> bool:
    """Whether a tool's answer reports a failure.

    A text that begins with the word ``error`` and a colon, or a JSON object (also as text) whose ``error`` or
    ``is_error`` says so. The chat form has no field for it, so this is a guess that callers may replace.
    """
    if isinstance(result, str):
        text = result.strip()
        if text[:6].casefold() == "error:":
            return True
        result = _json_or_none(text) if text[:1] == "{" else None
    return isinstance(result, Mapping) and bool(result.get("error") or result.get("is_error"))


def read_chat(
    messages: Iterable[Any],
    *,
    session: str,
    occurred_at: int,
    step_ms: int = STEP_MS,
    is_error: IsError = looks_like_error,
    report: ReadReport | None = None,
) -> Iterator[Event]:
    """The tool calls of one run, as events of the ingest schema, in the order of their answers.

    Args:
        messages: the run's messages in the chat form.
        session: names the run; part of every call's id.
        occurred_at: when the run began, epoch ms; messages without a time of their own follow ``step_ms`` apart.
        is_error: tells from a tool's answer whether the call failed.
        report: counts what is seen.
    """
    run = _Run(session, is_error, report or ReadReport())
    at = occurred_at
    for message in messages:
        if not isinstance(message, Mapping):
            continue
        run.report.messages += 1
        at = _time_of(message) or at
        event = run.take(message, at)
        if event is not None:
            yield event
        at += step_ms
    run.report.unanswered += run.waiting


class _Run:
    """The calls of one run that wait for their answers."""

    def __init__(self, session: str, is_error: IsError, report: ReadReport) -> None:
        self.report = report
        self._session = session
        self._is_error = is_error
        self._calls: dict[str, deque[tuple[str, Any]]] = defaultdict(deque)
        self._turns: dict[str, int] = defaultdict(int)

    @property
    def waiting(self) -> int:
        """How many calls have no answer."""
        return sum(len(calls) for calls in self._calls.values())

    def take(self, message: Mapping[str, Any], at: int) -> Event | None:
        """Note the calls of an assistant's message; the event that a tool's message completes."""
        for call_id, tool, given in _calls_of(message):
            self._calls[call_id].append((tool, given))
        if message.get("role") not in ("tool", "function"):
            return None
        return self._answered(message, at)

    def _answered(self, message: Mapping[str, Any], at: int) -> Event | None:
        key = _answer_key(message)
        calls = self._calls.get(key)
        tool, given = calls.popleft() if calls else ("", None)
        if not calls and not tool:
            self.report.orphans += 1
        name = (tool or _text(message.get("name"))).strip()[:MAX_TOOL_CHARS]
        if not name:
            self.report.nameless += 1
            return None
        self._turns[key] += 1
        return self._event(key, name, given, _content(message.get("content")), at)

    def _event(self, key: str, tool: str, given: Any, result: Any, at: int) -> Event:
        failed = self._is_error(result)
        self.report.calls += 1
        self.report.errors += failed
        self.report.by_tool[tool] += 1
        self.report.errors_by_tool[tool] += failed
        return {
            "kind": "tool_call",
            "tool": tool,
            "is_error": failed,
            "result": result,
            "input": given,
            "call_id": _short_id(self._session, key, str(self._turns[key])),
            "session": _short_id(self._session),
            "occurred_at": at,
        }


def read_runs(
    lines: Iterable[str | bytes],
    *,
    started_at: int,
    spacing_ms: int,
    is_error: IsError = looks_like_error,
    report: ReadReport | None = None,
) -> Iterator[Event]:
    """The tool calls of a file of runs, one ``{task_id, trial, messages}`` a line; holds one run at a time.

    Args:
        started_at: when the first run began, epoch ms.
        spacing_ms: how far apart the runs began.
    """
    seen = report or ReadReport()
    for number, line in enumerate(lines, start=1):
        run = _json_or_none(line)
        messages = run.get("messages") if isinstance(run, Mapping) else None
        if not isinstance(run, Mapping) or not isinstance(messages, list):
            seen.malformed += [number] if line.strip() else []
            continue
        seen.runs += 1
        session = f"{_text(run.get('task_id')) or number}/{_text(run.get('trial')) or 0}"
        begun = started_at + (seen.runs - 1) * spacing_ms
        yield from read_chat(messages, session=session, occurred_at=begun, is_error=is_error, report=seen)


def batches(events: Iterable[Event], size: int = BATCH_EVENTS) -> Iterator[list[Event]]:
    """Events in requests of at most ``size``."""
    stream = iter(events)
    while batch := list(islice(stream, size)):
        yield batch


def _calls_of(message: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """(id, tool, input) of each call an assistant's message makes."""
    listed = message.get("tool_calls")
    for call in listed if isinstance(listed, list) else ():
        function = call.get("function") if isinstance(call, Mapping) else None
        if isinstance(function, Mapping):
            yield _text(call.get("id")), _text(function.get("name")), _arguments(function.get("arguments"))
    function = message.get("function_call")
    if isinstance(function, Mapping):
        name = _text(function.get("name"))
        yield f"function:{name}", name, _arguments(function.get("arguments"))


def _answer_key(message: Mapping[str, Any]) -> str:
    """The id under which the call of an answer waits."""
    if message.get("role") == "function":
        return f"function:{_text(message.get('name'))}"
    return _text(message.get("tool_call_id"))


def _arguments(value: Any) -> Any:
    """A call's arguments: JSON where they are JSON, else the text as it is."""
    if not isinstance(value, str):
        return value
    parsed = _json_or_none(value)
    return value if parsed is None else parsed


def _content(value: Any) -> Any:
    """A message's content: text, also out of a list of parts, or whatever JSON it is."""
    if not isinstance(value, list):
        return value
    parts = [part.get("text") for part in value if isinstance(part, Mapping)]
    texts = [part for part in parts if isinstance(part, str)]
    return "\n".join(texts) if texts else value


def _time_of(message: Mapping[str, Any]) -> int | None:
    """A message's own time, epoch ms: RFC 3339, or epoch seconds as the chat form writes them."""
    for name in ("timestamp", "created_at", "created"):
        value = message.get(name)
        if isinstance(value, int | float) and _EARLIEST_EPOCH_S <= value <= _LATEST_EPOCH_S:
            return int(value * 1000)
        if isinstance(value, str):
            try:
                return parse_instant(value, name)
            except InstantError:
                continue
    return None


def _json_or_none(text: str | bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _text(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ""
    return str(value)


def _short_id(*parts: str) -> str:
    """The parts as one id, or their digest where that would be too long."""
    joined = "/".join(parts)
    is_plain = len(joined) <= MAX_ID_CHARS and joined.isascii() and joined.isprintable()
    return joined if is_plain else sha256(joined.encode(errors="replace")).hexdigest()

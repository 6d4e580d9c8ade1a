"""OpenAI chat transcripts: a call of the assistant and the tool's answer become one ``tool_call`` event.

Calls and answers are matched by ``tool_call_id``, in order, since an id may be used again later in a run. Providers'
ids repeat across runs, so an event's ``call_id`` is made of the session, the id and its turn: reading a transcript
again gives the same ids, and sending it again adds nothing. The old form (``function_call`` and role ``function``) is
read too. Anything that cannot be used is counted in the report and never raised; every event fits the ingest schema.
"""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from provenloop.adapters.transcripts.ingest_form import (
    arguments,
    foreign_id,
    json_value,
    own_time,
    plain_text,
    plausible,
    sent_bytes,
    tool_name,
)
from provenloop.adapters.transcripts.report import ReadReport

STEP_MS = 1000
BATCH_EVENTS = 90
#: Below the 1 MiB that a request holds, with room for what stands around the events.
BATCH_BYTES = 1_000_000
_OLD_FORM = "function:"

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
        session: names the run; part of every call's id, so two runs that go into one memory need two names.
        occurred_at: when the run began, epoch ms. A message without a time of its own follows the one before by
            ``step_ms``; an event has the time of its answer. Times to come are passed on (the edge refuses them).
        is_error: tells from a tool's answer, a text or JSON value, whether the call failed.
        report: counts what is seen.
    """
    run = _Run(session, is_error, report or ReadReport())
    at = occurred_at
    for message in messages:
        if not isinstance(message, Mapping):
            run.report.unreadable += 1
            continue
        run.report.messages += 1
        at = own_time(message) or at
        event = run.take(message, plausible(at))
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
        self._asked: set[str] = set()
        self._turns: dict[str, int] = defaultdict(int)

    @property
    def waiting(self) -> int:
        """How many calls have no answer."""
        return sum(len(calls) for calls in self._calls.values())

    def take(self, message: Mapping[str, Any], at: int) -> Event | None:
        """Note the calls of an assistant's message; the event that a tool's message completes."""
        for key, function in _calls_of(message):
            self._ask(key, function)
        if message.get("role") not in ("tool", "function"):
            return None
        return self._answer(message, at)

    def _ask(self, key: str, function: Any) -> None:
        if not isinstance(function, Mapping):
            self.report.unreadable += 1
            return
        name = tool_name(function.get("name"))
        self.report.reused += key in self._asked and not _is_made_up(key)
        self._asked.add(key)
        self._calls[key].append((name, arguments(function.get("arguments"))))

    def _answer(self, message: Mapping[str, Any], at: int) -> Event | None:
        own_name = tool_name(message.get("name"))
        key = _key_of_old_form(own_name)
        if message.get("role") == "tool":
            key = plain_text(message.get("tool_call_id"))
        asked, given = "", None
        if waiting := self._calls[key]:
            asked, given = waiting.popleft()
        elif self._turns[key] and not _is_made_up(key):
            self.report.repeated += 1
            return None
        else:
            self.report.orphans += 1
        self._turns[key] += 1
        tool = asked or own_name
        if not tool:
            self.report.nameless += 1
            return None
        return self._event(key, tool, given, _content(message.get("content")), at)

    def _event(self, key: str, tool: str, given: Any, result: Any, at: int) -> Event:
        failed = bool(self._is_error(result))
        self.report.calls += 1
        self.report.errors += failed
        self.report.by_tool[tool] += 1
        self.report.errors_by_tool[tool] += failed
        return {
            "kind": "tool_call",
            "tool": tool,
            "is_error": failed,
            "result": json_value(result),
            "input": given,
            "call_id": foreign_id(self._session, key, str(self._turns[key])),
            "session": foreign_id(self._session),
            "occurred_at": at,
        }


def read_runs(
    lines: Iterable[str | bytes],
    *,
    started_at: int,
    spacing_ms: int,
    step_ms: int = STEP_MS,
    is_error: IsError = looks_like_error,
    report: ReadReport | None = None,
) -> Iterator[Event]:
    """The tool calls of a file of runs, one ``{task_id, trial, messages}`` a line.

    Holds one run at a time and the names of those before. A run's session is ``task_id/trial``; where the file has
    that one already (several agents' runs in one file), it gets a number more: ``7/0#2``.

    Args:
        lines: of a file opened in binary, where its encoding may be broken: such a line holds no run, and is counted.
        started_at: when the first run began, epoch ms.
        spacing_ms: how far apart the runs began.
        step_ms: see :func:`read_chat`, as the others.
    """
    seen = report or ReadReport()
    names: set[str] = set()
    begins = started_at
    for number, line in enumerate(lines, start=1):
        run = _json_or_none(line)
        messages = run.get("messages") if isinstance(run, Mapping) else None
        if not isinstance(run, Mapping) or not isinstance(messages, list):
            seen.malformed += [number] if line.strip() else []
            continue
        seen.runs += 1
        wanted = _name_of(run, number)
        session = _free_name(wanted, names)
        seen.renamed += session != wanted
        names.add(session)
        yield from read_chat(
            messages, session=session, occurred_at=begins, step_ms=step_ms, is_error=is_error, report=seen
        )
        begins += spacing_ms


def batches(events: Iterable[Event], size: int = BATCH_EVENTS, max_bytes: int = BATCH_BYTES) -> Iterator[list[Event]]:
    """Events in requests of at most ``size`` and ``max_bytes`` of JSON; an event is never left out for its size."""
    batch: list[Event] = []
    used = 0
    for event in events:
        needed = sent_bytes(event) + 2
        if batch and (len(batch) >= size or used + needed > max_bytes):
            yield batch
            batch, used = [], 0
        batch.append(event)
        used += needed
    if batch:
        yield batch


def _calls_of(message: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """(key, function) of what an assistant's message lists as calls; the function is unchecked."""
    listed = message.get("tool_calls")
    for call in listed if isinstance(listed, list) else ():
        known = call if isinstance(call, Mapping) else {}
        yield plain_text(known.get("id")), known.get("function")
    function = message.get("function_call")
    if function is not None:
        yield _key_of_old_form(tool_name(function.get("name")) if isinstance(function, Mapping) else ""), function


def _key_of_old_form(name: str) -> str:
    """The old form has no ids: answers are matched by the function's name."""
    return f"{_OLD_FORM}{name}"


def _is_made_up(key: str) -> bool:
    """Whether a key is none of the transcript's ids, so that meeting it again says nothing."""
    return not key or key.startswith(_OLD_FORM)


def _content(value: Any) -> Any:
    """A message's content: text, also out of a list of parts, or whatever JSON it is."""
    if not isinstance(value, list):
        return value
    parts = [part.get("text") if isinstance(part, Mapping) else part for part in value]
    texts = [part for part in parts if isinstance(part, str)]
    return "\n".join(texts) if texts else value


def _name_of(run: Mapping[str, Any], number: int) -> str:
    """The session of a run: its task and trial, or its line where it names no task."""
    task = plain_text(run.get("task_id"))
    return foreign_id(task, plain_text(run.get("trial")) or "0") if task else f"line {number}"


def _free_name(wanted: str, taken: set[str]) -> str:
    name, turn = wanted, 1
    while name in taken:
        turn += 1
        name = foreign_id(f"{wanted}#{turn}")
    return name


def _json_or_none(text: str | bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None

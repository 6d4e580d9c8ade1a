"""OpenAI chat transcripts: a call of the assistant and the tool's answer become one ``tool_call`` event.

Calls and answers are matched by ``tool_call_id`` (see ``call_book``). The old form (``function_call`` and role
``function``) is read too. Anything that cannot be used is counted in the report and never raised; every event fits the
ingest schema.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from provenloop.adapters.transcripts.call_book import Answer, CallBook, Clock, Event
from provenloop.adapters.transcripts.ingest_form import (
    arguments,
    foreign_id,
    own_time,
    plain_text,
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


def looks_like_error(result: Any) -> bool:
    """Whether a tool's answer reports a failure.

    A text that begins with the word ``error`` and a colon, or a JSON object (also as text) whose ``error`` or
    ``is_error`` says so. The chat form has no field for it, so this is a guess that callers may replace.
    """
    if isinstance(result, str):
        text = result.strip()
        if text[:6].casefold() == "error:":
            return True
        result = json_or_none(text) if text[:1] == "{" else None
    return isinstance(result, Mapping) and bool(result.get("error") or result.get("is_error"))


def read_chat(
    messages: Iterable[Any],
    *,
    session: str,
    occurred_at: int | None,
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
            None where nobody knows: then events have a time only where their answers tell one.
        is_error: tells from a tool's answer, a text or JSON value, whether the call failed.
        report: counts what is seen.
    """
    run = ChatRun(session, is_error, report or ReadReport())
    clock = Clock(occurred_at, step_ms)
    for message in messages:
        yield from run.take(message, clock)
    run.report.unanswered += run.book.waiting


class ChatRun:
    """One run: what its messages ask of tools, and what tools answer."""

    def __init__(self, session: str, is_error: IsError, report: ReadReport) -> None:
        self.report = report
        self.book = CallBook(session, report, _OLD_FORM)
        self._is_error = is_error

    def take(self, message: Any, clock: Clock) -> Iterator[Event]:
        """Note the calls of an assistant's message; the event that a tool's message completes, if it does."""
        if not isinstance(message, Mapping):
            self.report.unreadable += 1
            return
        self.report.messages += 1
        at = clock.next(own_time(message))
        for key, function in _calls_of(message):
            self._ask(key, function)
        if message.get("role") in ("tool", "function"):
            yield from self._answer(message, at)

    def _answer(self, message: Mapping[str, Any], at: int | None) -> Iterator[Event]:
        own_name = tool_name(message.get("name"))
        key = _key_of_old_form(own_name)
        if message.get("role") == "tool":
            key = plain_text(message.get("tool_call_id"))
        result = content_of(message.get("content"))
        event = self.book.answer(key, own_name, Answer(result, bool(self._is_error(result)), at))
        if event is not None:
            yield event

    def _ask(self, key: str, function: Any) -> None:
        if not isinstance(function, Mapping):
            self.report.unreadable += 1
            return
        self.book.ask(key, tool_name(function.get("name")), arguments(function.get("arguments")))


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
        run = json_or_none(line)
        messages = run.get("messages") if isinstance(run, Mapping) else None
        if not isinstance(run, Mapping) or not isinstance(messages, list):
            seen.malformed += [number] if line.strip() else []
            continue
        seen.runs += 1
        wanted = name_of_run(run, number)
        session = free_name(wanted, names)
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


def content_of(value: Any) -> Any:
    """A message's content: text, also out of a list of parts, or whatever JSON it is."""
    if not isinstance(value, list):
        return value
    parts = [part.get("text") if isinstance(part, Mapping) else part for part in value]
    texts = [part for part in parts if isinstance(part, str)]
    return "\n".join(texts) if texts else value


def name_of_run(run: Mapping[str, Any], number: int) -> str:
    """The session of a run: its task and trial, or its line where it names no task."""
    task = plain_text(run.get("task_id"))
    return foreign_id(task, plain_text(run.get("trial")) or "0") if task else f"line {number}"


def free_name(wanted: str, taken: set[str]) -> str:
    """The name, or with a number more where it is taken."""
    name, turn = wanted, 1
    while name in taken:
        turn += 1
        name = foreign_id(f"{wanted}#{turn}")
    return name


def json_or_none(text: str | bytes) -> Any:
    """The JSON of a line, None where it holds none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None

"""Anthropic transcripts: a ``tool_use`` block and its ``tool_result`` become one ``tool_call`` event.

Calls and answers are matched by ``tool_use_id`` (see ``call_book``). A message may stand by itself or within a line
that coding agents write around it (``message``, with a ``timestamp`` beside it). Anything that cannot be used is
counted in the report and never raised; every event fits the ingest schema.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from provenloop.adapters.transcripts.call_book import Answer, CallBook, Clock, Event
from provenloop.adapters.transcripts.ingest_form import json_value, own_time, plain_text, tool_name
from provenloop.adapters.transcripts.openai_chat import STEP_MS, IsError, content_of, looks_like_error
from provenloop.adapters.transcripts.report import ReadReport

_CALL, _ANSWER = "tool_use", "tool_result"


def read_messages(
    messages: Iterable[Any],
    *,
    session: str,
    occurred_at: int | None,
    step_ms: int = STEP_MS,
    is_error: IsError = looks_like_error,
    report: ReadReport | None = None,
) -> Iterator[Event]:
    """The tool calls of one run; the arguments are those of :func:`~.openai_chat.read_chat`.

    ``is_error`` is asked of answers that do not say themselves whether they are one.
    """
    run = MessagesRun(session, is_error, report or ReadReport())
    clock = Clock(occurred_at, step_ms)
    for message in messages:
        yield from run.take(message, clock)
    run.report.unanswered += run.book.waiting


class MessagesRun:
    """One run: what its messages ask of tools, and what tools answer."""

    def __init__(self, session: str, is_error: IsError, report: ReadReport) -> None:
        self.report = report
        self.book = CallBook(session, report)
        self._is_error = is_error

    def take(self, line: Any, clock: Clock) -> Iterator[Event]:
        """Note the calls of a message; the events that its answers complete."""
        if not isinstance(line, Mapping):
            self.report.unreadable += 1
            return
        message = bare_message(line)
        self.report.messages += 1
        at = clock.next(own_time(message) or own_time(line))
        content = message.get("content")
        for block in content if isinstance(content, list) else ():
            if isinstance(block, Mapping):
                yield from self._block(block, at)

    def _block(self, block: Mapping[str, Any], at: int | None) -> Iterator[Event]:
        if block.get("type") == _CALL:
            self.book.ask(plain_text(block.get("id")), tool_name(block.get("name")), json_value(block.get("input")))
        elif block.get("type") == _ANSWER:
            result = content_of(block.get("content"))
            said = block.get("is_error")
            failed = said if isinstance(said, bool) else bool(self._is_error(result))
            event = self.book.answer(plain_text(block.get("tool_use_id")), "", Answer(result, failed, at))
            if event is not None:
                yield event


def bare_message(line: Mapping[str, Any]) -> Mapping[str, Any]:
    """The message that stands in a line, or is it."""
    within = line.get("message")
    return within if isinstance(within, Mapping) and "role" in within else line

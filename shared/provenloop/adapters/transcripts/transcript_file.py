"""Files of transcripts: what form they have, and their tool calls, read line by line.

Invariants: a file is never held whole but where it is one JSON value, which may have ``MAX_WHOLE_BYTES``; a line has at
most ``MAX_LINE_BYTES``; what is longer is counted as malformed. The same file gives the same ids each time.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import IO, Any, Final, Literal, get_args

from provenloop.adapters.transcripts.anthropic_messages import MessagesRun, bare_message
from provenloop.adapters.transcripts.call_book import Clock, Event
from provenloop.adapters.transcripts.ingest_form import foreign_id, plain_text
from provenloop.adapters.transcripts.openai_chat import (
    STEP_MS,
    ChatRun,
    free_name,
    json_or_none,
    looks_like_error,
    name_of_run,
)
from provenloop.adapters.transcripts.plain_lines import SESSION, PlainRun, first
from provenloop.adapters.transcripts.report import ReadReport

Form = Literal["openai", "anthropic", "jsonl"]
FORMS: Final[tuple[Form, ...]] = get_args(Form)
MAX_WHOLE_BYTES: Final = 64 * 1024 * 1024
MAX_LINE_BYTES: Final = 16 * 1024 * 1024
_LOOKED_AT: Final = 50
_BLOCKS: Final = frozenset({"tool_use", "tool_result"})

Run = ChatRun | MessagesRun | PlainRun


class NoTranscriptError(ValueError):
    """The file is none that can be read."""


def lines_of(file: IO[bytes], read: Callable[[int], None] = lambda _: None) -> Iterator[bytes]:
    """The lines of a file, or of the one JSON value that it is; ``read`` is told how many bytes were read.

    Raises:
        NoTranscriptError: it is one JSON value, and too large or broken.
    """
    line = file.readline(MAX_LINE_BYTES)
    if line.lstrip()[:1] in (b"[", b"{") and not isinstance(json_or_none(line), Mapping):
        is_whole = isinstance(json_or_none(line), list)
        text = line if is_whole else line + file.read(MAX_WHOLE_BYTES)
        read(len(text))
        yield from _parts_of(text)
        line = file.readline(MAX_LINE_BYTES)
    while line:
        read(len(line))
        yield line
        line = file.readline(MAX_LINE_BYTES)


def form_of(lines: Iterable[bytes]) -> tuple[Form, Iterator[bytes]]:
    """(the form that the first lines show, all lines)."""
    rest = iter(lines)
    looked_at = list(islice(rest, _LOOKED_AT))
    found: Form = "jsonl"
    for parsed in map(json_or_none, looked_at):
        for message in _messages_in(parsed):
            if _is_anthropic(message):
                return "anthropic", chain(looked_at, rest)
            found = "openai"
    return found, chain(looked_at, rest)


class Transcript:
    """The tool calls of one file.

    Args:
        form: see :func:`form_of`.
        name: names the session of what names none itself; part of every call's id.
        begins: epoch ms of what has no time of its own; None where nobody knows.
        report: counts what is seen.
    """

    def __init__(self, form: Form, name: str, begins: int | None = None, report: ReadReport | None = None) -> None:
        self.report = report or ReadReport()
        self._form = form
        self._name = name
        self._clock = Clock(begins, STEP_MS)
        self._runs: dict[str, Run] = {}
        self._taken: set[str] = set()

    def events(self, lines: Iterable[bytes]) -> Iterator[Event]:
        """The calls, as events of the ingest schema, in the order of their answers."""
        for number, line in enumerate(lines, start=1):
            parsed = json_or_none(line)
            if not isinstance(parsed, Mapping):
                self.report.malformed += [number] if line.strip() else []
                continue
            yield from self._line(parsed, number)
        for run in self._runs.values():
            self.report.unanswered += run.book.waiting

    def _line(self, line: Mapping[str, Any], number: int) -> Iterator[Event]:
        messages = line.get("messages")
        if self._form == "jsonl":
            run = self._run(plain_text(first(line, SESSION)))
            if isinstance(run, PlainRun):
                yield from run.take(line, number, self._clock)
        elif isinstance(messages, list):
            yield from self._whole_run(messages, name_of_run(line, number))
        else:
            known = self._run(plain_text(first(line, SESSION)))
            if not isinstance(known, PlainRun):
                yield from known.take(line, self._clock)

    def _whole_run(self, messages: list[Any], named: str) -> Iterator[Event]:
        wanted = foreign_id(f"{self._name}:{named}")
        session = free_name(wanted, self._taken)
        self.report.renamed += session != wanted
        self._taken.add(session)
        run = self._made(session)
        self.report.runs += 1
        for message in messages:
            if not isinstance(run, PlainRun):
                yield from run.take(message, self._clock)
        self.report.unanswered += run.book.waiting

    def _run(self, session: str) -> Run:
        """The run that a line belongs to; of a session that it names itself, whatever file it stands in."""
        name = foreign_id(session) if session else self._name
        if name not in self._runs:
            self._runs[name] = self._made(name)
            self.report.runs += 1
        return self._runs[name]

    def _made(self, session: str) -> Run:
        if self._form == "jsonl":
            return PlainRun(session, self.report)
        kind = MessagesRun if self._form == "anthropic" else ChatRun
        return kind(session, looks_like_error, self.report)


def _parts_of(text: bytes) -> Iterator[bytes]:
    """The elements of a text that is one JSON value, as lines; else its lines, of which the first is broken."""
    value = json_or_none(text)
    if not isinstance(value, Mapping | list):
        if text.lstrip()[:1] == b"[":
            raise NoTranscriptError(f"one JSON value that is broken, or over {MAX_WHOLE_BYTES} bytes: write JSON lines")
        yield from text.splitlines(keepends=True)
        return
    for part in value if isinstance(value, list) else [value]:
        yield json.dumps(part).encode()


def _messages_in(parsed: Any) -> Iterator[Mapping[str, Any]]:
    """The messages of a line: those of a run, or the one that it is."""
    if not isinstance(parsed, Mapping):
        return
    listed = parsed.get("messages")
    for each in listed if isinstance(listed, list) else [bare_message(parsed)]:
        if isinstance(each, Mapping) and isinstance(each.get("role"), str):
            yield each


def _is_anthropic(message: Mapping[str, Any]) -> bool:
    content = message.get("content")
    blocks = content if isinstance(content, list) else ()
    return any(isinstance(block, Mapping) and block.get("type") in _BLOCKS for block in blocks)

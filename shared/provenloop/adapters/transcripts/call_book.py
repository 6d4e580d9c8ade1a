"""Calls of one run that wait for their answers, whatever form the transcript has.

Calls and answers are matched by id, in order, since an id may be used again later in a run. Providers' ids repeat
across runs, so an event's ``call_id`` is made of the session, the id and its turn: reading a transcript again gives the
same ids, and sending it again adds nothing.
"""

from __future__ import annotations

from collections import defaultdict, deque
from typing import Any, NamedTuple

from provenloop.adapters.transcripts.ingest_form import foreign_id, json_value, plausible
from provenloop.adapters.transcripts.report import ReadReport

Event = dict[str, Any]


class Answer(NamedTuple):
    """What a tool gave back. ``at`` is epoch ms, None where nobody says when."""

    result: Any
    failed: bool
    at: int | None


class CallBook:
    """The calls of one run.

    Args:
        session: names the run; part of every call's id.
        report: counts what is seen.
        made_up: begins the keys that are none of the transcript's ids, so that meeting one again says nothing; nor
            does an empty key.
    """

    def __init__(self, session: str, report: ReadReport, made_up: str = "function:") -> None:
        self.report = report
        self._session = session
        self._made_up = made_up
        self._calls: dict[str, deque[tuple[str, Any]]] = {}
        self._asked: set[str] = set()
        self._turns: dict[str, int] = defaultdict(int)

    @property
    def waiting(self) -> int:
        """How many calls have no answer."""
        return sum(len(calls) for calls in self._calls.values())

    def ask(self, key: str, tool: str, given: Any) -> None:
        """Note a call; an empty ``tool`` is one without a name."""
        self.report.reused += key in self._asked and not self._is_made_up(key)
        self._asked.add(key)
        self._calls.setdefault(key, deque()).append((tool, given))

    def answer(self, key: str, own_name: str, answer: Answer) -> Event | None:
        """The event that an answer completes; None where it is left out, which is counted."""
        asked, given = "", None
        if waiting := self._calls.get(key):
            asked, given = waiting.popleft()
            if not waiting:
                del self._calls[key]
        elif self._turns.get(key) and not self._is_made_up(key):
            self.report.repeated += 1
            return None
        else:
            self.report.orphans += 1
        self._turns[key] += 1
        tool = asked or own_name
        if not tool:
            self.report.nameless += 1
            return None
        return self._event(key, tool, given, answer)

    def _event(self, key: str, tool: str, given: Any, answer: Answer) -> Event:
        self.report.calls += 1
        self.report.errors += answer.failed
        self.report.by_tool[tool] += 1
        self.report.errors_by_tool[tool] += answer.failed
        event = {
            "kind": "tool_call",
            "tool": tool,
            "is_error": answer.failed,
            "result": json_value(answer.result),
            "input": given,
            "call_id": foreign_id(self._session, key, str(self._turns[key])),
            "session": foreign_id(self._session),
        }
        return event if answer.at is None else {**event, "occurred_at": answer.at}

    def _is_made_up(self, key: str) -> bool:
        return not key or key.startswith(self._made_up)


class Clock:
    """When things in a transcript happened: as they say themselves, else a step after what came before.

    Args:
        begins: epoch ms of the beginning; None where nobody knows, and then only what has a time of its own has one.
        step_ms: how far apart messages are taken to be.
    """

    def __init__(self, begins: int | None, step_ms: int) -> None:
        self._at = begins
        self._step_ms = step_ms
        self._only_own = begins is None

    def next(self, own: int | None) -> int | None:
        """The time of the next thing, epoch ms, as it may be sent; ``own`` is what it says itself."""
        at = own if self._only_own else own or self._at
        self._at = None if at is None else at + self._step_ms
        return None if at is None else plausible(at)

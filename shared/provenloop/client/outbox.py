"""Events on their way: gathered into batches, sent in the background, and never lost without a word.

A batch is sealed with its Idempotency-Key and keeps both until the service has it or has refused it for good, so that
sending it again after a broken connection stores nothing twice. An event that makes the service refuse its batch is
taken out, and the others go without it.
"""

from __future__ import annotations

import re
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from provenloop.client.errors import MISUSED, TOO_MANY_WAITING, UNREACHABLE, ProvenloopError
from provenloop.client.transport import PASSING, Options, encoded

#: What one request may hold.
MAX_EVENTS: Final = 90
MAX_BYTES: Final = 1_000_000
_TOO_LARGE: Final = 413
#: How long the background leaves a service alone that cannot be reached, in seconds.
_SHORTEST_S: Final = 0.5
_LONGEST_S: Final = 60.0
_AT_FAULT = re.compile(r"events\[(\d{1,3})\]")

Event = Mapping[str, Any]
Events = tuple[Event, ...]
#: Sends a batch under a key, so many times at most (None: as often as usual).
Send = Callable[[Sequence[Event], str, int | None], object]


class _Waiting(NamedTuple):
    event: Event
    size: int


@dataclass(frozen=True, slots=True)
class _Batch:
    key: str
    events: tuple[Event, ...]


class Outbox:
    """Takes events of any thread, and sends them in the order in which they came."""

    def __init__(self, send: Send, options: Options) -> None:
        self._send = send
        self._options = options
        self._changed = threading.Condition()
        #: Held by whoever sends: batches must not overtake each other.
        self._sending = threading.Lock()
        self._waiting: deque[_Waiting] = deque()
        self._sealed: deque[_Batch] = deque()
        self._given_up: list[tuple[tuple[Event, ...], ProvenloopError]] = []
        self._worker: threading.Thread | None = None
        self._is_closed = False

    @property
    def waiting(self) -> int:
        """How many events the service does not have yet."""
        with self._changed:
            return len(self._waiting) + sum(len(batch.events) for batch in self._sealed)

    def add(self, event: Event) -> None:
        """Take an event; it is sent soon.

        Raises:
            TypeError, ValueError: it is no JSON.
            ProvenloopError: the outbox is closed, or has as many as it may hold; the event was not taken.
        """
        size = len(encoded(event)) + 1
        with self._changed:
            if self._is_closed:
                raise ProvenloopError("the client is closed", code=MISUSED)
            told_of = sum(len(events) for events, _ in self._given_up)
            if self.waiting + told_of >= self._options.max_waiting:
                raise ProvenloopError("too many events wait to be sent", code=TOO_MANY_WAITING)
            self._waiting.append(_Waiting(dict(event), size))
            self._start()
            if len(self._waiting) in (1, MAX_EVENTS):
                self._changed.notify_all()

    def flush(self) -> None:
        """Send everything that waits now.

        Raises:
            ProvenloopError: events were given up (its ``unsent``), or the service cannot be reached: then they wait on,
                and the next flush tries again.
        """
        stuck = self._send_all()
        with self._changed:
            given_up, self._given_up = self._given_up, []
        if given_up:
            raise _with(given_up[0][1], [event for events, _ in given_up for event in events])
        if stuck is not None:
            raise stuck

    def close(self, attempts: int | None = None) -> None:
        """Send everything, and take no more.

        Raises:
            ProvenloopError: some could not be sent; they are its ``unsent``, and no longer held.
        """
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        stuck = self._send_all(attempts)
        if stuck is not None:
            self._give_up(self._taken_back(), stuck)
        self.flush()

    def _start(self) -> None:
        if self._worker is None:
            self._worker = threading.Thread(target=self._work, name="provenloop-outbox", daemon=True)
            self._worker.start()

    def _work(self) -> None:
        pause_s = self._options.send_after_s
        is_stuck = False
        while self._waited(pause_s, 0 if is_stuck else MAX_EVENTS):
            is_stuck = self._send_all() is not None
            pause_s = min(max(pause_s, _SHORTEST_S) * 2, _LONGEST_S) if is_stuck else self._options.send_after_s

    def _waited(self, pause_s: float, enough: int) -> bool:
        """Wait for something to send, and then for company: so long, or until ``enough`` are there (0: never enough).

        False once the outbox is closed.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._is_closed or self._waiting or self._sealed)
            self._changed.wait_for(lambda: self._is_closed or 0 < enough <= len(self._waiting), timeout=pause_s)
            return not self._is_closed

    def _send_all(self, attempts: int | None = None) -> ProvenloopError | None:
        """Send what waits; why it stopped early, if it did."""
        with self._sending:
            while (batch := self._next()) is not None:
                try:
                    self._send(batch.events, batch.key, attempts)
                except ProvenloopError as error:
                    if error.status in PASSING or error.code == UNREACHABLE:
                        return error
                    self._replace(batch, error)
                else:
                    self._done()
        return None

    def _next(self) -> _Batch | None:
        with self._changed:
            if not self._sealed and self._waiting:
                self._seal()
            return self._sealed[0] if self._sealed else None

    def _seal(self) -> None:
        events: list[Event] = []
        used = 0
        while self._waiting and len(events) < MAX_EVENTS and (not events or used + self._waiting[0].size <= MAX_BYTES):
            event, size = self._waiting.popleft()
            events.append(event)
            used += size
        self._sealed.append(_Batch(self._options.new_key(), tuple(events)))

    def _done(self) -> None:
        with self._changed:
            self._sealed.popleft()

    def _replace(self, batch: _Batch, error: ProvenloopError) -> None:
        """Put in the place of a refused batch what of it can be sent without what was refused."""
        parts, refused = parts_without(batch.events, error)
        with self._changed:
            self._sealed.popleft()
            self._sealed.extendleft(_Batch(self._options.new_key(), part) for part in reversed(parts) if part)
        if refused:
            self._give_up(refused, error)

    def _give_up(self, events: tuple[Event, ...], error: ProvenloopError) -> None:
        if self._options.on_unsent is not None:
            self._options.on_unsent(events, error)
        else:
            with self._changed:
                self._given_up.append((events, error))

    def _taken_back(self) -> tuple[Event, ...]:
        with self._changed:
            events = [event for batch in self._sealed for event in batch.events]
            events += [each.event for each in self._waiting]
            self._sealed.clear()
            self._waiting.clear()
        return tuple(events)


def parts_without(
    events: tuple[Event, ...], error: ProvenloopError
) -> tuple[list[tuple[Event, ...]], tuple[Event, ...]]:
    """(what can be sent again, in order; what cannot) of a batch that was refused."""
    found = _AT_FAULT.match(error.field or "")
    if found and int(found[1]) < len(events):
        at = int(found[1])
        return [events[:at] + events[at + 1 :]], events[at : at + 1]
    if error.status == _TOO_LARGE and len(events) > 1:
        middle = len(events) // 2
        return [events[:middle], events[middle:]], ()
    return [], events


def _with(error: ProvenloopError, unsent: Sequence[Event]) -> ProvenloopError:
    return ProvenloopError(error.detail, code=error.code, status=error.status, field=error.field, unsent=unsent)

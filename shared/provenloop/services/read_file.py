"""Reading a file of events: each line an event, recorded in batches as events of a request are.

A line is refused only for what is wrong with it by itself: where a batch is refused, its lines are sent in smaller
parts until the one at fault is alone. Reading the same lines of the same file again records nothing: a batch is known
again by its lines, and an event without an identity of its own by its line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from typing import Literal, NamedTuple

from provenloop.domain.canonical import canonical_json, sha256_hex
from provenloop.domain.errors import ConflictError, InvalidInputError, LoopError, NotFoundError, TooLargeError
from provenloop.domain.events import Event
from provenloop.domain.inbox import Drop, Progress, Refusal, index_in_batch, refusal_of
from provenloop.domain.names import MemoryId
from provenloop.domain.policy import TelemetryMode
from provenloop.domain.principal import Principal, require_memory
from provenloop.domain.use_events import Report
from provenloop.services import ingest
from provenloop.services.call import Call
from provenloop.services.file_lines import MAX_LINE_BYTES, Line, batches, lines_from
from provenloop.services.inbox_port import FileChangedError, FileGoneError, InboxBucket
from provenloop.services.memories import require_heads
from provenloop.services.ports import Entropy, Store

#: Reads the bytes of one line as one event at an instant (epoch ms), or refuses them.
Parse = Callable[[bytes, int], Event | Report]

_FAULTS = (InvalidInputError, NotFoundError, ConflictError, TooLargeError)
_OUTCOMES: Mapping[str, str] = {"duplicate": "known", "ignored": "ignored"}


@dataclass(frozen=True, slots=True)
class Reading:
    """One stretch of reading a file: who reads it into which memory, and how.

    ``now`` gives epoch ms; ``spent`` says whether the time of this stretch is used up.
    """

    principal: Principal
    memory: MemoryId
    message_id: str
    now: Callable[[], int]
    entropy: Entropy
    spent: Callable[[], bool]
    parse: Parse
    mode: TelemetryMode


Outcome = Literal["read", "gone", "replaced", "sent on"]


class Stretch(NamedTuple):
    """How far a stretch has come, how it ended, and what kept it from going on, if something did."""

    progress: Progress
    outcome: Outcome
    kept_by: LoopError | None = None


def read_on(store: Store, bucket: InboxBucket, drop: Drop, progress: Progress, reading: Reading) -> Stretch:
    """Record the lines of a file from where it was left, until it ends or the time is spent; one batch at the least.

    Raises:
        ScopeDeniedError, NotFoundError: the source may not write into that memory, or there is none.
        LoopError: an outside reason, before anything was recorded.
    """
    require_memory(reading.principal, reading.memory.name)
    require_heads(store, reading.memory)
    begun = progress
    try:
        for batch in batches(lines_from(partial(bucket.block, drop), progress.offset, progress.lines)):
            if progress is not begun and reading.spent():
                return Stretch(progress, "sent on")
            progress = _Recording(store, drop, reading).after(progress, batch)
    except FileGoneError:
        return Stretch(progress, "gone")
    except FileChangedError:
        return Stretch(progress, "replaced")
    except LoopError as error:
        if progress is begun:
            raise
        return Stretch(progress, "sent on", error)
    return Stretch(progress, "read")


class _Sent(NamedTuple):
    """A line that was read as an event."""

    number: int
    digest: str
    event: Event | Report


@dataclass
class _Recording:
    """One batch of lines on its way into the memory."""

    store: Store
    drop: Drop
    reading: Reading
    refusals: list[Refusal] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def after(self, progress: Progress, lines: Sequence[Line]) -> Progress:
        """The progress once these lines are recorded or refused."""
        waiting = [list(self._read(lines))]
        while waiting:
            part = waiting.pop()
            try:
                self._record(part)
            except _FAULTS as error:
                if error.retryable or error.field == "memory":
                    raise
                if len(part) == 1:
                    self.refusals.append(refusal_of(part[0].number, error))
                else:
                    waiting.extend(reversed(_parts(part, index_in_batch(error))))
        return progress.after(lines[-1].end, lines[-1].number, self.counts, tuple(sorted(self.refusals)))

    def _read(self, lines: Sequence[Line]) -> Iterator[_Sent]:
        now = self.reading.now()
        for line in lines:
            if line.data is not None and not line.data.strip():
                continue
            try:
                if line.data is None:
                    raise TooLargeError(f"a line holds at most {MAX_LINE_BYTES} bytes")
                event = self.reading.parse(line.data, now)
            except LoopError as error:
                self.refusals.append(refusal_of(line.number, error))
            else:
                yield _Sent(line.number, sha256(line.data).hexdigest(), event)

    def _record(self, sent: Sequence[_Sent]) -> None:
        if not sent:
            return
        reading = self.reading
        origins = [sha256_hex(canonical_json([self.drop.key, each.number, each.digest])) for each in sent]
        digest = sha256_hex(canonical_json(origins))
        call = Call(
            principal=reading.principal,
            memory=reading.memory,
            now=reading.now(),
            request_id=reading.message_id,
            idempotency_key=f"lines:{digest}",
            entropy=reading.entropy,
            body_digest=digest,
        )
        events = [each.event for each in sent]
        answer = ingest.record_events(self.store, call, events, reading.mode, origins)
        self.counts.update(_OUTCOMES.get(event["status"], "recorded") for event in answer["events"])


def _parts(sent: Sequence[_Sent], at: int | None) -> list[list[_Sent]]:
    """A refused batch in parts: the line at fault apart from those before and after it, else two halves."""
    cuts = (len(sent) // 2, len(sent) // 2) if at is None else (at, at + 1)
    parts = (sent[: cuts[0]], sent[cuts[0] : cuts[1]], sent[cuts[1] :])
    return [list(part) for part in parts if part]

"""Reading a file of events into a memory: stopped anywhere it comes to the same, and its length costs no memory."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenloop.domain.errors import InvalidInputError, LoopError, NotFoundError, ScopeDeniedError, UnavailableError
from provenloop.domain.events import Event, FactEvent
from provenloop.domain.inbox import Drop, Progress, read_progress
from provenloop.domain.names import MemoryId
from provenloop.services import ingest
from provenloop.services.inbox_port import Block
from provenloop.services.read_file import Reading, read_on
from tests.builders import NOW, Desk, make_principal

DROP = Drop("inbox/shop/demo/day", "e", "d-1")
BLOCK = 1 << 20
BAD = b"bad"


class Lines:
    """A file of equally long lines that is made as it is read; implements what reading asks of ``InboxBucket``."""

    def __init__(self, lines: int, width: int) -> None:
        self.size, self.width = lines * width, width

    def block(self, _drop: Drop, offset: int) -> Block:
        end = min(offset + BLOCK, self.size)
        first, last = offset // self.width, -(-end // self.width)
        text = b"".join(b"%0*d\n" % (self.width - 1, number) for number in range(first, last))
        return Block(text[offset - first * self.width :][: end - offset], end == self.size)


class Held:
    """A file that is held whole."""

    def __init__(self, lines: Sequence[bytes]) -> None:
        self.data = b"\n".join(lines)

    def block(self, _drop: Drop, offset: int) -> Block:
        part = self.data[offset : offset + 7]
        return Block(part, offset + len(part) == len(self.data))


class Known:
    """A store in which the memory is there, and nothing else is asked."""

    def heads(self, _memory: MemoryId) -> object:
        return object()


def event_of(line: bytes, _now: int) -> Event:
    if line == BAD:
        raise InvalidInputError("bad", field="events[0].object")
    return FactEvent("shared", line.decode(), "is", "there")


def reading(**how: Any) -> Reading:
    fields: dict[str, Any] = {
        "principal": make_principal("shop", "write", kind="service"), "memory": MemoryId("acme", "demo"),
        "message_id": "m-1", "now": lambda: NOW, "entropy": bytes, "spent": lambda: False, "parse": event_of,
        "mode": "off",
    }  # fmt: skip
    return Reading(**{**fields, **how})


def stretches(bucket: Any, spent: Iterator[bool]) -> Progress:
    """The progress at the end of a file, each stretch of which goes on from what a message brought."""
    progress = Progress(NOW)
    while True:
        stretch = read_on(Known(), bucket, DROP, progress, reading(spent=lambda: next(spent)))  # type: ignore[arg-type]
        progress = read_progress(json.loads(json.dumps(stretch.progress.as_plain())))
        if stretch.outcome == "read":
            return progress
        assert stretch.outcome == "sent on"


def all_stored(_store: object, _call: object, events: Sequence[Event], *_: Any) -> dict[str, Any]:
    return {"events": [{"status": "stored"} for _ in events]}


def test_a_hundred_thousand_lines_are_read_in_stretches() -> None:
    spent = (number % 100 == 0 for number in count(1))
    with patch.object(ingest, "record_events", all_stored):
        progress = stretches(Lines(100_000, 20), spent)

    assert (progress.lines, progress.recorded, progress.offset) == (100_000, 100_000, 2_000_000)


def test_a_file_of_many_megabytes_takes_a_few_at_a_time() -> None:
    with patch.object(ingest, "record_events", all_stored):
        tracemalloc.start()
        progress = stretches(Lines(4_000, 10_000), iter(lambda: False, True))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()

    assert (progress.recorded, progress.offset) == (4_000, 40_000_000)
    assert peak < 10 * BLOCK


@given(
    lines=st.lists(st.sampled_from([b"a", b"bb", BAD, b"", b"x" * 30]), max_size=40),
    stops=st.lists(st.booleans(), max_size=20),
)
def test_stopped_between_any_two_batches_it_comes_to_the_same(lines: list[bytes], stops: list[bool]) -> None:
    with patch.object(ingest, "record_events", all_stored), patch("provenloop.services.file_lines.MAX_EVENTS", 3):
        whole = stretches(Held(lines), iter(lambda: False, True))
        parts = stretches(Held(lines), iter([*stops, *[False] * 50]))

    assert parts == whole
    assert whole.recorded == sum(1 for line in lines if line not in (BAD, b""))
    assert [(each.line, each.field) for each in whole.refusals] == [
        (number, "object") for number, line in enumerate(lines, 1) if line == BAD
    ]


@given(bad=st.sets(st.integers(0, 19)), named=st.booleans())
def test_of_a_refused_batch_exactly_the_lines_at_fault_are_refused_whether_or_not_it_says_which(
    bad: set[int], named: bool
) -> None:
    def choosy(_store: object, _call: object, events: Sequence[FactEvent], *_: Any) -> dict[str, Any]:
        for index, event in enumerate(events):
            if int(event.subject) in bad:
                raise NotFoundError("no such grain", field=f"events[{index}].target" if named else None)
        recorded.extend(int(event.subject) for event in events)
        return {"events": [{"status": "stored"} for _ in events]}

    recorded: list[int] = []
    with patch.object(ingest, "record_events", choosy):
        progress = stretches(Held([b"%d" % number for number in range(20)]), iter(lambda: False, True))

    assert recorded == [number for number in range(20) if number not in bad]
    assert [each.line - 1 for each in progress.refusals] == sorted(bad)


@pytest.mark.parametrize("error", [UnavailableError("throttled"), ScopeDeniedError("revoked")])
def test_what_is_no_fault_of_a_line_keeps_the_file_where_it_is(error: LoopError) -> None:
    sent: list[int] = []

    def failing(_store: object, _call: object, events: Sequence[Event], *_: Any) -> dict[str, Any]:
        sent.append(len(events))
        if len(sent) > 1:
            raise error
        return all_stored(None, None, events)

    bucket = Held([b"%d" % number for number in range(100)])
    with patch.object(ingest, "record_events", failing):
        stretch = read_on(Known(), bucket, DROP, Progress(NOW), reading())  # type: ignore[arg-type]
        assert (stretch.outcome, stretch.kept_by, stretch.progress.recorded) == ("sent on", error, 90)
        with pytest.raises(type(error)):
            read_on(Known(), bucket, DROP, stretch.progress, reading())  # type: ignore[arg-type]


def test_a_file_for_a_memory_that_its_source_may_not_use_is_not_looked_at(desk: Desk) -> None:
    stranger = replace(make_principal("shop", "write"), memories="other")
    with pytest.raises(ScopeDeniedError):
        read_on(desk.store, Held([b"a"]), DROP, Progress(NOW), reading(principal=stranger))  # type: ignore[arg-type]
    with pytest.raises(NotFoundError):
        read_on(desk.store, Held([b"a"]), DROP, Progress(NOW), reading(memory=MemoryId("acme", "never")))  # type: ignore[arg-type]

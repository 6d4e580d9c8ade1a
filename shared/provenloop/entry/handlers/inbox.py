"""Files of events in the inbox, told of by S3, each read in stretches; its report lies beside it in the end.

The key says which source and which memory a file is for; the source's row says whose it is, and whether it may.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any
from urllib.parse import unquote_plus

from provenloop.domain.canonical import StrictJsonError, parse_strict
from provenloop.domain.errors import ForbiddenError, InvalidInputError, LoopError, NotFoundError
from provenloop.domain.events import Event
from provenloop.domain.inbound_source import source_named
from provenloop.domain.inbox import Drop, Progress, Status, place_of, read_progress, report_of
from provenloop.domain.names import MemoryId, require_name
from provenloop.domain.use_events import Report
from provenloop.entry.models.events import EventsRequest, to_events
from provenloop.entry.models.validation import read_model
from provenloop.entry.queued import Done, Message, each_message
from provenloop.entry.recording import count_events
from provenloop.entry.settings import read_settings
from provenloop.entry.telemetry import count
from provenloop.entry.time_left import spent
from provenloop.entry.wiring import Wiring, wiring
from provenloop.services.read_file import Reading, Stretch, read_on

#: A line is two levels further up than an event in a request is.
_MAX_DEPTH = 30
#: How long to leave alone what kept a stretch from going on.
_PAUSE_S = 30
_REFUSED = (InvalidInputError, ForbiddenError, NotFoundError)


def run_queued(event: Mapping[str, Any], context: object) -> dict[str, Any]:
    """Read on in the files that each message of an SQS event tells of.

    Returns:
        the partial batch answer: ids of the messages that must come again.
    """
    return each_message(event, "inbox", partial(_run, context))


def _run(context: object, message: Message) -> Done:
    told = [_read(wiring(), message, *found, context) for found in _found(message)]
    return told[0] if len(told) == 1 else Done("nothing" if not told else "several", {"files": len(told)})


def _found(message: Message) -> Iterator[tuple[Drop, Progress]]:
    """The files of a message: one to be read on, or those that S3 tells of, from their beginning.

    S3 tells once that it will tell, which is no file; and a folder made in its console is an empty one.
    """
    body = message.body
    if "drop" in body:
        yield _drop_of(body["drop"]), read_progress(body["progress"])
        return
    for record in body.get("Records", ()):
        bucket, found = record["s3"]["bucket"]["name"], record["s3"]["object"]
        if bucket != read_settings().inbox_bucket:
            raise InvalidInputError("that is not the bucket of the inbox", field="bucket")
        key = unquote_plus(found["key"])
        if not key.endswith("/"):
            yield Drop(key, found["eTag"], str(found.get("sequencer") or message.id)), Progress(message.now)


def _drop_of(plain: Any) -> Drop:
    try:
        return Drop(**plain)
    except TypeError:
        raise InvalidInputError("a message to read on names a file", field="drop") from None


def _read(current: Wiring, message: Message, drop: Drop, progress: Progress, context: object) -> Done:
    try:
        reading = _reading_of(current, message, drop, context)
        stretch = read_on(current.store, current.inbox, drop, progress, reading)
    except _REFUSED as error:
        _report(current, drop, progress, "refused", error)
        return Done("refused", {"code": error.code, "field": error.field})
    _count(progress, stretch.progress)
    _end(current, drop, stretch)
    return Done(stretch.outcome, _about(drop, reading, stretch))


def _reading_of(current: Wiring, message: Message, drop: Drop, context: object) -> Reading:
    place = place_of(drop.key)
    source = source_named(current.inbound_sources, place.source)
    return Reading(
        principal=source.principal,
        memory=MemoryId(source.tenant, require_name(place.memory, field="memory")),
        message_id=message.id,
        now=current.now,
        entropy=current.entropy,
        spent=spent(context),
        parse=_event_of,
        mode=current.telemetry,
    )


def _event_of(line: bytes, now: int) -> Event | Report:
    """One line as the only event of a request, with the errors that one would have."""
    try:
        value = parse_strict(line, max_depth=_MAX_DEPTH)
    except StrictJsonError as error:
        raise InvalidInputError(error.reason.replace(" at line 1 column ", " at column "), field=error.path) from error
    [event] = to_events(read_model(EventsRequest, {"events": [value]}), now)
    return event


def _end(current: Wiring, drop: Drop, stretch: Stretch) -> None:
    """Ask to read on, or report. A file that was replaced meanwhile is another drop, and gets the report."""
    if stretch.outcome == "sent on":
        current.inbox_queue.send(drop, stretch.progress, _PAUSE_S if stretch.kept_by else 0)
    elif stretch.outcome != "replaced":
        _report(current, drop, stretch.progress, stretch.outcome)


def _report(
    current: Wiring, drop: Drop, progress: Progress, status: Status, refused_for: LoopError | None = None
) -> None:
    """Put the report, unless one of this very drop is there: read again, a message finds all it recorded known."""
    before = current.inbox.report(drop)
    if before is None or f'"drop": {json.dumps(drop.id)},' not in before:
        report = report_of(drop, progress, current.now(), status, refused_for)
        current.inbox.put_report(drop, json.dumps(report, ensure_ascii=False, indent=1) + "\n")


def _count(before: Progress, after: Progress) -> None:
    recorded, refused = after.recorded - before.recorded, after.refused - before.refused
    known, ignored = after.known - before.known, after.ignored - before.ignored
    count_events(recorded + known + ignored, recorded)
    count("LinesRefused", refused)


def _about(drop: Drop, reading: Reading, stretch: Stretch) -> dict[str, Any]:
    progress = stretch.progress
    return {
        "tenant": reading.memory.tenant,
        "memory": reading.memory.name,
        "source": place_of(drop.key).source,
        "lines": progress.lines,
        "recorded": progress.recorded,
        "known": progress.known,
        "refused": progress.refused,
        "code": stretch.kept_by.code if stretch.kept_by else None,
    }

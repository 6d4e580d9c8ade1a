"""Events into a memory."""

from __future__ import annotations

from provenloop.entry.models.events import EventsRequest, to_events
from provenloop.entry.recording import record
from provenloop.entry.reply import Reply, json_reply
from provenloop.entry.request import Request


def record_events(request: Request) -> Reply:
    """Store a batch, or nothing of it."""
    events = to_events(request.body_as(EventsRequest), request.now)
    return json_reply(record(request.wiring, request.call, events))

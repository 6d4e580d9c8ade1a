"""Events into a memory."""

from __future__ import annotations

from provenloop.entry.models.events import EventsRequest, to_events
from provenloop.entry.reply import Reply, json_reply
from provenloop.entry.request import Request
from provenloop.entry.telemetry import count
from provenloop.services import ingest


def record_events(request: Request) -> Reply:
    """Store a batch, or nothing of it."""
    events = to_events(request.body_as(EventsRequest), request.now)
    answer = ingest.record_events(request.wiring.store, request.call, events, request.wiring.telemetry)
    count("EventsReceived", len(events))
    count("EventsStored", sum(1 for event in answer["events"] if event["status"] == "stored"))
    return json_reply(answer)

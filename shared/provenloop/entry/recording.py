"""Recording events, however they came in: the same use case, telemetry mode and metrics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from provenloop.domain.events import Event
from provenloop.domain.use_events import Report
from provenloop.entry.telemetry import count
from provenloop.entry.wiring import Wiring
from provenloop.services import ingest
from provenloop.services.call import Call


def record(current: Wiring, call: Call, events: Sequence[Event | Report]) -> dict[str, Any]:
    """Store a batch, or nothing of it; see ``services.ingest.record_events``."""
    answer = ingest.record_events(current.store, call, events, current.telemetry)
    count_events(len(events), sum(1 for event in answer["events"] if event["status"] == "stored"))
    return answer


def count_events(received: int, stored: int) -> None:
    """Tell metrics of events that came in."""
    count("EventsReceived", received)
    count("EventsStored", stored)

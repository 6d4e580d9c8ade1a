"""The tick of the schedule."""

from __future__ import annotations

from provenloop.entry.telemetry import count, log_outcome
from provenloop.entry.wiring import wiring
from provenloop.services.dispatch import dispatch_due


def tick(event_id: str) -> int:
    """Ask for a pass over each memory that is due; how many were asked for."""
    current = wiring()
    sent = dispatch_due(current.wake, current.queue, current.now())
    count("PassesAskedFor", sent)
    log_outcome("tick", "sent", correlation_id=event_id, sent=sent)
    return sent

"""The tick of the schedule."""

from __future__ import annotations

from provenloop.domain.errors import UnavailableError
from provenloop.entry.publishing import publish_left_behind
from provenloop.entry.telemetry import count, log_error, log_outcome
from provenloop.entry.telling import tell_left_behind
from provenloop.entry.wiring import wiring
from provenloop.services.dispatch import dispatch_due


def tick(event_id: str) -> dict[str, int]:
    """Ask for a pass over each memory that is due, and publish events that were left behind.

    Returns:
        ``{sent, published, told}``: passes asked for, events that went out, and reviews that were told.

    Raises:
        UnavailableError: for some memories no pass could be asked for; all else is done. Run again, it goes on with
            those.
    """
    current = wiring()
    sent, failed = dispatch_due(current.wake, current.queue, current.now())
    count("PassesAskedFor", sent)
    count("PassesNotAskedFor", len(failed))
    for memory, error in failed:
        log_error("tick", error, detail=error.message, code=error.code, tenant=memory.tenant, memory=memory.name)
    published = publish_left_behind(current)
    told = tell_left_behind(current)
    log_outcome("tick", "sent", correlation_id=event_id, sent=sent, published=published, told=told, failed=len(failed))
    if failed:
        raise UnavailableError(f"for {len(failed)} memories no pass could be asked for")
    return {"sent": sent, "published": published, "told": told}

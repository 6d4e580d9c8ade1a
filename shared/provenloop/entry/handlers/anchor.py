"""The daily anchor."""

from __future__ import annotations

from provenloop.domain.errors import UnavailableError
from provenloop.entry.telemetry import count, log_outcome
from provenloop.entry.wiring import wiring
from provenloop.services.anchor import anchor_tenants


def anchor(event_id: str) -> dict[str, int]:
    """Anchor every tenant that has no anchor of today.

    Returns:
        ``{written, present}``: tenants that were anchored, and those that had been before.

    Raises:
        UnavailableError: some could not be; run again, it goes on with those.
    """
    current = wiring()
    done = anchor_tenants(current.store, current.memory_index, current.anchor_bucket, current.signer, current.now())
    count("AnchorsWritten", done.written)
    count("AnchorsFailed", done.failed)
    log_outcome("anchor", "anchored", correlation_id=event_id, **done._asdict())
    if done.failed:
        raise UnavailableError(f"{done.failed} tenants were not anchored")
    return {"written": done.written, "present": done.present}

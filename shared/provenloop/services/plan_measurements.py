"""What an apply plans: when its change is measured, and what counts for that until then."""

from __future__ import annotations

from provenloop.domain.checkpoint import GRACE_MS, HORIZONS_MS, Checkpoint, watch_of
from provenloop.domain.recommendation import Recommendation
from provenloop.services.blame import due_of
from provenloop.services.ports import Put, Write


def planned_measurements(rec: Recommendation, seq: int, now: int) -> list[Write]:
    """The checkpoints of an applied change, the first of which declares when it is due, and the watch that counts for
    them.
    """
    if rec.metric is None:
        return []
    planned = [Checkpoint(rec.id, horizon, now + horizon + GRACE_MS) for horizon in HORIZONS_MS]
    return [
        *(Put(checkpoint) for checkpoint in planned),
        Put(due_of(planned[0])),
        Put(watch_of(rec.id, rec.metric, at=now, seq=seq)),
    ]

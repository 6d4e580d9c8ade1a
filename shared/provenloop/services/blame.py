"""What it means for a finding that its applied change did not hold, or was undone for that.

A change that did not hold is one strike of its dedup key, however many horizons say so and whether it is undone or not.
Once it is undone, its finding needs new evidence.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from provenloop.domain.checkpoint import (
    GRACE_MS,
    HORIZONS_MS,
    TOOL_ERRORS,
    Checkpoint,
    Regression,
    after_undo,
    watch_of,
)
from provenloop.domain.cooldown import cooldown_ms
from provenloop.domain.errors import IntegrityError
from provenloop.domain.names import MemoryId
from provenloop.domain.recommendation import FindingKey, Recommendation
from provenloop.domain.records import Due
from provenloop.services.findings import DUE_GROUP, group_ref
from provenloop.services.ports import Put, Replace, Store, Write

DUE_CHECKPOINT = "checkpoint"
DUE_WATCH = "watch"


def due_of(checkpoint: Checkpoint) -> Due:
    """The instant at which a checkpoint has to be measured. Of a recommendation the next one alone is declared."""
    return Due(checkpoint.due_at, DUE_CHECKPOINT, f"{checkpoint.recommendation}|{checkpoint.horizon_ms}")


def blame_writes(store: Store, memory: MemoryId, rec: Recommendation, now: int) -> Iterator[Write]:
    """The record that an applied recommendation did not hold, and the strike of its dedup key with its quiet time."""
    if store.regression(memory, rec.id) is None:
        yield Put(Regression(rec.id, now))
    key = store.finding_key(memory, rec.family, rec.group, rec.dedup_key)
    if key is None:
        raise IntegrityError("a recommendation's dedup key is missing")
    if key.regressed_id == rec.id:
        return
    until = max(now + cooldown_ms(key.strikes), key.cooldown_until or 0)
    yield Replace(
        replace(
            key,
            strikes=key.strikes + 1,
            cooldown_until=until,
            silenced_count=rec.count,
            silenced_severity=rec.severity,
            regressed_id=rec.id,
            rev=key.rev + 1,
        ),
        expected=key.rev,
    )
    due = Due(until, DUE_GROUP, group_ref(rec.family, rec.group))
    if not store.due_present(memory, [due]):
        yield Put(due)


def strikes_before(key: FindingKey, rec: Recommendation) -> int:
    """Strikes of a dedup key but for the one that this recommendation has earned already by not holding."""
    return key.strikes - (key.regressed_id == rec.id)


def remembered(key: FindingKey, rec: Recommendation, *, seq: int, at: int) -> FindingKey:
    """The dedup key once a recommendation of it is undone in commit ``seq``: what counts towards it from now on.

    Of a lesson that did not hold, what comes after the undo; of facts, what has come since the apply, for what came
    back is a finding of its own.
    """
    if key.regressed_id == rec.id and _is_lesson(rec):
        return replace(key, applied_id=after_undo(rec.id), applied_at=at, applied_seq=seq)
    if key.regressed_id == rec.id:
        return key
    if key.applied_id == rec.id:
        return replace(key, applied_id=None, applied_at=None, applied_seq=None)
    return key


def evidence_watch(key: FindingKey, rec: Recommendation, *, seq: int, at: int) -> list[Write]:
    """What counts a tool's calls after the undo of a lesson that did not hold, and when that ends."""
    if key.regressed_id != rec.id or rec.metric is None or not _is_lesson(rec):
        return []
    watch = watch_of(after_undo(rec.id), rec.metric, at=at, seq=seq)
    ends_at = at + HORIZONS_MS[-1] + GRACE_MS
    return [Put(watch), Put(Due(ends_at, DUE_WATCH, watch.recommendation))]


def _is_lesson(rec: Recommendation) -> bool:
    return rec.metric is not None and rec.metric.name == TOOL_ERRORS

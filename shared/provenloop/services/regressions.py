"""What did not hold: what a review of outcomes sees of it, and what nobody has decided about.

A rejected revert answers the measurements there were; a later horizon that does not hold either asks again.
"""

from __future__ import annotations

from provenloop.analyzers.contract import MeasuredView
from provenloop.analyzers.outcome_review import OutcomeReview
from provenloop.domain.checkpoint import Checkpoint, last_verdict
from provenloop.domain.names import MemoryId
from provenloop.domain.recommendation import FindingKey, Recommendation, family_of
from provenloop.services.ports import Store
from provenloop.services.recurrence import happened_again

REVIEW = family_of(OutcomeReview.manifest.id)


def measured_view(store: Store, memory: MemoryId, rec_id: str, now: int) -> MeasuredView:
    """An applied recommendation with what its last telling checkpoint came to; no errors where nothing is asked."""
    rec = store.recommendations(memory, [rec_id]).get(rec_id)
    last = _asking(store, memory, rec)
    if rec is None or rec.metric is None or last is None:
        return MeasuredView(rec_id, rec.namespace if rec is not None else "", rec_id, "", 0, 0, 0, 0, 0)
    return MeasuredView(
        group=rec_id,
        namespace=rec.namespace,
        recommendation=rec_id,
        metric=rec.metric.name,
        baseline_errors=rec.metric.baseline_errors,
        baseline_calls=rec.metric.baseline_calls,
        errors=last.whole.errors,
        calls=last.whole.calls,
        horizon_ms=last.horizon_ms,
        evidence=happened_again(store, memory, rec, rec.metric, last, now),
    )


def unhandled_regressions(store: Store, memory: MemoryId) -> list[str]:
    """Recommendations that did not hold, are applied still, and that nobody is or was asked about since."""
    return sorted(
        row.recommendation for row in store.regressions(memory) if _is_unhandled(store, memory, row.recommendation)
    )


def open_revert(store: Store, memory: MemoryId, rec_id: str) -> tuple[Recommendation, FindingKey] | None:
    """The open proposal to undo a recommendation, and its dedup key."""
    key = _revert_key(store, memory, rec_id)
    if key is None or key.open_id is None:
        return None
    revert = store.recommendations(memory, [key.open_id]).get(key.open_id)
    return (revert, key) if revert is not None else None


def _is_unhandled(store: Store, memory: MemoryId, rec_id: str) -> bool:
    key = _revert_key(store, memory, rec_id)
    if key is not None and key.open_id is not None:
        return False
    last = _asking(store, memory, store.recommendations(memory, [rec_id]).get(rec_id))
    return last is not None and last.whole.errors > 0


def _asking(store: Store, memory: MemoryId, rec: Recommendation | None) -> Checkpoint | None:
    """The checkpoint that speaks for undoing a recommendation, if one does."""
    if rec is None or rec.metric is None:
        return None
    last = last_verdict(store.checkpoints(memory, rec.id))
    return last if last is not None and _asks(store, memory, rec, last) else None


def _asks(store: Store, memory: MemoryId, rec: Recommendation, last: Checkpoint) -> bool:
    """Whether a verdict speaks for undoing the change, and is newer than the last answer to that."""
    if rec.status != "applied" or last.verdict != "regressed":
        return False
    key = _revert_key(store, memory, rec.id)
    if key is None or key.last_id is None or key.last_status not in ("rejected", "acknowledged"):
        return True
    answered = store.recommendations(memory, [key.last_id]).get(key.last_id)
    return answered is None or answered.updated_at < last.told_at


def _revert_key(store: Store, memory: MemoryId, rec_id: str) -> FindingKey | None:
    """The dedup key of the proposals to undo a recommendation."""
    return next((key for key in store.finding_keys(memory, rec_id) if key.family == REVIEW), None)

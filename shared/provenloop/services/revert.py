"""Applying a revert: the undo of what did not hold, and the revert's own step, in one transaction.

A revert cannot be undone itself: what it took back may be proposed again, on new evidence.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from provenloop.domain.errors import TargetChangedError
from provenloop.domain.recommendation import FindingKey, Recommendation
from provenloop.services.call import Call
from provenloop.services.decision import Decision, transition
from provenloop.services.outbox import audited
from provenloop.services.ports import Replace, Store, Write
from provenloop.services.review import reply_of, require_key
from provenloop.services.roll_back import Plan as Undoing
from provenloop.services.roll_back import undo_decision, undo_plan
from provenloop.services.waiting import told

REVERTED = "reverted"


@dataclass(frozen=True)
class Revert:
    """A checked revert: as stored, as approved with what approving it writes, and the undo that it stands for."""

    stored: Recommendation
    approved: Recommendation
    because: str
    key: FindingKey
    undoing: Undoing
    writes: tuple[Write, ...] = ()

    def decision(self, store: Store, call: Call, seq: int) -> Decision:
        """The transaction of the revert, and its answer."""
        undone = undo_decision(store, call, self.undoing, seq, reason=REVERTED)
        changed = sorted((*undone.reply["removed"], *undone.reply["restored"]))
        effects = {"seq": seq, "changed": changed, "reverted": self.undoing.rec.id}
        applied, entry, note = transition(call, self.approved, "applied", self.because, effects)
        applied = replace(applied, applied_at=call.now, rev=self.stored.rev + 1)
        freed = replace(self.key, open_id=None, last_id=applied.id, last_status="applied", rev=self.key.rev + 1)
        own: list[Write] = [
            Replace(applied, expected=self.stored.rev),
            Replace(freed, expected=self.key.rev),
            *self.writes,
            *audited(entry, note),
            *told(store, call.memory, self.stored, applied),
        ]
        answer: dict[str, Any] = {"rollbackable": False, "created": [], "changed": changed, "seq": seq}
        reverted = {"reverted": self.undoing.rec.id}
        return Decision([*undone.writes, *own], {**reply_of(applied, entry), **answer, **reverted})


def checked_revert(
    store: Store,
    call: Call,
    stored: Recommendation,
    approved: Recommendation,
    because: str,
    writes: tuple[Write, ...] = (),
) -> Revert:
    """Check that what a revert would undo can be undone.

    Raises:
        IllegalTransitionError: it is not applied any more.
        TargetChangedError: it is gone, or what it left was changed since.
    """
    wanted = approved.proposal.revert_of or ""
    rec = store.recommendations(call.memory, [wanted]).get(wanted)
    if rec is None:
        raise TargetChangedError("what it would undo is not there")
    undoing = undo_plan(store, call, rec, because, by_hand=False)
    key = store.finding_key(call.memory, stored.family, stored.group, stored.dedup_key)
    return Revert(stored, approved, because, require_key(key), undoing, writes)

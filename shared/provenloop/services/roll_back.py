"""Roll back: the exact inverse of an apply, from the images stored with it.

Every grain comes back as it was: same address, same head, same fields. A created grain that is gone already, or one
that was forgotten, counts as undone. Any other later change is a conflict that names the grain, and nothing is written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from provenloop.domain.address import Addresses
from provenloop.domain.checkpoint import Watch
from provenloop.domain.commit import Change, ChangeOp, LogEntry
from provenloop.domain.cooldown import cooldown_ms
from provenloop.domain.errors import IllegalTransitionError, IntegrityError, TargetChangedError
from provenloop.domain.grain import Grain
from provenloop.domain.lifecycle import require_step
from provenloop.domain.recommendation import FindingKey, Recommendation
from provenloop.domain.records import BeforeImage, Due, History, Predecessors, Undo
from provenloop.services.call import Call
from provenloop.services.commit_change import Refused, commit_change
from provenloop.services.decision import Decision, find_recommendation, require_because, transition
from provenloop.services.findings import DUE_GROUP, group_ref
from provenloop.services.outbox import audited
from provenloop.services.ports import Failure, Put, Remove, Replace, Restate, Store, Write
from provenloop.services.review import reply_of, require_key, struck


@dataclass(frozen=True)
class Plan:
    """A checked rollback and what was read for it."""

    rec: Recommendation
    because: str
    key: FindingKey
    undo: Undo
    grains: Mapping[str, Grain]
    histories: Mapping[str, Grain]
    is_due_planted: bool


@dataclass
class Restored:
    """Writes and log changes of a rollback."""

    writes: list[Write] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    restored: list[str] = field(default_factory=list)
    already: list[str] = field(default_factory=list)


def roll_back(store: Store, call: Call, prefix: str, because: str) -> dict[str, Any]:
    """Undo an applied recommendation; its dedup key gets a strike and is quiet for a while.

    Returns:
        ``{id, status, revision, proposal_digest, audit, seq, removed, restored, already_undone}``.

    Raises:
        ScopeDeniedError, InvalidInputError, NotFoundError, IllegalTransitionError, TargetChangedError, ConflictError:
            refused; nothing was written.
    """
    call.require("apply")
    reason = require_because(because)
    checked: list[Plan] = []

    def prepare() -> None:
        checked[:] = [_plan(store, call, find_recommendation(store, call, prefix), reason)]

    def build(seq: int, addresses: Addresses) -> Decision:
        del addresses
        return _decision(call, checked[0], _inverse(checked[0]), seq)

    return commit_change(store, call, f"rollback/{prefix}", prepare, build, _judge)


def _plan(store: Store, call: Call, rec: Recommendation, because: str) -> Plan:
    require_step(rec.status, "rolled_back", "applier")
    if not rec.rollbackable:
        raise IllegalTransitionError("this change has no inverse")
    undo = store.undo(call.memory, rec.id)
    if undo is None:
        raise IntegrityError("the inverse of an applied change is missing")
    key, grains = store.change_context(call.memory, rec, [image.address for image in undo.images], call.now)
    later = sorted(image.address for image in undo.images if _changed_since(image, grains.get(image.address)))
    if later:
        raise TargetChangedError(f"changed since it was applied: {', '.join(later)}")
    histories = {
        image.address: store.history_row(call.memory, image.address, image.history_rev)
        for image in undo.images
        if image.history_rev is not None
    }
    found = {address: grain for address, grain in histories.items() if grain is not None}
    stored_key = require_key(key)
    due = _due(call, rec, stored_key)
    return Plan(rec, because, stored_key, undo, dict(grains), found, bool(store.due_present(call.memory, [due])))


def _changed_since(image: BeforeImage, grain: Grain | None) -> bool:
    """Whether somebody wrote to the grain after the apply. Gone and forgotten grains count as undone."""
    if grain is None or grain.state == "forgotten":
        return False
    created = image.gained is None and (image.before is None or image.history_rev is not None)
    return grain.head_rev != image.left_rev or (created and grain.stated != image.left_stated)


def _inverse(plan: Plan) -> Restored:
    result = Restored()
    for image in plan.undo.images:
        grain = plan.grains.get(image.address)
        if grain is None or grain.state == "forgotten":
            result.already.append(image.address)
        elif image.before is None:
            result.writes.append(Remove(grain, expected=image.left_rev, stated=image.left_stated))
            _note(result, grain, "remove", result.removed)
        elif image.history_rev is not None:
            earlier = plan.histories.get(image.address)
            if earlier is None:
                raise IntegrityError("the earlier version of a grain is missing")
            result.writes += [_back_to(earlier, grain, image), Remove(History(earlier))]
            _note(result, earlier, "restore", result.restored)
        else:
            result.writes.append(Replace(replace(grain, **image.before), expected=image.left_rev))
            _note(result, grain, "restore", result.restored)
    result.writes += _without_ways_back(plan)
    return result


def _back_to(earlier: Grain, grain: Grain, image: BeforeImage) -> Replace:
    """The earlier version again. Of a merge only the statements that it brought are taken back: what was stated since
    stays counted.
    """
    if image.gained is None:
        return Replace(earlier, expected=image.left_rev, counters=True, stated=image.left_stated)
    is_untouched = grain.stated == image.left_stated
    last = earlier if is_untouched else grain
    back = replace(earlier, last_stated_at=last.last_stated_at, place=last.place)
    return Replace(back, expected=image.left_rev, restated=-image.gained, stated=grain.stated)


def _without_ways_back(plan: Plan) -> list[Write]:
    """The apply's rows that lead from winners to what it pointed at them go with it."""
    pointed = (plan.grains.get(image.address) for image in plan.undo.images if image.before and not image.history_rev)
    winners = sorted(
        {grain.superseded_by for grain in pointed if grain is not None and grain.superseded_by is not None}
    )
    return [Remove(Predecessors(winner, plan.undo.seq, ())) for winner in winners]


def _note(result: Restored, grain: Grain, op: ChangeOp, names: list[str]) -> None:
    result.changes.append(Change(op, grain.kind, grain.address, grain.namespace))
    names.append(grain.address)


def _due(call: Call, rec: Recommendation, key: FindingKey) -> Due:
    return Due(call.now + cooldown_ms(key.strikes), DUE_GROUP, group_ref(rec.family, rec.group))


def _decision(call: Call, plan: Plan, inverse: Restored, seq: int) -> Decision:
    effects = {
        "seq": seq,
        "removed": inverse.removed,
        "restored": inverse.restored,
        "already_undone": inverse.already,
    }
    rolled_back, entry, note = transition(call, plan.rec, "rolled_back", plan.because, effects)
    due = _due(call, plan.rec, plan.key)
    key = struck(plan.key, plan.rec, "rolled_back", due.due_at)
    if key.applied_id == plan.rec.id:
        key = replace(key, applied_id=None, applied_at=None, applied_seq=None)
    log = LogEntry(seq, f"{call.request_id}/{seq}", call.now, call.principal.label, tuple(inverse.changes))
    writes: list[Write] = [
        Put(log),
        Replace(replace(rolled_back, rev=plan.rec.rev + 1), expected=plan.rec.rev),
        Replace(key, expected=plan.key.rev),
        *audited(entry, note),
        *inverse.writes,
        *([] if plan.is_due_planted else [Put(due)]),
        *_without_watch(plan.rec),
    ]
    return Decision(writes, {**reply_of(rolled_back, entry), **effects})


def _without_watch(rec: Recommendation) -> list[Write]:
    """What is rolled back is not measured any more."""
    if rec.metric is None or rec.metric.name != "tool_error_recurrence":
        return []
    return [Remove(Watch(rec.id, rec.metric.subject_key, rec.metric.signature, 0, 0))]


def _judge(failures: Sequence[Failure]) -> Refused:
    """A grain that moved between our check and our write is a conflict that names it; all else is a lost race."""
    changed = [
        failure.write.entity.address
        for failure in failures
        if not isinstance(failure.write, Restate) and isinstance(failure.write.entity, Grain)
    ]
    if changed:
        raise TargetChangedError(f"changed since it was applied: {', '.join(sorted(changed))}")
    return "lost"

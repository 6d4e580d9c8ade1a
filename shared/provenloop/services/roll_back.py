"""Roll back: the exact inverse of an apply, from the images stored with it.

Every grain comes back as it was: same address, same head, same fields. A created grain that is gone already, or one
that was forgotten, counts as undone. Any other later change is a conflict that names the grain, and nothing is written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from provenloop.domain.address import Addresses
from provenloop.domain.audit import engine_author, head_after, next_entry
from provenloop.domain.checkpoint import Regression, after_undo, watch_of
from provenloop.domain.commit import Change, ChangeOp, LogEntry
from provenloop.domain.cooldown import cooldown_ms
from provenloop.domain.errors import IllegalTransitionError, IntegrityError, TargetChangedError
from provenloop.domain.grain import Grain
from provenloop.domain.lifecycle import require_step
from provenloop.domain.recommendation import FindingKey, Recommendation
from provenloop.domain.records import BeforeImage, Due, History, Predecessors, Undo
from provenloop.services.blame import evidence_watch, remembered, strikes_before
from provenloop.services.call import Call
from provenloop.services.commit_change import Refused, commit_change
from provenloop.services.decision import (
    Decision,
    find_recommendation,
    lost_race,
    require_because,
    transition,
    unless_decided,
)
from provenloop.services.findings import DUE_GROUP, group_ref
from provenloop.services.outbox import audited
from provenloop.services.ports import Failure, Put, Remove, Replace, Restate, Store, Write
from provenloop.services.regressions import REVIEW, open_revert
from provenloop.services.review import reply_of, require_key, struck
from provenloop.services.waiting import told


@dataclass(frozen=True)
class Plan:
    """A checked rollback and what was read for it. ``due`` are the instants it declares that are not declared yet;
    ``revert`` is the open proposal to do the same, which this resolves.
    """

    rec: Recommendation
    because: str
    key: FindingKey
    undo: Undo
    grains: Mapping[str, Grain]
    histories: Mapping[str, Grain]
    due: tuple[Due, ...]
    quiet_until: int
    revert: tuple[Recommendation, FindingKey] | None = None


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
        rec = find_recommendation(store, call, prefix)
        checked[:] = [undo_plan(store, call, rec, reason)]

    def build(seq: int, addresses: Addresses) -> Decision:
        del addresses
        return undo_decision(store, call, checked[0], seq)

    return commit_change(store, call, f"rollback/{prefix}", prepare, build, judge_undo)


def undo_plan(store: Store, call: Call, rec: Recommendation, because: str, *, by_hand: bool = True) -> Plan:
    """Check that a recommendation can be undone, and read what that takes.

    Args:
        by_hand: whether this resolves an open proposal to undo it; applying that proposal does not.

    Raises:
        IllegalTransitionError, TargetChangedError, IntegrityError: it cannot.
    """
    require_step(rec.status, "rolled_back", "applier")
    if not rec.rollbackable:
        raise IllegalTransitionError("this change has no inverse")
    undo = store.undo(call.memory, rec.id)
    if undo is None:
        raise IntegrityError("the inverse of an applied change is missing")
    stored_key, grains = store.change_context(call.memory, rec, [image.address for image in undo.images], call.now)
    key = require_key(stored_key)
    with unless_decided(store, call, rec):
        _require_unchanged(undo, grains)
    is_proposed = by_hand and key.regressed_id == rec.id
    revert = open_revert(store, call.memory, rec.id) if is_proposed else None
    until = call.now + cooldown_ms(strikes_before(key, rec))
    due = _due(call, rec, until, review=is_proposed and revert is None)
    present = store.due_present(call.memory, due)
    fresh = tuple(row for row in due if row not in present)
    return Plan(rec, because, key, undo, dict(grains), _histories(store, call, undo, grains), fresh, until, revert)


def _require_unchanged(undo: Undo, grains: Mapping[str, Grain]) -> None:
    later = sorted(image.address for image in undo.images if _changed_since(image, grains.get(image.address)))
    if later:
        raise TargetChangedError(f"changed since it was applied: {', '.join(later)}")


def _histories(store: Store, call: Call, undo: Undo, grains: Mapping[str, Grain]) -> Mapping[str, Grain]:
    """The earlier versions that are to come back; of a grain that is gone none is."""
    wanted = {image.address: image.history_rev for image in undo.images if not _is_gone(grains.get(image.address))}
    rows = {
        address: store.history_row(call.memory, address, history_rev)
        for address, history_rev in wanted.items()
        if history_rev is not None
    }
    missing = [address for address, grain in rows.items() if grain is None]
    if missing:
        # Undone by somebody else, or forgotten, since the grains were read.
        now = store.grains(call.memory, missing, call.now)
        if any(now.get(address) != grains[address] for address in missing):
            raise lost_race()
        raise IntegrityError("the earlier version of a grain is missing")
    return {address: grain for address, grain in rows.items() if grain is not None}


def _is_gone(grain: Grain | None) -> bool:
    """Whether there is nothing to undo any more."""
    return grain is None or grain.state == "forgotten"


def _changed_since(image: BeforeImage, grain: Grain | None) -> bool:
    """Whether somebody wrote to the grain after the apply. Gone and forgotten grains count as undone."""
    if grain is None or _is_gone(grain):
        return False
    created = image.gained is None and (image.before is None or image.history_rev is not None)
    return grain.head_rev != image.left_rev or (created and grain.stated != image.left_stated)


def _inverse(plan: Plan) -> Restored:
    result = Restored()
    for image in plan.undo.images:
        grain = plan.grains.get(image.address)
        if grain is None or _is_gone(grain):
            result.already.append(image.address)
        elif image.before is None:
            result.writes.append(Remove(grain, expected=image.left_rev, stated=image.left_stated))
            _note(result, grain, "remove", result.removed)
        elif image.history_rev is not None:
            earlier = plan.histories[image.address]
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


def _due(call: Call, rec: Recommendation, until: int, *, review: bool) -> tuple[Due, ...]:
    """When its finding may speak again; and where a revert may be proposed this very moment, a look at it."""
    quiet = Due(until, DUE_GROUP, group_ref(rec.family, rec.group))
    return (quiet, Due(call.now, DUE_GROUP, group_ref(REVIEW, rec.id))) if review else (quiet,)


def undo_decision(store: Store, call: Call, plan: Plan, seq: int, *, reason: str | None = None) -> Decision:
    """The transaction of an undo under a number of the log, and its answer.

    Args:
        reason: why the engine's record says it was undone, where it was not by hand.
    """
    inverse = _inverse(plan)
    effects = {
        "seq": seq,
        "removed": inverse.removed,
        "restored": inverse.restored,
        "already_undone": inverse.already,
    }
    rolled_back, entry, note = transition(call, plan.rec, "rolled_back", plan.because, effects)
    rolled_back = replace(rolled_back, reason=reason, rev=plan.rec.rev + 1)
    struck_key = struck(plan.key, plan.rec, "rolled_back", plan.quiet_until)
    struck_key = replace(struck_key, strikes=strikes_before(plan.key, plan.rec) + 1)
    evidence = evidence_watch(plan.key, plan.rec, seq=seq, at=call.now)
    log = LogEntry(
        seq, f"{call.request_id}/{seq}", call.now, call.principal.label, tuple(inverse.changes),
        watches=(after_undo(plan.rec.id),) if evidence else (),
    )  # fmt: skip
    writes: list[Write] = [
        Put(log),
        Replace(rolled_back, expected=plan.rec.rev),
        Replace(remembered(struck_key, plan.rec, seq=seq, at=call.now), expected=plan.key.rev),
        *audited(entry, note),
        *inverse.writes,
        *(Put(row) for row in plan.due),
        *_without_measuring(plan.rec),
        *evidence,
        *(_resolved(store, call, *plan.revert) if plan.revert is not None else ()),
    ]
    return Decision(writes, {**reply_of(rolled_back, entry), **effects})


def _without_measuring(rec: Recommendation) -> list[Write]:
    """What is rolled back is not measured any more, and answers for nothing. The watch of facts goes at their next
    horizon: the transaction of a large undo has no room for it.
    """
    if rec.metric is None:
        return []
    watch = watch_of(rec.id, rec.metric, at=0, seq=0)
    return [Remove(Regression(rec.id)), *([Remove(watch)] if watch.of == "tool" else [])]


def _resolved(store: Store, call: Call, revert: Recommendation, key: FindingKey) -> list[Write]:
    """The open proposal to undo what is undone now has no cause any more."""
    require_step(revert.status, "expired", "engine")
    entry = next_entry(
        revert.chain,
        subject=revert.id,
        before=revert.status,
        after="expired",
        by=engine_author(revert.creators[0]),
        at=call.now,
        effects={"reason": "resolved"},
    )
    closed = replace(
        revert, status="expired", reason="resolved", updated_at=call.now, rev=revert.rev + 1, chain=head_after(entry)
    )
    freed = replace(key, open_id=None, last_id=revert.id, last_status="expired", rev=key.rev + 1)
    waiting = told(store, call.memory, revert, closed)
    return [Replace(closed, expected=revert.rev), Replace(freed, expected=key.rev), *audited(entry), *waiting]


def judge_undo(failures: Sequence[Failure]) -> Refused:
    """A grain that alone moved between our check and our write is a conflict that names it; all else is a lost race."""
    changed = [
        failure.write.entity.address
        for failure in failures
        if not isinstance(failure.write, Restate) and isinstance(failure.write.entity, Grain)
    ]
    if len(changed) < len(failures):
        return "lost"
    raise TargetChangedError(f"changed since it was applied: {', '.join(sorted(changed))}")

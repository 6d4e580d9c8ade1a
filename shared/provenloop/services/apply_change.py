"""Apply: an approved proposal becomes one transaction with its audit entry, its inverse and its measurements.

The checks run in a fixed order and a refusal writes nothing: scope, because, known, approved, applicable, destructive
gate, same proposal as approved, evidence unchanged. The fused approve-and-apply checks all of both before it writes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from provenloop.analyzers.tool_failure import FAMILY
from provenloop.domain.address import Addresses
from provenloop.domain.audit import AuditEntry
from provenloop.domain.commit import LogEntry
from provenloop.domain.errors import (
    DestructiveGateError,
    InvalidInputError,
    StaleDecisionError,
    TargetChangedError,
)
from provenloop.domain.grain import Grain
from provenloop.domain.lifecycle import require_step
from provenloop.domain.recommendation import FindingKey, Recommendation
from provenloop.domain.records import Undo
from provenloop.services.call import Call
from provenloop.services.change_set import (
    ChangeContext,
    ChangeSet,
    addresses_read,
    build_change_set,
    forgotten_by,
    require_unchanged,
)
from provenloop.services.commit_change import Refused, commit_change
from provenloop.services.decision import (
    Decision,
    find_recommendation,
    require_because,
    require_seen,
    transition,
    unless_decided,
)
from provenloop.services.erasing import WRITES_AT_ONCE, Erasures, erase, erasures_of
from provenloop.services.outbox import audited
from provenloop.services.plan_measurements import planned_measurements
from provenloop.services.ports import Failure, Put, Replace, Restate, Store, Write
from provenloop.services.revert import Revert, checked_revert
from provenloop.services.review import approval, reply_of, require_key
from provenloop.services.roll_back import judge_undo
from provenloop.services.scrub_use import scrub_use
from provenloop.services.waiting import told


@dataclass(frozen=True)
class Plan:
    """A checked apply: the recommendation as approved, what was read for it, and what approving it writes.

    ``effects`` go into the audit entry beside those of every apply.
    """

    stored: Recommendation
    approved: Recommendation
    because: str
    key: FindingKey
    grains: dict[str, Grain]
    with_them: Erasures
    writes: Sequence[Write] = ()
    effects: Mapping[str, Any] = field(default_factory=dict)

    @property
    def forgotten(self) -> tuple[Grain, ...]:
        """What is forgotten, and its earlier versions, as they were with their text."""
        grains = (self.grains[target] for target in forgotten_by(self.approved.proposal))
        return (*grains, *self.with_them.texts)


def apply(
    store: Store,
    call: Call,
    prefix: str,
    because: str,
    *,
    allow_destructive: bool = False,
    proposal_digest: str | None = None,
) -> dict[str, Any]:
    """Apply an approved recommendation.

    Returns:
        ``{id, status, revision, proposal_digest, audit, rollbackable, created, changed, seq, reverted}``; the last is
        the id of what a revert undid, None of any other.

    Raises:
        ScopeDeniedError, InvalidInputError, NotFoundError, IllegalTransitionError, DestructiveGateError,
        StaleDecisionError, TargetChangedError, ConflictError: refused; nothing was written.
    """
    call.require("apply")
    reason = require_because(because)

    def plan() -> Plan | Revert:
        rec = find_recommendation(store, call, prefix)
        require_step(rec.status, "applied", "applier")
        require_seen(rec, proposal_digest)
        return _checked(store, call, rec, rec, reason, allow_destructive=allow_destructive)

    return carry_out(store, call, "apply", prefix, plan)


def approve_and_apply(
    store: Store,
    call: Call,
    prefix: str,
    because: str,
    *,
    allow_destructive: bool = False,
    proposal_digest: str | None = None,
) -> dict[str, Any]:
    """Approve a pending recommendation and apply it: two audit entries, one transaction.

    Returns and raises as :func:`apply`, and SelfApprovalError; needs both scopes.
    """
    call.require("review")
    call.require("apply")
    reason = require_because(because)

    def plan() -> Plan | Revert:
        rec = find_recommendation(store, call, prefix)
        approved, _, writes = approval(call, rec, reason, proposal_digest)
        return _checked(store, call, rec, approved, reason, allow_destructive=allow_destructive, writes=writes)

    return carry_out(store, call, "approve-and-apply", prefix, plan)


def _checked(
    store: Store,
    call: Call,
    stored: Recommendation,
    approved: Recommendation,
    because: str,
    *,
    allow_destructive: bool,
    writes: Sequence[Write] = (),
) -> Plan | Revert:
    """Everything that can be refused, refused before anything is reserved or written."""
    proposal = approved.proposal
    if not proposal.is_applicable:
        raise InvalidInputError("there is nothing to apply: act in the host and acknowledge it", field="id")
    if approved.destructive and not (allow_destructive and call.principal.has("admin")):
        raise DestructiveGateError("a removal needs the scope admin and allow_destructive: true")
    if approved.approval is None or approved.approval.digest != approved.proposal_digest:
        raise StaleDecisionError("the proposal is not the one that was approved")
    if proposal.revert_of is not None:
        return checked_revert(store, call, stored, approved, because, tuple(writes))
    return planned(store, call, stored, approved, because, writes)


def planned(
    store: Store,
    call: Call,
    stored: Recommendation,
    approved: Recommendation,
    because: str,
    writes: Sequence[Write] = (),
) -> Plan:
    """What an apply would work with, once the evidence is found as it was when the change was proposed.

    Raises:
        TargetChangedError: it is not.
    """
    proposal = approved.proposal
    key, grains = store.change_context(call.memory, stored, addresses_read(proposal), call.now)
    with unless_decided(store, call, stored):
        require_unchanged(proposal, grains)
    forgotten = [grains[target] for target in forgotten_by(proposal)]
    with_them = erasures_of(store, call, forgotten, chain=stored.id)
    return Plan(stored, approved, because, require_key(key), dict(grains), with_them, writes)


def carry_out(store: Store, call: Call, verb: str, prefix: str, plan: Callable[[], Plan | Revert]) -> dict[str, Any]:
    """Make a checked plan happen in one transaction; the answer of an apply.

    Raises:
        LoopError: as ``plan`` raises, or a target changed or a race was lost in between; nothing was written.
    """
    found: dict[str, Grain] = {}
    checked: list[Plan | Revert] = []
    left: dict[int, tuple[Plan, Addresses, Sequence[Write]]] = {}

    def prepare() -> None:
        checked[:] = [plan()]

    def build(seq: int, addresses: Addresses) -> Decision:
        wanted = checked[0]
        if isinstance(wanted, Revert):
            return wanted.decision(store, call, seq)
        context = ChangeContext(addresses, seq, call.principal.label, call.now, wanted.grains, found,
                                wanted.with_them.calls, _lesson_of(wanted.approved))  # fmt: skip
        decision = _decision(store, call, wanted, build_change_set(wanted.approved.proposal, context), seq)
        erasures, room = wanted.with_them.writes, max(0, WRITES_AT_ONCE - len(decision.writes))
        left[seq] = wanted, addresses, erasures[room:]
        return replace(decision, writes=[*decision.writes, *erasures[:room]])

    def learn(failures: Sequence[Failure]) -> Refused:
        return judge_undo(failures) if isinstance(checked[0], Revert) else _learn(found, failures)

    reply = commit_change(store, call, f"{verb}/{prefix}", prepare, build, learn)
    if reply["seq"] in left:
        _finish(store, call, *left[reply["seq"]])
    else:
        erase(store, call, _left_before(store, call, prefix))
    return reply


def _lesson_of(rec: Recommendation) -> str | None:
    return rec.id if rec.family == FAMILY else None


def _finish(store: Store, call: Call, plan: Plan, addresses: Addresses, rest: Sequence[Write]) -> None:
    """Erase what the transaction had no room for, and what recall keeps of the grains that were forgotten."""
    erase(store, call, rest)
    if plan.forgotten:
        scrub_use(store, call, addresses, plan.forgotten, plan.with_them.remarks)


def _left_before(store: Store, call: Call, prefix: str) -> Sequence[Write]:
    """What this very request, answered before, may have been stopped from erasing."""
    rec = find_recommendation(store, call, prefix)
    grains = store.grains(call.memory, forgotten_by(rec.proposal), call.now).values()
    gone = [grain for grain in grains if grain.state == "forgotten"]
    return erasures_of(store, call, gone, chain=rec.id).writes if gone else ()


def _learn(found: dict[str, Grain], failures: Sequence[Failure]) -> Refused:
    """What a refused transaction means: something to build in, a target that changed, or a race that was lost."""
    changed: list[str] = []
    for failure in failures:
        if isinstance(failure.write, Restate) or not isinstance(failure.write.entity, Grain):
            return "lost"
        address = failure.write.entity.address
        if isinstance(failure.write, Put) and isinstance(failure.found, Grain):
            found[address] = failure.found
        else:
            changed.append(address)
    if changed:
        raise TargetChangedError(f"changed since it was proposed: {', '.join(sorted(changed))}")
    return "again"


def _decision(store: Store, call: Call, plan: Plan, change: ChangeSet, seq: int) -> Decision:
    """The transaction of an apply, and its answer."""
    rec = plan.approved
    effects = {
        "seq": seq,
        "created": change.created,
        "changed": change.changed,
        **plan.effects,
    }
    applied, entry, note = transition(call, rec, "applied", plan.because, effects)
    applied = replace(applied, applied_at=call.now, rev=plan.stored.rev + 1)
    key = replace(
        plan.key,
        open_id=None,
        last_id=rec.id,
        last_status="applied",
        applied_id=rec.id,
        applied_at=call.now,
        applied_seq=seq,
        rev=plan.key.rev + 1,
    )
    log = LogEntry(
        seq, f"{call.request_id}/{seq}", call.now, call.principal.label, tuple(change.changes),
        watches=() if rec.metric is None else (rec.id,),
    )  # fmt: skip
    writes: list[Write] = [
        Put(log),
        Replace(applied, expected=plan.stored.rev),
        Replace(key, expected=plan.key.rev),
        *plan.writes,
        *audited(entry, note),
        Put(Undo(rec.id, seq, tuple(change.images))),
        *change.writes,
        *planned_measurements(rec, seq, call.now),
        *told(store, call.memory, plan.stored, applied),
    ]
    return Decision(writes, _reply(applied, entry, change, seq))


def _reply(rec: Recommendation, entry: AuditEntry, change: ChangeSet, seq: int) -> dict[str, Any]:
    return {
        **reply_of(rec, entry),
        "rollbackable": rec.rollbackable,
        "created": change.created,
        "changed": change.changed,
        "seq": seq,
        "reverted": None,
    }

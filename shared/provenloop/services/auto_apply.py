"""What the host policy lets happen without a person: an exact merge, once the engine has found that it alters no value.

Each is applied by ``policy:auto`` in a transaction of its own, with its audit entry and its inverse, as any apply. One
that cannot be stays pending, with the reason beside it, and neither fails the pass nor holds up the others.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from provenloop.domain.commit import PassHead
from provenloop.domain.errors import ConflictError, LoopError
from provenloop.domain.grain import Grain
from provenloop.domain.lifecycle import require_step
from provenloop.domain.policy import GRANTABLE_TARGETS, Grant, TargetClass
from provenloop.domain.principal import Principal
from provenloop.domain.proposal import Operation
from provenloop.domain.recommendation import Recommendation, TargetScheme
from provenloop.domain.records import Due
from provenloop.domain.same_value import altered_by_merging
from provenloop.services.apply_change import Plan, carry_out, planned
from provenloop.services.call import Call
from provenloop.services.findings import DUE_GROUP, group_ref
from provenloop.services.pass_settings import Setting
from provenloop.services.ports import Replace, Require, Store, Write, WriteRefusedError

POLICY_LABEL = "policy:auto"
RETRY_MS = 300_000
_BECAUSE = "the host policy grants it, and no value is altered"
_CLASS_OF: Mapping[TargetScheme, TargetClass] = {
    "grain": "memory",
    "entity": "memory",
    "query": "query",
    "template": "template",
    "doc": "doc",
    "host": "host",
}

_log = logging.getLogger(__name__)


@dataclass
class AutoApply:
    """Applies what one pass left pending.

    Args:
        call: the pass's own.
        folds: gives the pass's head as it is now; every write requires its revision.
        policy: digest of the host policy, for the audit entry.
        spent: whether the pass has used up its time.

    ``again`` are the instants at which what could not be settled now is looked at once more.
    """

    store: Store
    call: Call
    folds: Callable[[], PassHead]
    policy: str
    spent: Callable[[], bool]
    applied: int = 0
    is_cut_short: bool = False
    again: list[Due] = field(default_factory=list)

    def settle(self, waiting: Mapping[str, Setting]) -> None:
        """Apply each that may be; the reason why not is kept with the others."""
        for rec_id, setting in waiting.items():
            rec = self.store.recommendations(self.call.memory, [rec_id]).get(rec_id)
            if rec is None or rec.status != "pending":
                continue
            if self.spent():
                self.is_cut_short = True
                self._look_again(rec, self.call.now)
                continue
            try:
                self._hold_back(rec, self._attempt(rec, setting))
            except (LoopError, WriteRefusedError) as error:
                code = error.code if isinstance(error, LoopError) else ConflictError.code
                _log.warning("a finding was not applied by policy", extra={"recommendation": rec.id, "code": code})
                self._look_again(rec, self.call.now + RETRY_MS)

    def _attempt(self, rec: Recommendation, setting: Setting) -> str | None:
        """Apply it, or tell why not; None where nothing is granted, and what was told before where it was applied."""
        if not setting.grants:
            return None
        reason = forbidden(rec, setting)
        if reason is not None:
            return reason
        call = replace(self.call, principal=policy_principal(self.call), idempotency_key=None)
        try:
            plan = self._plan(call, rec)
            reason = altered(rec, plan.grains)
            if reason is None:
                carry_out(self.store, call, "auto-apply", rec.id, lambda: plan)
                self.applied += 1
                return rec.held_back
        except LoopError as error:
            if error.retryable:
                raise
            reason = error.message
        return reason

    def _plan(self, call: Call, rec: Recommendation) -> Plan:
        require_step(rec.status, "applied", "policy")
        head = self.folds()
        freed = replace(rec, held_back=None)
        plan = planned(self.store, call, rec, freed, _BECAUSE, [Require(head, expected=head.rev)])
        return replace(plan, effects={"policy": self.policy})

    def _hold_back(self, rec: Recommendation, reason: str | None) -> None:
        """Keep the reason with the recommendation, where it is another one than before."""
        if rec.held_back == reason:
            return
        head = self.folds()
        held = replace(rec, held_back=reason, rev=rec.rev + 1)
        writes: list[Write] = [Require(head, expected=head.rev), Replace(held, expected=rec.rev)]
        self.store.transact(self.call.memory, writes, self.call.now)

    def _look_again(self, rec: Recommendation, at: int) -> None:
        self.again.append(Due(at, DUE_GROUP, group_ref(rec.family, rec.group)))


def policy_principal(call: Call) -> Principal:
    """Who applies: the policy itself, in this one memory. No token can carry its reserved label."""
    return Principal(
        id=POLICY_LABEL,
        label=POLICY_LABEL,
        kind="service",
        tenant=call.memory.tenant,
        memories=call.memory.name,
        scopes=frozenset(),
        token_id=POLICY_LABEL,
        lineage=(POLICY_LABEL,),
    )


def forbidden(rec: Recommendation, setting: Setting) -> str | None:
    """What stands against applying a finding without a person, as far as the finding itself shows; None if nothing.

    The engine's own ceilings come first: no grant reaches beyond them.
    """
    manifest = setting.analyzer.manifest
    target = _CLASS_OF[rec.target.scheme]
    ceilings = (
        (rec.origin == "builtin" and manifest.trust == "builtin", "it does not come from a builtin analyzer"),
        (manifest.auto_apply == "structural", "findings of this analyzer are never applied without a person"),
        (not rec.destructive, "it removes content"),
        (target in GRANTABLE_TARGETS, f"it is about a {target}"),
        (_is_merge(rec.proposal.operations), "it does more than merge grains into one"),
    )
    for holds, reason in ceilings:
        if not holds:
            return reason
    return _beyond(rec, target, setting.grants)


def _beyond(rec: Recommendation, target: TargetClass, grants: tuple[Grant, ...]) -> str | None:
    """Why no grant reaches so far."""
    reaching = [grant for grant in grants if target in grant.targets]
    if not reaching:
        return f"the policy does not grant changes of a {target}"
    if not any(grant.covers(rec.severity) for grant in reaching):
        return f"the policy does not grant severity {rec.severity}"
    return None


def _is_merge(operations: tuple[Operation, ...]) -> bool:
    """Whether it points grains at one that is kept, each held to how it was seen, and does nothing else."""
    is_merge = all(operation.op == "MERGE" and operation.fact is None for operation in operations)
    is_seen = all({operation.target, operation.into} <= operation.expects.keys() for operation in operations)
    return is_merge and is_seen and len({operation.into for operation in operations}) == 1


def altered(rec: Recommendation, grains: Mapping[str, Grain]) -> str | None:
    """What value a merge would alter, by the grains as they are now; None if none."""
    operations = rec.proposal.operations
    kept = grains[operations[0].into or ""]
    return altered_by_merging(kept, [grains[operation.target or ""] for operation in operations])

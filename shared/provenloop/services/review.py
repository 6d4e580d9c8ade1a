"""Review: approve, reject, acknowledge. All of them change a status; none changes anything in the memory."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from provenloop.domain.audit import AuditEntry
from provenloop.domain.cooldown import ACKNOWLEDGED_MS, cooldown_ms
from provenloop.domain.errors import IntegrityError, InvalidInputError
from provenloop.domain.instants import format_instant
from provenloop.domain.lifecycle import Status, require_step
from provenloop.domain.recommendation import Approval, FindingKey, Recommendation
from provenloop.domain.records import Due
from provenloop.services.call import Call
from provenloop.services.decision import (
    Decision,
    decide,
    find_recommendation,
    require_because,
    require_other_author,
    require_seen,
    transition,
)
from provenloop.services.declare import declare
from provenloop.services.findings import DUE_GROUP, group_ref
from provenloop.services.outbox import audited
from provenloop.services.ports import Replace, Store, Write
from provenloop.services.waiting import Wish, told, wished


def approve(
    store: Store,
    call: Call,
    prefix: str,
    because: str,
    *,
    proposal_digest: str | None = None,
    wish: Wish | None = None,
) -> dict[str, Any]:
    """Approve a pending recommendation; its proposal is frozen from now on.

    Args:
        wish: how the workflow that waits for it shall apply it; None where somebody will.

    Returns:
        ``{id, status, revision, proposal_digest, audit}``.

    Raises:
        ScopeDeniedError, InvalidInputError, NotFoundError, IllegalTransitionError, SelfApprovalError,
        StaleDecisionError, ConflictError: refused; nothing was written.
    """
    call.require("review")
    reason = require_because(because)

    def build() -> Decision:
        rec = find_recommendation(store, call, prefix)
        approved, entry, writes = approval(call, rec, reason, proposal_digest)
        approved = wished(store, call, rec, approved, wish)
        writes += told(store, call.memory, rec, approved)
        return Decision([Replace(bumped(approved), expected=rec.rev), *writes], reply_of(approved, entry))

    return decide(store, call, f"approve/{prefix}", build)


def approval(
    call: Call, rec: Recommendation, because: str, proposal_digest: str | None
) -> tuple[Recommendation, AuditEntry, list[Write]]:
    """The approved recommendation, and its audit entry and note as writes."""
    require_step(rec.status, "approved", "reviewer")
    require_other_author(call, rec)
    require_seen(rec, proposal_digest)
    approved, entry, note = transition(call, rec, "approved", because, {})
    stamped = replace(approved, approval=Approval(rec.proposal_digest, call.now, call.principal.lineage))
    return stamped, entry, audited(entry, note)


def reject(
    store: Store, call: Call, prefix: str, because: str, *, proposal_digest: str | None = None
) -> dict[str, Any]:
    """Reject a recommendation, or withdraw an approval. Its dedup key is quiet for 7, 14, 28, 56, 90 ... days.

    Returns:
        As :func:`approve`, and ``cooldown_until`` (RFC 3339).

    Raises:
        ScopeDeniedError, InvalidInputError, NotFoundError, IllegalTransitionError, StaleDecisionError, ConflictError.
    """
    call.require("review")
    reason = require_because(because)

    def build() -> Decision:
        rec = find_recommendation(store, call, prefix)
        require_step(rec.status, "rejected", "reviewer")
        require_seen(rec, proposal_digest)
        key = require_key(store.finding_key(call.memory, rec.family, rec.group, rec.dedup_key))
        until = call.now + cooldown_ms(key.strikes)
        rejected, entry, note = transition(call, rec, "rejected", reason, {"strikes": key.strikes + 1})
        writes: list[Write] = [Replace(bumped(rejected), expected=rec.rev), *audited(entry, note)]
        writes.append(Replace(struck(key, rec, "rejected", until), expected=key.rev))
        writes += told(store, call.memory, rec, rejected)
        writes += declare(store, call.memory, Due(until, DUE_GROUP, group_ref(rec.family, rec.group)))
        return Decision(writes, {**reply_of(rejected, entry), "cooldown_until": format_instant(until)})

    return decide(store, call, f"reject/{prefix}", build)


def acknowledge(
    store: Store, call: Call, prefix: str, because: str, *, proposal_digest: str | None = None
) -> dict[str, Any]:
    """Close a piece of advice that was followed in the host. Its dedup key is quiet for 30 days; it is no strike.

    Returns:
        As :func:`reject`.

    Raises:
        As :func:`reject`; SelfApprovalError; InvalidInputError also where there is a change to apply.
    """
    call.require("review")
    reason = require_because(because)

    def build() -> Decision:
        rec = find_recommendation(store, call, prefix)
        require_step(rec.status, "acknowledged", "reviewer")
        require_other_author(call, rec)
        if rec.proposal.is_applicable:
            raise InvalidInputError("only advice is acknowledged: approve or reject a change", field="id")
        require_seen(rec, proposal_digest)
        key = require_key(store.finding_key(call.memory, rec.family, rec.group, rec.dedup_key))
        until = call.now + ACKNOWLEDGED_MS
        closed, entry, note = transition(call, rec, "acknowledged", reason, {})
        quiet = replace(freed(key, rec, "acknowledged"), cooldown_until=until)
        writes: list[Write] = [Replace(bumped(closed), expected=rec.rev), *audited(entry, note)]
        writes.append(Replace(quiet, expected=key.rev))
        writes += told(store, call.memory, rec, closed)
        writes += declare(store, call.memory, Due(until, DUE_GROUP, group_ref(rec.family, rec.group)))
        return Decision(writes, {**reply_of(closed, entry), "cooldown_until": format_instant(until)})

    return decide(store, call, f"acknowledge/{prefix}", build)


def struck(key: FindingKey, rec: Recommendation, status: Status, until: int) -> FindingKey:
    """The dedup key after a strike: free, and quiet until then."""
    return replace(
        freed(key, rec, status),
        strikes=key.strikes + 1,
        cooldown_until=until,
        silenced_count=rec.count,
        silenced_severity=rec.severity,
    )


def freed(key: FindingKey, rec: Recommendation, status: Status) -> FindingKey:
    """The dedup key once a recommendation of it is closed: free, unless a later one of it is open."""
    open_id = None if key.open_id == rec.id else key.open_id
    return replace(key, open_id=open_id, last_id=rec.id, last_status=status, rev=key.rev + 1)


def require_key(key: FindingKey | None) -> FindingKey:
    """The dedup key of a stored recommendation.

    Raises:
        IntegrityError: it is missing.
    """
    if key is None:
        raise IntegrityError("a recommendation's dedup key is missing")
    return key


def bumped(rec: Recommendation) -> Recommendation:
    """The recommendation at its next revision of storage."""
    return replace(rec, rev=rec.rev + 1)


def reply_of(rec: Recommendation, entry: AuditEntry) -> dict[str, Any]:
    """What a decision answers."""
    return {
        "id": rec.id,
        "status": rec.status,
        "revision": rec.revision,
        "proposal_digest": rec.proposal_digest,
        "audit": entry.id,
    }

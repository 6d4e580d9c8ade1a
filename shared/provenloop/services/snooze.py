"""Snooze and wake: a finding that is put off waits again at the instant that was named, or as soon as somebody says so.

Nothing is lost by it: meanwhile it may be decided otherwise, and it is resolved when its cause is gone.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from provenloop.domain.errors import InvalidInputError
from provenloop.domain.instants import format_instant
from provenloop.domain.lifecycle import require_step
from provenloop.domain.recommendation import DAY_MS, expiry_of
from provenloop.domain.records import Due
from provenloop.services.call import Call
from provenloop.services.decision import (
    Decision,
    decide,
    find_recommendation,
    require_because,
    require_seen,
    transition,
)
from provenloop.services.declare import declare
from provenloop.services.findings import DUE_EXPIRY, DUE_GROUP, DUE_WAKE, group_ref
from provenloop.services.outbox import audited
from provenloop.services.ports import Replace, Store, Write
from provenloop.services.review import bumped, reply_of
from provenloop.services.waiting import told

LONGEST_MS = 90 * DAY_MS


def snooze(
    store: Store, call: Call, prefix: str, because: str, *, until: int, proposal_digest: str | None = None
) -> dict[str, Any]:
    """Put a pending recommendation off. It ages anew from now, so that it outlives its rest, and again once awake.

    Args:
        until: epoch ms, at most 90 days from now.

    Returns:
        ``{id, status, revision, proposal_digest, audit, snoozed_until}``.

    Raises:
        ScopeDeniedError, InvalidInputError, NotFoundError, IllegalTransitionError, StaleDecisionError, ConflictError:
            refused; nothing was written.
    """
    call.require("review")
    reason = require_because(because)
    if not call.now < until <= call.now + LONGEST_MS:
        raise InvalidInputError("an instant that is to come, at most 90 days from now", field="until")

    def build() -> Decision:
        rec = find_recommendation(store, call, prefix)
        require_step(rec.status, "snoozed", "reviewer")
        require_seen(rec, proposal_digest)
        shown = format_instant(until)
        asleep, entry, note = transition(call, rec, "snoozed", reason, {"until": shown})
        asleep = replace(asleep, snoozed_until=until, expires_at=max(rec.expires_at, expiry_of(call.now)))
        # Once awake it is looked at again, since nothing has been brought up to date meanwhile.
        group = group_ref(rec.family, rec.group)
        dues = (Due(until, DUE_WAKE, rec.id), Due(until, DUE_GROUP, group), Due(asleep.expires_at, DUE_EXPIRY, rec.id))
        writes: list[Write] = [Replace(bumped(asleep), expected=rec.rev), *audited(entry, note)]
        writes += told(store, call.memory, rec, asleep)
        return Decision(
            [*writes, *declare(store, call.memory, *dues)], {**reply_of(asleep, entry), "snoozed_until": shown}
        )

    return decide(store, call, f"snooze/{prefix}", build)


def wake(store: Store, call: Call, prefix: str, because: str, *, proposal_digest: str | None = None) -> dict[str, Any]:
    """Let a snoozed recommendation wait again, before its time; the next pass brings it up to date.

    Returns:
        ``{id, status, revision, proposal_digest, audit}``.

    Raises:
        As :func:`snooze`.
    """
    call.require("review")
    reason = require_because(because)

    def build() -> Decision:
        rec = find_recommendation(store, call, prefix)
        require_step(rec.status, "pending", "reviewer")
        require_seen(rec, proposal_digest)
        awake, entry, note = transition(call, rec, "pending", reason, {"reason": "woken"})
        awake = replace(awake, expires_at=max(rec.expires_at, expiry_of(call.now)))
        dues = (Due(call.now, DUE_GROUP, group_ref(rec.family, rec.group)), Due(awake.expires_at, DUE_EXPIRY, rec.id))
        writes: list[Write] = [Replace(bumped(awake), expected=rec.rev), *audited(entry, note)]
        writes += told(store, call.memory, rec, awake)
        return Decision([*writes, *declare(store, call.memory, *dues)], reply_of(awake, entry))

    return decide(store, call, f"wake/{prefix}", build)

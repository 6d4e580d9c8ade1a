"""Having a recommendation reviewed by a workflow: on request, or because a pass proposed something grave.

The attempt is stored before the execution is started, in one transaction with the recommendation's count of them, so
that whoever decides meanwhile finds it. What breaks off in between is started by asking again: it has the same name.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from provenloop.domain.errors import ConflictError, IllegalTransitionError
from provenloop.domain.names import MemoryId
from provenloop.domain.recommendation import Recommendation, Severity, severity_rank
from provenloop.domain.waiting import Wait, execution_name
from provenloop.services.call import Call
from provenloop.services.decision import find_recommendation, lost_race
from provenloop.services.ports import Put, Replace, Store, WriteRefusedError
from provenloop.services.review_port import ReviewWorkflow
from provenloop.services.waiting import open_waits

BUS = "engine:bus"
_MAX_ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Proposed:
    """A recommendation that a pass proposed: its severity, and the number of the audit entry that says so."""

    memory: MemoryId
    recommendation: str
    severity: Severity
    n: int


def request_review(store: Store, workflow: ReviewWorkflow, call: Call, prefix: str) -> dict[str, Any]:
    """Start a review of a pending recommendation, or name the one that is under way.

    Returns:
        ``{id, status, execution, started}``; ``started`` is False where a review was under way.

    Raises:
        ScopeDeniedError, NotFoundError, AmbiguousPrefixError: refused; nothing was written.
        IllegalTransitionError: it is not pending.
        ConflictError: somebody decided at the same time.
        UnavailableError: the workflow could not be started now; asking again starts it.
    """
    call.require("review")
    rec = find_recommendation(store, call, prefix)
    if rec.status != "pending":
        raise IllegalTransitionError(f"status is {rec.status}; only what is pending can be reviewed")
    wait, is_new = _attempt(store, call.memory, rec, call.principal.label, call.now)
    workflow.start(call.memory, rec.id, wait.execution)
    return {"id": rec.id, "status": rec.status, "execution": wait.execution, "started": is_new}


def review_proposed(
    store: Store, workflow: ReviewWorkflow, proposed: Proposed, at_least: Severity | None, now: int
) -> str | None:
    """Start a review of what was proposed, where its severity is ``at_least`` that of the policy.

    Returns:
        the execution's name; None where none is wanted: too little severity, decided meanwhile, or reviewed already.

    Raises:
        ConflictError, UnavailableError: it could not be started now.
    """
    if at_least is None or severity_rank(proposed.severity) < severity_rank(at_least):
        return None
    for _ in range(_MAX_ROUNDS):
        rec = store.recommendations(proposed.memory, [proposed.recommendation]).get(proposed.recommendation)
        if rec is None or rec.status != "pending" or _is_known(store, proposed, rec):
            return None
        try:
            wait, _ = _attempt(store, proposed.memory, rec, BUS, now)
        except ConflictError:
            continue
        workflow.start(proposed.memory, rec.id, wait.execution)
        return wait.execution
    raise lost_race()


def _is_known(store: Store, proposed: Proposed, rec: Recommendation) -> bool:
    """Whether the proposal was reviewed before: an event of the bus may come more than once, and late."""
    if not rec.reviews:
        return False
    waits = store.waits(proposed.memory, rec.id)
    return any(wait.closed_at is not None and wait.chain_n >= proposed.n for wait in waits)


def _attempt(store: Store, memory: MemoryId, rec: Recommendation, asked_by: str, now: int) -> tuple[Wait, bool]:
    """The review under way, or a new attempt; whether it is new.

    Raises:
        ConflictError: the recommendation moved.
    """
    under_way = open_waits(store, memory, rec)
    if under_way:
        return under_way[-1], False
    attempt = rec.reviews + 1
    wait = Wait(rec.id, execution_name(rec.id, attempt), now, asked_by, rec.chain.n)
    counted = replace(rec, reviews=attempt, rev=rec.rev + 1)
    try:
        store.transact(memory, [Replace(counted, expected=rec.rev), Put(wait)], now)
    except WriteRefusedError as refused:
        raise lost_race() from refused
    return wait, True

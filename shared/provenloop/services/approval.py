"""The tasks of the review workflow: begin to wait, remind, apply what was approved so, give up.

A task that begins to wait stores its callback token first and looks at the recommendation afterwards, strongly
consistent: what was decided before the token was there ends the wait at once, what is decided later finds the token.
Every task may run twice. None grants anything: applying goes through the gates with what the decider may do by now.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from provenloop.domain.errors import IllegalTransitionError, NotFoundError, UnauthenticatedError, UnavailableError
from provenloop.domain.names import MemoryId
from provenloop.domain.principal import Principal
from provenloop.domain.recommendation import Approval, Recommendation
from provenloop.domain.waiting import STILL_WAITING, Wait, WaitedFor
from provenloop.services.apply_change import apply
from provenloop.services.call import Call
from provenloop.services.decision import lost_race
from provenloop.services.ports import Entropy, Replace, Store, WriteRefusedError
from provenloop.services.review_port import Notice, NoticeKind, Notices, ReviewWorkflow
from provenloop.services.waiting import closed, then_apply

EXPIRED = "expired"
FAILED = "failed"
AS_APPROVED = "as the approval asked (then_apply)"
_MAX_ROUNDS = 5


@dataclass(frozen=True, slots=True)
class Ticket:
    """Which execution a task belongs to, and what that is about."""

    memory: MemoryId
    recommendation: str
    execution: str


@dataclass(frozen=True, slots=True)
class Desk:
    """What tasks work with: the store, the workflow they belong to, and how reviewers hear of them."""

    store: Store
    workflow: ReviewWorkflow
    notices: Notices


@dataclass(frozen=True, slots=True)
class TaskCall:
    """One run of a task: ``now`` in epoch ms, the invocation's id, and where random bytes come from."""

    now: int
    request_id: str
    entropy: Entropy


def begin_wait(
    desk: Desk, ticket: Ticket, token: str, waited_for: WaitedFor, kind: NoticeKind | None, now: int
) -> dict[str, Any]:
    """Wait for what the state of the workflow waits for, and tell reviewers so with a notice of that kind.

    Returns:
        ``{waiting, noticed}``: False in ``waiting`` where it was decided already and the workflow was told so.

    Raises:
        NotFoundError: the recommendation or the review is gone.
        ConflictError: others kept changing it; the task can be run again.
        UnavailableError: the workflow could not be told.
    """
    wait = _stored_token(desk.store, ticket, token, now)
    rec = _recommendation(desk.store, ticket)
    if wait.closed_at is None and rec.status == STILL_WAITING[waited_for]:
        return {"waiting": True, "noticed": kind is not None and desk.notices.send(_notice(ticket, rec, kind))}
    outcome = wait.outcome or rec.status
    if not desk.workflow.tell(token, outcome, then_apply=then_apply(rec) and waited_for == "decision"):
        raise UnavailableError("the workflow could not be told; try again")
    return {"waiting": False, "noticed": False}


def apply_as_approved(store: Store, ticket: Ticket, live: Callable[[Approval], Principal], call: TaskCall) -> str:
    """Apply a recommendation whose approval asked for it, with what its decider may do now; the status it then has.

    Args:
        live: who gave an approval, read afresh.
        call: time, id and randomness of the task.

    Raises:
        LoopError: as ``apply`` does; also where the decider's credential is no longer valid or cannot be found.
    """
    rec = _recommendation(store, ticket)
    if rec.status == "applied":
        return rec.status
    approval = rec.approval
    if not then_apply(rec) or approval is None:
        raise IllegalTransitionError(f"status is {rec.status}, and nobody asked for it to be applied from here")
    decider = live(approval)
    if decider.tenant != ticket.memory.tenant or decider.id not in approval.lineage[:1]:
        raise UnauthenticatedError("this token is not valid")
    request = Call(decider, ticket.memory, call.now, call.request_id, ticket.execution, call.entropy)
    answer = apply(store, request, rec.id, AS_APPROVED, allow_destructive=approval.allow_destructive,
                   proposal_digest=approval.digest)  # fmt: skip
    return str(answer["status"])


def expire(store: Store, ticket: Ticket, waited_for: WaitedFor, now: int) -> dict[str, Any]:
    """End a wait that took too long; nothing changes for the recommendation, which can be decided as before.

    Returns:
        ``{outcome, then_apply}``: ``expired``, or what was decided without the workflow having been told.

    Raises:
        ConflictError: others kept changing it; the task can be run again.
    """
    for _ in range(_MAX_ROUNDS):
        wait = _wait(store, ticket)
        rec = store.recommendations(ticket.memory, [ticket.recommendation]).get(ticket.recommendation)
        if rec is not None and rec.status != STILL_WAITING[waited_for] and rec.status in STILL_WAITING.values():
            return {"outcome": rec.status, "then_apply": then_apply(rec)}
        outcome = EXPIRED if rec is None or rec.status == STILL_WAITING[waited_for] else rec.status
        if _is_closed(store, ticket, wait, outcome, now):
            return {"outcome": outcome, "then_apply": False}
    raise lost_race()


def give_up(store: Store, ticket: Ticket, now: int) -> dict[str, Any]:
    """Close a review whose workflow broke down, so that another one can be asked for; answers as :func:`expire`."""
    for _ in range(_MAX_ROUNDS):
        if _is_closed(store, ticket, _wait(store, ticket), FAILED, now):
            return {"outcome": FAILED, "then_apply": False}
    raise lost_race()


def _is_closed(store: Store, ticket: Ticket, wait: Wait | None, outcome: str, now: int) -> bool:
    """Whether the row is closed now; False where somebody else changed it meanwhile."""
    if wait is None or wait.closed_at is not None:
        return True
    return _replaced(store, ticket, wait, closed(wait, outcome, now), now)


def _stored_token(store: Store, ticket: Ticket, token: str, now: int) -> Wait:
    for _ in range(_MAX_ROUNDS):
        wait = _wait(store, ticket)
        if wait is None:
            raise NotFoundError("no such review", field="execution")
        waiting = replace(wait, token=None if wait.closed_at else token, rev=wait.rev + 1)
        if _replaced(store, ticket, wait, waiting, now):
            return waiting
    raise lost_race()


def _replaced(store: Store, ticket: Ticket, before: Wait, after: Wait, now: int) -> bool:
    try:
        store.transact(ticket.memory, [Replace(after, expected=before.rev)], now)
    except WriteRefusedError:
        return False
    return True


def _wait(store: Store, ticket: Ticket) -> Wait | None:
    waits = store.waits(ticket.memory, ticket.recommendation)
    return next((wait for wait in waits if wait.execution == ticket.execution), None)


def _recommendation(store: Store, ticket: Ticket) -> Recommendation:
    rec = store.recommendations(ticket.memory, [ticket.recommendation]).get(ticket.recommendation)
    if rec is None:
        raise NotFoundError("no recommendation has that id", field="recommendation")
    return rec


def _notice(ticket: Ticket, rec: Recommendation, kind: NoticeKind) -> Notice:
    return Notice(
        kind=kind,
        memory=ticket.memory,
        recommendation=rec.id,
        analyzer=rec.analyzer,
        severity=rec.severity,
        count=rec.count,
        created_at=rec.created_at,
    )

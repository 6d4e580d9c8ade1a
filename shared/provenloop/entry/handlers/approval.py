"""Tasks of the review workflow, and proposals that the bus brings.

An error leaves as it was raised: Lambda reports its class by name, and by that name the workflow repeats a task or goes
on otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from provenloop.domain.errors import InvalidInputError, LoopError
from provenloop.domain.names import MemoryId
from provenloop.domain.principal import Principal
from provenloop.domain.recommendation import Approval
from provenloop.domain.waiting import WaitedFor
from provenloop.entry.models.tasks import ProposedEvent, TaskRequest
from provenloop.entry.models.validation import read_model
from provenloop.entry.telemetry import count, log_error, log_outcome
from provenloop.entry.telling import tell_committed
from provenloop.entry.wiring import Wiring, wiring
from provenloop.services import approval
from provenloop.services.approval import Desk, TaskCall, Ticket
from provenloop.services.review_port import NoticeKind
from provenloop.services.start_review import Proposed, review_proposed

#: What each task that begins to wait waits for, and the notice that goes out with it.
_WAITS: Mapping[str, tuple[WaitedFor, NoticeKind | None]] = {
    "open": ("decision", "review"),
    "remind": ("decision", "reminder"),
    "wait_apply": ("apply", None),
}


def run_task(event: Mapping[str, Any], context: object) -> dict[str, Any]:
    """One task that changes no recommendation: ``open``, ``remind``, ``wait_apply``, ``expire`` or ``give_up``.

    Raises:
        LoopError: as the task.
    """
    return _logged(event, context, _run)


def run_apply(event: Mapping[str, Any], context: object) -> dict[str, Any]:
    """The task ``apply``: ``{outcome, then_apply}``.

    Raises:
        LoopError: as ``approval.apply_as_approved``; the recommendation stays approved.
    """
    return _logged(event, context, _apply)


def review_from_bus(event: Mapping[str, Any]) -> dict[str, Any]:
    """Have reviewed what a pass proposed, if the policy asks for it; ``{execution}``, None where it does not."""
    current = wiring()
    detail = read_model(ProposedEvent, event.get("detail"), root="detail")
    proposed = Proposed(MemoryId(detail.tenant, detail.memory), detail.recommendation, detail.severity, detail.n)
    at_least = current.policy.policy.review.start_workflow_at
    execution = review_proposed(current.store, current.reviews, proposed, at_least, current.now())
    count("ReviewsStarted", int(execution is not None))
    log_outcome("review_proposed", "started" if execution else "left", correlation_id=str(event.get("id", "")))
    return {"execution": execution}


def _logged(event: Mapping[str, Any], context: object, run: Any) -> dict[str, Any]:
    task = read_model(TaskRequest, event, root="task")
    request_id = str(getattr(context, "aws_request_id", ""))
    about = {"correlation_id": request_id, "tenant": task.ticket.tenant, "memory": task.ticket.memory}
    try:
        answer: dict[str, Any] = run(wiring(), task, request_id)
    except LoopError as error:
        log_error(task.task, error, detail=error.message, code=error.code, **about)
        raise
    except Exception as error:
        log_error(task.task, error, **about)
        raise
    log_outcome(task.task, str(answer.get("outcome", "waiting" if answer.get("waiting") else "told")), **about)
    return answer


def _run(current: Wiring, task: TaskRequest, _request_id: str) -> dict[str, Any]:
    ticket, now = _ticket(task), current.now()
    if task.task in _WAITS:
        return _wait(current, task, ticket, now)
    if task.task == "expire":
        return approval.expire(current.store, ticket, _needed(task.waited_for, "waited_for"), now)
    if task.task == "give_up":
        return approval.give_up(current.store, ticket, now)
    raise InvalidInputError("another function carries out this task", field="task")


def _wait(current: Wiring, task: TaskRequest, ticket: Ticket, now: int) -> dict[str, Any]:
    waited_for, kind = _WAITS[task.task]
    desk = Desk(current.store, current.reviews, current.notices)
    answer = approval.begin_wait(desk, ticket, _needed(task.token, "token"), waited_for, kind, now)
    count("NoticesLost", int(answer["waiting"] and kind is not None and not answer["noticed"]))
    return answer


def _apply(current: Wiring, task: TaskRequest, request_id: str) -> dict[str, Any]:
    if task.task != "apply":
        raise InvalidInputError("another function carries out this task", field="task")
    ticket, now = _ticket(task), current.now()
    call = TaskCall(now, request_id, current.entropy)

    def live(given: Approval) -> Principal:
        return current.credentials.live(given.credential, ticket.memory.tenant, now)

    try:
        outcome = approval.apply_as_approved(current.store, ticket, live, call)
    finally:
        tell_committed(current)
    count("ChangesApplied", 1)
    return {"outcome": outcome, "then_apply": False}


def _ticket(task: TaskRequest) -> Ticket:
    given = task.ticket
    return Ticket(MemoryId(given.tenant, given.memory), given.recommendation, given.execution)


def _needed(value: Any, field: Literal["token", "waited_for"]) -> Any:
    if value is None:
        raise InvalidInputError("this field is needed", field=field)
    return value

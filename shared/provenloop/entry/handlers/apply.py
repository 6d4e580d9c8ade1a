"""Decisions that change grains: apply, roll back, approve and apply at once, forget."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from provenloop.entry.models.forget import ForgetRequest
from provenloop.entry.models.loop import ApplyRequest, RollbackRequest
from provenloop.entry.reply import Reply, json_reply
from provenloop.entry.request import Request
from provenloop.entry.telemetry import count
from provenloop.services import apply_change
from provenloop.services import forget_subject as forgetting
from provenloop.services import roll_back as undo
from provenloop.services.forget_plan import Wanted


def apply(request: Request) -> Reply:
    """Apply an approved recommendation."""
    return _applied(request, apply_change.apply)


def approve_and_apply(request: Request) -> Reply:
    """Approve and apply: both, or neither."""
    return _applied(request, apply_change.approve_and_apply)


def roll_back(request: Request) -> Reply:
    """Undo an applied recommendation."""
    body = request.body_as(RollbackRequest)
    answer = undo.roll_back(request.wiring.store, request.call, request.need("id"), body.because)
    count("ChangesRolledBack", 1)
    return json_reply(answer)


def forget(request: Request) -> Reply:
    """Forget a grain, or a subject: 202 where a job goes on with it."""
    body = request.body_as(ForgetRequest)
    wanted = Wanted(body.address, body.namespace, body.subject)
    current = request.wiring
    if body.dry_run:
        return json_reply(forgetting.would_forget_subject(current.store, request.call, wanted))
    is_done, answer = forgetting.forget_subject(current.shelf, current.jobs, request.call, wanted, body.because or "")
    count("GrainsForgotten", answer["forgotten"] if is_done else 0)
    return json_reply(answer, status=200 if is_done else 202)


def _applied(request: Request, decide: Callable[..., dict[str, Any]]) -> Reply:
    body = request.body_as(ApplyRequest)
    answer = decide(
        request.wiring.store,
        request.call,
        request.need("id"),
        body.because,
        allow_destructive=body.allow_destructive,
        proposal_digest=body.proposal_digest,
    )
    count("ChangesApplied", 1)
    return json_reply(answer)

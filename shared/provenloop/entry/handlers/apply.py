"""Decisions that change grains: apply, roll back, approve and apply at once, forget."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from provenloop.domain.audit import new_chain
from provenloop.domain.errors import NotFoundError
from provenloop.entry.models.forget import ForgetRequest
from provenloop.entry.models.loop import ApplyRequest, RollbackRequest
from provenloop.entry.reply import Reply, json_reply
from provenloop.entry.request import Request
from provenloop.entry.telemetry import count
from provenloop.services import apply_change, jobs
from provenloop.services import forget as forgetting
from provenloop.services import roll_back as undo
from provenloop.services.erasing import Erasures
from provenloop.services.forget_plan import Plan, Wanted
from provenloop.services.forget_recipes_about import forget_recipes_about, recipes_about
from provenloop.services.forgetting import reply_of


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
    current, because, subject = request.wiring, body.because or "", body.subject
    named = recipes_about(current.store, request.call, subject) if subject else []
    if body.dry_run:
        with _nothing_but(named, subject) as told:
            told.update(forgetting.would_forget(current.store, request.call, wanted))
        return json_reply({**told, "recipes": len(named), "dry_run": True})
    is_done = True
    with _nothing_but(named, subject) as told:
        is_done, answer = jobs.forget_or_begin(current.store, current.jobs, request.call, wanted, because)
        told.update(answer)
    recipes = forget_recipes_about(current.shelf, request.call, subject, because) if subject else 0
    if not is_done:
        return json_reply(told, status=202)
    count("GrainsForgotten", told["forgotten"])
    return json_reply({**told, "recipes": recipes})


@contextmanager
def _nothing_but(recipes: Sequence[str], subject: str | None) -> Iterator[dict[str, Any]]:
    """What is told of a subject of which nothing is held but recipes; filled in where there is more."""
    told: dict[str, Any] = {}
    try:
        yield told
    except NotFoundError as unknown:
        if not recipes or subject is None or unknown.field != "subject":
            raise
        told.update(reply_of(Plan(new_chain(""), (), Erasures(0)), None, None))


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

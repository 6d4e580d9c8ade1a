"""Decisions about recommendations that change no grain: approve, reject, acknowledge, snooze, and asking for them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from provenloop.domain.errors import InvalidInputError
from provenloop.entry.models.loop import (
    ApproveRequest,
    BatchReviewRequest,
    DecisionRequest,
    SnoozeRequest,
)
from provenloop.entry.reply import Reply, json_reply
from provenloop.entry.request import Request
from provenloop.entry.telemetry import count
from provenloop.services import batch_review as batch
from provenloop.services import (
    review,
    start_review,
)
from provenloop.services import snooze as snoozing
from provenloop.services.waiting import Wish


def approve(request: Request) -> Reply:
    """Approve a recommendation."""
    body = request.body_as(ApproveRequest)
    if body.allow_destructive and not body.then_apply:
        raise InvalidInputError("only where it is to be applied, too: then_apply", field="allow_destructive")
    answer = review.approve(
        request.wiring.store,
        request.call,
        request.need("id"),
        body.because,
        proposal_digest=body.proposal_digest,
        wish=Wish(body.allow_destructive) if body.then_apply else None,
    )
    count("Decisions", 1)
    return json_reply(answer)


def reject(request: Request) -> Reply:
    """Reject or withdraw a recommendation."""
    return _decided(request, review.reject)


def request_review(request: Request) -> Reply:
    """Have a recommendation reviewed."""
    wiring = request.wiring
    answer = start_review.request_review(wiring.store, wiring.reviews, request.call, request.need("id"))
    count("ReviewsStarted", int(answer["started"]))
    return json_reply(answer)


def acknowledge(request: Request) -> Reply:
    """Close advice that was followed."""
    return _decided(request, review.acknowledge)


def snooze(request: Request) -> Reply:
    """Put a recommendation off."""
    return _decided(request, partial(snoozing.snooze, until=request.body_as(SnoozeRequest).until))


def wake(request: Request) -> Reply:
    """Let a snoozed recommendation wait again."""
    return _decided(request, snoozing.wake)


def batch_review(request: Request) -> Reply:
    """Decide about several recommendations."""
    body = request.body_as(BatchReviewRequest)
    answer = batch.batch_review(request.wiring.store, request.call, body.ids, body.action, body.because)
    count("Decisions", answer["decided"])
    return json_reply(answer)


def _decided(request: Request, decide: Callable[..., dict[str, Any]]) -> Reply:
    body = request.body_as(DecisionRequest)
    answer = decide(
        request.wiring.store, request.call, request.need("id"), body.because, proposal_digest=body.proposal_digest
    )
    count("Decisions", 1)
    return json_reply(answer)

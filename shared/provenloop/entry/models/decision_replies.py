"""What decisions about recommendations answer."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from provenloop.domain.lifecycle import Status
from provenloop.entry.models.fields import Time, WireModel
from provenloop.services.batch_review import BatchAction


class DecisionReply(WireModel):
    """What a decision came to."""

    id: str
    status: Status
    revision: int
    proposal_digest: str
    audit: Annotated[str, Field(description="Id of the audit entry.")]


class ReviewReply(WireModel):
    """A review that is under way."""

    id: str
    status: Status
    execution: Annotated[str, Field(description="Name of the workflow's execution.")]
    started: Annotated[bool, Field(description="False where a review was under way already.")]


class RejectedReply(DecisionReply):
    """A rejection or an acknowledgement: the finding stays quiet until then."""

    cooldown_until: Time


class SnoozedReply(DecisionReply):
    """A finding that was put off until then."""

    snoozed_until: Time


class Refusal(WireModel):
    """Why one decision of several was refused, as its problem details would say."""

    code: str
    detail: str
    field: str | None


class ReviewedOne(WireModel):
    """What became of one listed recommendation. ``id`` is as it was given."""

    id: str
    decision: RejectedReply | DecisionReply | None
    error: Refusal | None


class BatchReviewReply(WireModel):
    """What became of each listed recommendation, in the order of the list."""

    action: BatchAction
    decided: int
    refused: int
    results: list[ReviewedOne]


class AppliedReply(DecisionReply):
    """An apply: addresses of grains that were created and changed."""

    rollbackable: bool
    created: list[str]
    changed: list[str]
    seq: int
    reverted: Annotated[str | None, Field(description="Id of the recommendation that a revert undid.")]


class RolledBackReply(DecisionReply):
    """A rollback: addresses of grains that were removed, restored, or needed nothing."""

    seq: int
    removed: list[str]
    restored: list[str]
    already_undone: list[str]

"""Requests of the loop: a pass, the queue, decisions."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from provenloop.entry.models.fields import Because, Digest, Line, WireModel

_Count = Annotated[int | None, Field(ge=0, le=1_000_000_000)]


class RunRequest(WireModel):
    """Options of a pass. Gates are OR-ed; without any the pass always runs."""

    min_new: _Count = None
    min_new_errors: _Count = None
    if_stale: Annotated[Line | None, Field(description="A duration such as 6h.")] = None
    full_sweep: bool = False


class DecisionRequest(WireModel):
    """Approve or reject, with the written reason."""

    because: Because
    proposal_digest: Annotated[
        Digest | None,
        Field(description="Digest of the proposal the decider saw; the decision is refused if it differs."),
    ] = None


class ApplyRequest(DecisionRequest):
    """Apply, or approve and apply at once."""

    allow_destructive: Annotated[bool, Field(description="Says that a removal is wanted; needs admin as well.")] = False


class RollbackRequest(WireModel):
    """Undo an applied change."""

    because: Because

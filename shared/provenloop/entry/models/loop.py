"""Requests of the loop: a pass, the queue, decisions."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from provenloop.domain.recommendation import Severity
from provenloop.entry.models.fields import Because, Digest, Instant, Line, Namespace, WireModel
from provenloop.services.batch_review import MAX_IDS, BatchAction

_Count = Annotated[int | None, Field(ge=0, le=1_000_000_000)]


class RunRequest(WireModel):
    """Options of a pass. Gates are OR-ed; without any the pass always runs."""

    min_new: _Count = None
    min_new_errors: _Count = None
    if_stale: Annotated[Line | None, Field(description="A duration such as 6h.")] = None
    full_sweep: bool = False


class ConfigRequest(WireModel):
    """What to set in this memory; what is left out stays as it is. Configuration can only restrict."""

    analyzer: Annotated[Line | None, Field(description="Id of the analyzer, with or without its version.")] = None
    enabled: bool | None = None
    parameters: Annotated[
        dict[str, Any] | None, Field(max_length=32, description="Laid over those that are set; see its manifest.")
    ] = None
    clear_parameters: Annotated[bool, Field(description="Go back to the defaults first.")] = False
    severity_floor: Severity | None = None
    clear_floor: bool = False
    namespaces: Annotated[
        list[Namespace] | None, Field(max_length=100, description="The only ones it may speak of; none named, all.")
    ] = None
    passes_enabled: Annotated[bool | None, Field(description="Whether passes run at all.")] = None
    lessons: Annotated[
        dict[str, Any] | None, Field(max_length=32, description="Settings of lessons, laid over those that are set.")
    ] = None
    clear_lessons: Annotated[bool, Field(description="Go back to the defaults of lessons first.")] = False
    lesson_folds: Annotated[
        dict[str, str] | None,
        Field(max_length=50, description="The memory's own categories of lessons, and the key that each folds into."),
    ] = None
    recipes: Annotated[
        dict[str, Any] | None, Field(max_length=32, description="Settings of recipes, laid over those that are set.")
    ] = None
    clear_recipes: Annotated[bool, Field(description="Go back to the defaults of recipes first.")] = False
    lesson_not_rules: Annotated[
        list[str] | None, Field(max_length=200, description="Ids of all cards that are no rules here; never ready.")
    ] = None
    because: Because | None = None


class DecisionRequest(WireModel):
    """A decision, with the written reason."""

    because: Because
    proposal_digest: Annotated[
        Digest | None,
        Field(description="Digest of the proposal the decider saw; the decision is refused if it differs."),
    ] = None


class ApproveRequest(DecisionRequest):
    """Approve, and say whether the review that waits for it shall apply it as well."""

    then_apply: Annotated[
        bool,
        Field(description="Have it applied by the waiting review, with what the decider may do by then."),
    ] = False
    allow_destructive: Annotated[
        bool, Field(description="Says that a removal is wanted; only with then_apply, and needs admin as well.")
    ] = False


class SnoozeRequest(DecisionRequest):
    """Put off until an instant, at most 90 days from now."""

    until: Instant


class BatchReviewRequest(WireModel):
    """One decision about each of the listed recommendations."""

    ids: Annotated[list[Line], Field(min_length=1, max_length=MAX_IDS, description="Ids or prefixes, none twice.")]
    action: BatchAction
    because: Because


class ApplyRequest(DecisionRequest):
    """Apply, or approve and apply at once."""

    allow_destructive: Annotated[bool, Field(description="Says that a removal is wanted; needs admin as well.")] = False


class RollbackRequest(WireModel):
    """Undo an applied change."""

    because: Because

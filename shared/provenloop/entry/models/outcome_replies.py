"""Answers about what became of applied changes, of rules and of recipes, see ``replies``."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from provenloop.domain.checkpoint import Verdict
from provenloop.domain.lifecycle import Status
from provenloop.domain.recipe import RecipeKind, RecipeStatus
from provenloop.entry.models.fields import Time, WireModel
from provenloop.entry.models.loop_replies import Checkpoint, Metric


class Outcome(WireModel):
    """An applied recommendation and its checkpoints, shortest horizon first."""

    id: str
    analyzer: str
    status: Status
    namespace: str
    target: str
    applied_at: Time | None
    metric: Metric | None
    verdict: Annotated[Verdict | None, Field(description="Of the longest measured horizon that tells something.")]
    series: list[Checkpoint]


class AnalyzerOutcomes(WireModel):
    """How an analyzer's recommendations fared; a rate (0 to 1) is told of at least ten cases."""

    analyzer: str
    proposed: int
    approved: int
    acknowledged: int
    rejected: int
    applied: int
    held: int
    regressed: int
    inconclusive: int
    rolled_back: Annotated[int, Field(description="Undone by hand.")]
    reverted: Annotated[int, Field(description="Undone by a revert that was applied.")]
    approval_rate: float | None
    held_rate: float | None


class RuleOutcome(WireModel):
    """What was reported of a rule's mistake before it was armed last, and what its sessions counted since."""

    id: str
    project: str
    status: str
    armed_at: Time | None
    reports_before: int
    days_before: float
    violations: int
    suppressed: int
    samples: int
    exposure: Annotated[int, Field(description="How often the rule was there, or its scenario fired.")]
    days_since: Annotated[float, Field(description="In force, at least one.")]
    verdict: Literal["held", "regressed", "inconclusive"]
    reduced: Annotated[bool, Field(description="Broken since, but less than half as often.")]


class RecipeOutcomes(WireModel):
    """What became of the hits of what a recipe says now."""

    id: str
    kind: RecipeKind
    status: RecipeStatus
    revision: int
    hits: Annotated[int, Field(description="Deliveries that were committed.")]
    held: int
    regressed: int
    verdict: Verdict


class OutcomesReply(WireModel):
    """What became of applied changes and of rules, the latest first."""

    recommendations: list[Outcome]
    recipes: list[RecipeOutcomes]
    cut: Annotated[bool, Field(description="Whether there are more than the 200 shown.")]
    analyzers: list[AnalyzerOutcomes]
    rules: Annotated[list[RuleOutcome], Field(description="Cards that were armed, at most 200.")]
    rules_cut: Annotated[bool, Field(description="Whether there are more of those.")]

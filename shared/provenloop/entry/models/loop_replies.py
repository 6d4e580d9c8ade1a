"""Answers about recommendations, passes, analyzers and the audit trail, see ``replies``."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from provenloop.domain.checkpoint import Verdict
from provenloop.domain.lifecycle import Status
from provenloop.domain.proposal import OperationName
from provenloop.domain.recommendation import Severity
from provenloop.entry.models.fields import Time, WireModel
from provenloop.entry.models.settings_replies import PolicyStanding


class Skip(WireModel):
    """An analyzer that did not finish, and why."""

    id: str
    reason: str


class Usage(WireModel):
    """Capacity units used."""

    reads: float
    writes: float


class ModelsAsked(WireModel):
    """What models were asked in a pass, and what came of it."""

    model: Annotated[str, Field(description="The model that proposes, as it calls itself.")]
    calls: int
    left_out: Annotated[
        int, Field(description="Evidence, findings and decisions that it was not shown, for the limits had no room.")
    ]
    drafts: Annotated[int, Field(description="Findings that were proposed and cite what was shown.")]
    grounded: Annotated[int, Field(description="Those of them whose premises the evidence holds.")]
    kept: Annotated[int, Field(description="Those of them that were judged sound, with enough confidence.")]
    stopped: Annotated[str | None, Field(description="Why it ended before its last stage.")]
    cost_nano_usd: int


class AnalyzerAsked(WireModel):
    """What an external analyzer answered in a pass; ``dropped`` counts what did not count, by reason."""

    id: str
    title: Annotated[str, Field(description="What it calls itself, else its id.")]
    kept: Annotated[int, Field(description="Findings that count.")]
    dropped: dict[str, int]


class PassReply(WireModel):
    """The outcome of a pass; a skip is success."""

    run: str
    outcome: Literal["ran", "skipped"]
    skip_reason: Literal["gate", "busy", "disabled"] | None
    more: Annotated[bool, Field(description="Whether the pass ran out of time and another one has more to do.")]
    new_grains: int
    new_error_events: int
    proposed: int
    deduped: int
    suppressed: int
    stored: int
    refreshed: int
    auto_applied: int
    expired: int
    measured: int
    analyzers_run: list[str]
    analyzers_skipped: list[Skip]
    watermark: Annotated[int, Field(description="Number of the last commit that was folded.")]
    external: Annotated[list[AnalyzerAsked] | None, Field(description="Only where external analyzers answered.")] = None
    model: Annotated[ModelsAsked | None, Field(description="Only where a model was asked.")] = None
    usage: Usage


class QueueRow(WireModel):
    """A recommendation as the queue shows it."""

    id: str
    analyzer: str
    origin: str
    namespace: str
    target: str
    severity: Severity
    status: Status
    summary: str
    details: Annotated[dict[str, Any], Field(description="The figures and names of the summary.")]
    count: Annotated[int, Field(description="How much evidence there is, also beyond the 64 addresses kept.")]
    confidence: float
    revision: int
    proposal_digest: str
    destructive: bool
    rollbackable: bool
    created_at: Time
    updated_at: Time
    expires_at: Time


class QueueReply(WireModel):
    """A page of the queue."""

    recommendations: list[QueueRow]
    cursor: Annotated[str | None, Field(description="Asks for the next page; null on the last one.")]


class NewFact(WireModel):
    """A fact that an ADD makes."""

    namespace: str
    subject: str
    relation: str
    object: str
    confidence: float


class Operation(WireModel):
    """One step of a proposal."""

    op: OperationName
    target: Annotated[str | None, Field(description="Address of the grain that changes.")]
    into: Annotated[str | None, Field(description="Address of the grain it is pointed at.")]
    fact: NewFact | None
    expects: Annotated[dict[str, int], Field(description="head_rev that each grain must still have.")]


class Proposal(WireModel):
    """What applying would do."""

    operations: list[Operation]
    advice: dict[str, Any] | None
    revert_of: str | None


class Evidence(WireModel):
    """A grain that a recommendation rests on; of a forgotten one only its address is left."""

    address: str
    state: Literal["current", "superseded", "forgotten"]
    kind: str | None = None
    namespace: str | None = None
    occurred_at: Time | None = None
    body: dict[str, Any] | None = None


class Metric(WireModel):
    """What is measured again after an apply.

    The baseline of a tool is that of the 30 days before the apply, once the first horizon is measured; until then it is
    what the finding rested on.
    """

    name: str
    baseline_errors: int
    baseline_calls: int
    window_days: int


class Late(WireModel):
    """What came into a window after it was measured, until the next horizon (after the last one for a week).

    It may turn a verdict of held into regressed, once.
    """

    errors: int
    calls: int
    corrected_at: Time | None


class Checkpoint(WireModel):
    """A planned measurement after an apply, with its verdict once it is made."""

    horizon_ms: int
    due_at: Time
    verdict: Verdict | None
    reduced: Annotated[bool, Field(description="Held, although it came back: much less often than before.")]
    errors: Annotated[int, Field(description="How often the fault came back within the horizon.")]
    calls: Annotated[int, Field(description="Out of how many calls; of facts, writes and reads of the subject.")]
    measured_at: Time | None
    late: Annotated[Late | None, Field(description="What arrived after it was measured, and occurred before.")]


class RecommendationReply(QueueRow):
    """A recommendation, whole."""

    family: str
    occurrence: int
    parameters: dict[str, Any]
    count_at_revision: int
    applied_at: Time | None
    snoozed_until: Time | None
    earlier: Annotated[str | None, Field(description="The recommendation of this finding before this one.")]
    reason: str | None
    guidance: str | None
    held_back: Annotated[str | None, Field(description="Why the host policy's grant did not have it applied.")]
    reviews: Annotated[int, Field(description="How many reviews were started for it.")]
    proposal: Proposal
    evidence: list[Evidence]
    metric: Metric | None
    checkpoints: list[Checkpoint]
    audit: list[dict[str, Any]]
    verified: Annotated[bool, Field(description="Whether the audit chain of this recommendation holds.")]
    next: Annotated[list[Status], Field(description="Statuses that may follow.")]


class OutsideFindings(WireModel):
    """What people made of findings of a model or of an external analyzer; a rate is told of at least ten decisions."""

    analyzer: Annotated[str, Field(description="Without its version: loop.llm, or ext. and a name.")]
    proposed: int
    approved: int
    acknowledged: int
    rejected: int
    approval_rate: Annotated[float | None, Field(description="Share of approved and acknowledged ones, 0 to 1.")]


class LoopHealthReply(WireModel):
    """How far the loop of a memory is."""

    stale: bool
    last_run_at: Time | None
    new_grains: int
    new_error_events: int
    seq: int
    folded: int
    analyzed: int
    holes: list[int]
    holes_dropped: int
    set_aside: list[int]
    next_due_at: Time | None
    namespaces: list[str]
    policy: PolicyStanding
    unhandled_regressions: Annotated[
        list[str], Field(description="Applied recommendations that did not hold and that nobody is asked to undo.")
    ]
    outside_findings: Annotated[
        list[OutsideFindings], Field(description="By analyzer; of the newest 200 things that they said.")
    ]


class AuditBreak(WireModel):
    """Where a chain does not hold."""

    subject: str
    n: int
    reason: str


class AuditVerifyReply(WireModel):
    """Whether every chain holds."""

    ok: bool
    subjects: int
    entries: int
    first_break: Annotated[AuditBreak | None, Field(alias="break")]

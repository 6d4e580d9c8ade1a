"""Forms of requests and replies, as the service reads and answers them.

Written by ``make client-forms``; do not edit. A key that is ``NotRequired`` may be left out, and is left out by the
service where it has nothing to say. ``<Form>Rest`` is what may be left out of a form: methods take it by name.

Long on purpose: one form for each model of the OpenAPI document.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict


class Analyzer(TypedDict):
    """What an analyzer looks for, and how it is set in this memory: ``effective`` are the parameters it runs with."""

    id: str
    title: str
    line: str
    tier: str
    trust: Literal["builtin", "command", "llm"]
    default_on: bool
    sources: list[str]
    kinds: list[str]
    parameters: list[AnalyzerParameter]
    needs: list[str]
    auto_apply: Literal["never", "structural"]
    metric: str | None
    enabled: bool
    skip_reason: str | None
    effective: dict[str, str | int | float | bool]
    severity_floor: Literal["info", "low", "medium", "high"]
    namespaces: list[str]


class AnalyzerAsked(TypedDict):
    """What an external analyzer answered in a pass; ``dropped`` counts what did not count, by reason."""

    id: str
    title: str
    kept: int
    dropped: dict[str, int]


class AnalyzerOutcomes(TypedDict):
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
    rolled_back: int
    reverted: int
    approval_rate: float | None
    held_rate: float | None


class AnalyzerParameter(TypedDict):
    """A parameter of an analyzer. ``low`` and ``high`` bound numbers, ``high`` the length of a text."""

    name: str
    kind: Literal["int", "float", "str", "bool"]
    default: str | int | float | bool
    low: float | None
    high: float | None
    describes: str
    choices: list[str]


class AnalyzersReply(TypedDict):
    """All analyzers, in the order in which a pass runs them."""

    analyzers: list[Analyzer]


class AppliedReply(TypedDict):
    """An apply: addresses of grains that were created and changed."""

    id: str
    status: Literal["pending", "snoozed", "approved", "applied", "rejected", "acknowledged", "rolled_back", "expired"]
    revision: int
    proposal_digest: str
    audit: str
    rollbackable: bool
    created: list[str]
    changed: list[str]
    seq: int
    reverted: str | None


class ApplyRequest(TypedDict):
    """Apply, or approve and apply at once."""

    because: str
    proposal_digest: NotRequired[str | None]
    allow_destructive: NotRequired[bool]


class ApplyRequestRest(TypedDict):
    """Apply, or approve and apply at once."""

    proposal_digest: NotRequired[str | None]
    allow_destructive: NotRequired[bool]


class ApproveRequest(TypedDict):
    """Approve, and say whether the review that waits for it shall apply it as well."""

    because: str
    proposal_digest: NotRequired[str | None]
    then_apply: NotRequired[bool]
    allow_destructive: NotRequired[bool]


class ApproveRequestRest(TypedDict):
    """Approve, and say whether the review that waits for it shall apply it as well."""

    proposal_digest: NotRequired[str | None]
    then_apply: NotRequired[bool]
    allow_destructive: NotRequired[bool]


class AskedOften(TypedDict):
    """A question, how often it was asked in the window, and how often nothing was found. A question in free text
    has a text; a look-up has the subject, the relation, or both.
    """

    address: str
    namespace: str
    text: str | None
    subject: str | None
    relation: str | None
    asked: int
    empty: int


class Assemblies(TypedDict):
    """Contexts that agents assembled in the window, and how many of them dropped something."""

    assembled: int
    overflowed: int


class AssemblyReport(TypedDict):
    """How full a context became. Any dropped candidate is an overflow."""

    kind: Literal["assembly_report"]
    namespace: NotRequired[str]
    budget: int
    used: int
    dropped: int
    unit: Literal["tokens", "grains"]


class AuditBreak(TypedDict):
    """Where a chain does not hold."""

    subject: str
    n: int
    reason: str


class AuditExportQuery(TypedDict):
    """Which part of the trail to export."""

    subject: NotRequired[str | None]
    since: NotRequired[str | int | None]
    until: NotRequired[str | int | None]
    cursor: NotRequired[str | None]


class AuditQuery(TypedDict):
    """Which chain to read: that of one recommendation, or all of them."""

    subject: NotRequired[str | None]


AuditVerifyReply = TypedDict(
    "AuditVerifyReply",
    {
        "ok": bool,
        "subjects": int,
        "entries": int,
        "break": "AuditBreak | None",
    },
)


class BatchReviewReply(TypedDict):
    """What became of each listed recommendation, in the order of the list."""

    action: Literal["approve", "reject", "acknowledge"]
    decided: int
    refused: int
    results: list[ReviewedOne]


class BatchReviewRequest(TypedDict):
    """One decision about each of the listed recommendations."""

    ids: list[str]
    action: Literal["approve", "reject", "acknowledge"]
    because: str


class Card(TypedDict):
    """A card with its counters and the flags that follow from them."""

    id: str
    status: Literal["candidate", "armed", "rejected", "demoted", "archived"]
    project: str
    category: str
    signature: str
    statement: str | None
    suggestion: str | None
    reports: int
    violations: int
    suppressed: int
    samples: int
    since_rejection: int
    created_at: str | None
    changed_at: str | None
    ready_at: str | None
    armed_at: str | None
    last_at: str | None
    clean_at: str | None
    merged_into: str | None
    ready: bool
    not_a_rule: bool
    undeterminable: bool
    since_armed: SinceArmed | None


class CardActionReply(TypedDict):
    """What an action came to."""

    id: str
    action: Literal["arm", "reject", "demote", "archive", "edit", "revive"]
    status: Literal["candidate", "armed", "rejected", "demoted", "archived"]
    armed_at: str | None
    audit: str


class CardActionRequest(TypedDict):
    """A person's action on a card."""

    because: str
    statement: NotRequired[str | None]


class CardActionRequestRest(TypedDict):
    """A person's action on a card."""

    statement: NotRequired[str | None]


class CardEvidence(TypedDict):
    """What one line says for a card; a long detail is cut."""

    lesson: str
    seq: int
    at: str
    source: str
    detail: str
    counted: Literal["report", "violation"]
    signature: str | None
    target: str | None
    session: str | None
    needs_user_confirmation: bool


class CardReply(TypedDict):
    """A card with its newest evidence, its audit trail and what may follow."""

    id: str
    status: Literal["candidate", "armed", "rejected", "demoted", "archived"]
    project: str
    category: str
    signature: str
    statement: str | None
    suggestion: str | None
    reports: int
    violations: int
    suppressed: int
    samples: int
    since_rejection: int
    created_at: str | None
    changed_at: str | None
    ready_at: str | None
    armed_at: str | None
    last_at: str | None
    clean_at: str | None
    merged_into: str | None
    ready: bool
    not_a_rule: bool
    undeterminable: bool
    since_armed: SinceArmed | None
    evidence: list[CardEvidence]
    audit: list[dict[str, Any]]
    verified: bool
    next: list[Literal["arm", "reject", "demote", "archive", "edit", "revive"]]


class CardsQuery(TypedDict):
    """Which cards to list; the rules are those that are armed."""

    project: NotRequired[str | None]
    status: NotRequired[str]
    limit: NotRequired[int]
    cursor: NotRequired[str | None]


class CardsReply(TypedDict):
    """A page of cards, by project, then age."""

    cards: list[Card]
    cursor: str | None


class Checkpoint(TypedDict):
    """A planned measurement after an apply, with its verdict once it is made."""

    horizon_ms: int
    due_at: str
    verdict: Literal["held", "regressed", "inconclusive"] | None
    reduced: bool
    errors: int
    calls: int
    measured_at: str | None
    late: Late | None


class CommitReply(TypedDict):
    """What was counted; ``reinforced`` only where the recipe still says what was delivered."""

    recipe: str
    rung: Literal["exact", "semantic", "composed"]
    repeated: bool
    reinforced: bool


class CommitRequest(TypedDict):
    """A hit that was delivered, within an hour."""

    hit_token: str


class ConfigReply(TypedDict):
    """The memory's configuration and what came of it."""

    analyzers: list[Analyzer]
    rev: int
    passes_enabled: bool
    lessons: dict[str, bool | int | float] | None
    lesson_folds: dict[str, str]
    recipes: dict[str, bool | int | float | str]
    lesson_not_rules: list[str]


class ConfigRequest(TypedDict):
    """What to set in this memory; what is left out stays as it is. Configuration can only restrict."""

    analyzer: NotRequired[str | None]
    enabled: NotRequired[bool | None]
    parameters: NotRequired[dict[str, Any] | None]
    clear_parameters: NotRequired[bool]
    severity_floor: NotRequired[Literal["info", "low", "medium", "high"] | None]
    clear_floor: NotRequired[bool]
    namespaces: NotRequired[list[str] | None]
    passes_enabled: NotRequired[bool | None]
    lessons: NotRequired[dict[str, Any] | None]
    clear_lessons: NotRequired[bool]
    lesson_folds: NotRequired[dict[str, str] | None]
    recipes: NotRequired[dict[str, Any] | None]
    clear_recipes: NotRequired[bool]
    lesson_not_rules: NotRequired[list[str] | None]
    because: NotRequired[str | None]


class ContextLesson(TypedDict):
    """A lesson in the block."""

    address: str
    namespace: str
    recommendation: str


class ContextPending(TypedDict):
    """What waits for review, by figures alone."""

    id: str
    analyzer: str
    severity: Literal["info", "low", "medium", "high"]
    count: int


class ContextQuery(TypedDict):
    """Whose context, and how much of it: a project, or a session of it that was started."""

    project: NotRequired[str | None]
    session: NotRequired[str | None]
    k: NotRequired[int]
    budget: NotRequired[int]


class ContextReply(TypedDict):
    """What an agent is told when it begins, as one fenced block; it is never empty, but may have nothing to tell."""

    block: str
    tokens: int
    budget: int
    rules: list[str]
    rules_left_out: int
    lessons: list[ContextLesson]
    more_lessons: bool
    pending: list[ContextPending]
    more_pending: bool


class DecisionReply(TypedDict):
    """What a decision came to."""

    id: str
    status: Literal["pending", "snoozed", "approved", "applied", "rejected", "acknowledged", "rolled_back", "expired"]
    revision: int
    proposal_digest: str
    audit: str


class DecisionRequest(TypedDict):
    """A decision, with the written reason."""

    because: str
    proposal_digest: NotRequired[str | None]


class DecisionRequestRest(TypedDict):
    """A decision, with the written reason."""

    proposal_digest: NotRequired[str | None]


class DigestFailed(TypedDict):
    """A card of the digest that is not stored, by its place in what the model listed, from 0."""

    place: int
    reason: str


class DigestReply(TypedDict):
    """What is stored, and apart from it what is not. Where ``ok`` is false only ``reason`` is given."""

    ok: bool
    reason: NotRequired[Literal["disabled"] | None]
    saved: NotRequired[list[DigestSaved] | None]
    failed: NotRequired[list[DigestFailed] | None]
    read: NotRequired[int | None]


class DigestRequest(TypedDict):
    """Distil a session that was started."""

    session: str


class DigestSaved(TypedDict):
    """A card of the digest that is stored."""

    lesson: str
    card: str | None
    candidate: bool
    ready: bool
    just_ready: bool


class DistilReply(TypedDict):
    """A distillation. ``reason`` says why nothing was learnt, ``failure`` how the model failed."""

    job: str
    kind: Literal["distil"]
    status: Literal["running", "done", "skipped"]
    recipe: str | None
    reason: str | None
    failure: str | None
    created_at: str
    changed_at: str
    by: str


class DistilRequest(TypedDict):
    """A finished run that may teach a recipe."""

    envelope: dict[str, Any]
    scope: dict[str, Any]
    kind: NotRequired[Literal["answer", "procedure"]]
    wait: NotRequired[bool]
    log_fields: NotRequired[dict[str, str]]


class DistilRequestRest(TypedDict):
    """A finished run that may teach a recipe."""

    kind: NotRequired[Literal["answer", "procedure"]]
    wait: NotRequired[bool]
    log_fields: NotRequired[dict[str, str]]


class EndReply(TypedDict):
    """What was counted. Where ``ok`` is false nothing was, and only ``reason`` is given."""

    ok: bool
    reason: NotRequired[Literal["disabled"] | None]
    suppressed: NotRequired[int | None]
    samples: NotRequired[int | None]
    repeated: NotRequired[bool | None]


class EntityReply(TypedDict):
    """All facts about one subject, latest last; superseded ones are among them."""

    namespace: str
    subject: str
    facts: list[Grain]


class EraseRequest(TypedDict):
    """Erase a whole memory, with the written reason; the reason is erased with it."""

    because: str


class EventAnswer(TypedDict):
    """What became of one event."""

    index: int
    kind: str
    address: NotRequired[str | None]
    status: Literal["stored", "duplicate", "restated", "changed", "revived", "ignored", "counted"]
    differs: NotRequired[bool | None]
    same_as: NotRequired[int | None]
    superseded: NotRequired[str | None]
    unknown: NotRequired[int | None]


class EventsReply(TypedDict):
    """What became of a batch."""

    seq: int | None
    events: list[EventAnswer]
    redacted: dict[str, int]


class EventsRequest(TypedDict):
    """A batch: stored whole or not at all."""

    events: list[Fact | Observation | Skill | Goal | FreeEvent | ToolCall | Supersede | RecallReport | AssemblyReport]


class Evidence(TypedDict):
    """A grain that a recommendation rests on; of a forgotten one only its address is left."""

    address: str
    state: Literal["current", "superseded", "forgotten"]
    kind: NotRequired[str | None]
    namespace: NotRequired[str | None]
    occurred_at: NotRequired[str | None]
    body: NotRequired[dict[str, Any] | None]


class ExportQuery(TypedDict):
    """Where to go on with an export."""

    cursor: NotRequired[str | None]


class Fact(TypedDict):
    """Subject, relation, object, believed true. The same three in one namespace are the same fact."""

    kind: Literal["fact"]
    namespace: NotRequired[str]
    subject: str
    relation: str
    object: str
    confidence: NotRequired[float | None]
    valid_from: NotRequired[str | int | None]
    valid_to: NotRequired[str | int | None]
    occurred_at: NotRequired[str | int | None]
    source: NotRequired[str | None]
    tags: NotRequired[list[str]]


class FactRest(TypedDict):
    """Subject, relation, object, believed true. The same three in one namespace are the same fact."""

    namespace: NotRequired[str]
    confidence: NotRequired[float | None]
    valid_from: NotRequired[str | int | None]
    valid_to: NotRequired[str | int | None]
    occurred_at: NotRequired[str | int | None]
    source: NotRequired[str | None]
    tags: NotRequired[list[str]]


class FeedbackReply(TypedDict):
    """What was taken in; ``counted`` only where the recipe is live and still says what was delivered."""

    recipe: str
    verdict: Literal["held", "regressed"]
    repeated: bool
    counted: bool
    status: Literal["live", "quarantined", "retired"]
    strikes: int


class FeedbackRequest(TypedDict):
    """What became of a delivered hit, within 30 days; a second ``regressed`` quarantines the recipe."""

    hit_token: str
    verdict: Literal["held", "regressed"]
    because: str


class ForgetRequest(TypedDict):
    """One grain by its address, or everything held about a subject of a namespace, in whatever spelling."""

    address: NotRequired[str | None]
    namespace: NotRequired[str | None]
    subject: NotRequired[str | None]
    because: NotRequired[str | None]
    dry_run: NotRequired[bool]


class ForgottenRecipeReply(TypedDict):
    """What was erased; ``ledger`` counts rows that lost their texts and keep what they cost."""

    forgotten: int
    versions: int
    reasons: int
    ledger: int
    distillations: int
    audit: str


class ForgottenReply(TypedDict):
    """What was forgotten; none of it can be brought back."""

    forgotten: int
    addresses: list[str]
    versions: int
    questions: int
    reasons: int
    lessons: list[str]
    recipes: int
    seq: int | None
    audit: str | None
    dry_run: NotRequired[bool | None]


class FreeEvent(TypedDict):
    """Anything else that happened: messages, feedback. With an event_id it is stored once, however often it is
    sent.
    """

    kind: Literal["event"]
    namespace: NotRequired[str]
    body: Any
    event_id: NotRequired[str | None]
    session: NotRequired[str | None]
    occurred_at: NotRequired[str | int | None]
    valid_to: NotRequired[str | int | None]


class Goal(TypedDict):
    """Something to be reached. Stated again with other fields it is the same goal, and keeps its age."""

    kind: Literal["goal"]
    namespace: NotRequired[str]
    name: str
    state: NotRequired[Literal["active", "done", "dropped"] | None]
    progress: NotRequired[float | None]
    description: NotRequired[str | None]
    valid_to: NotRequired[str | int | None]


class Grain(TypedDict):
    """A grain as it stands; the fields of its kind stand beside these, the state of a goal as ``goal_state``."""

    address: str
    kind: str
    namespace: str
    state: Literal["current", "superseded", "forgotten"]
    live: bool
    superseded_by: str | None
    forked_into: list[str]
    head_rev: int
    generation: int
    stated: int
    seq: int
    occurred_at: str | None
    recorded_at: str
    last_stated_at: str
    valid_from: str | None
    valid_to: str | None


class GrainReply(TypedDict):
    """One grain."""

    address: str
    kind: str
    namespace: str
    state: Literal["current", "superseded", "forgotten"]
    live: bool
    superseded_by: str | None
    forked_into: list[str]
    head_rev: int
    generation: int
    stated: int
    seq: int
    occurred_at: str | None
    recorded_at: str
    last_stated_at: str
    valid_from: str | None
    valid_to: str | None


class Grant(TypedDict):
    """Leave to apply the findings of one analyzer without a person."""

    analyzer: str
    targets: list[Literal["memory", "query", "template", "doc", "prompt", "host"]]
    max_severity: Literal["info", "low", "medium", "high"]


class HealthReply(TypedDict):
    """The service answers."""

    status: Literal["ok"]
    version: str


class HistoryQuery(TypedDict):
    """Whose history: that of one grain, or that of one relation of a subject."""

    address: NotRequired[str | None]
    namespace: NotRequired[str | None]
    subject: NotRequired[str | None]
    relation: NotRequired[str | None]


class HistoryReply(TypedDict):
    """Of a grain: its versions, oldest first, and the chain it stands in. Of a relation: every value it ever had."""

    address: NotRequired[str | None]
    versions: NotRequired[list[Version] | None]
    predecessors: NotRequired[list[Grain] | None]
    successors: NotRequired[list[Grain] | None]
    cut: NotRequired[bool | None]
    namespace: NotRequired[str | None]
    subject: NotRequired[str | None]
    relation: NotRequired[str | None]
    values: NotRequired[list[Version] | None]


class Hit(TypedDict):
    """A stored answer that serves. One that the composer chose has only its id, and what the model says of it."""

    kind: Literal["exact", "semantic", "composed"]
    recipe_id: str
    recipe_kind: Literal["answer", "procedure"]
    state_hash: str | None
    response: NotRequired[str | None]
    category: NotRequired[str | None]
    principles: NotRequired[list[str] | None]
    similarity: NotRequired[float | None]
    reasoning: NotRequired[str | None]
    confidence: NotRequired[float | None]
    adaptations: NotRequired[dict[str, str] | None]


class JobReply(TypedDict):
    """How far a job is."""

    job: str
    kind: Literal["forget", "erase"]
    status: Literal["running", "done", "failed"]
    counts: dict[str, int]
    lessons: list[str]
    created_at: str
    changed_at: str
    by: str
    error: str | None


class Late(TypedDict):
    """What came into a window after it was measured, until the next horizon (after the last one for a week). It may
    turn a verdict of held into regressed, once.
    """

    errors: int
    calls: int
    corrected_at: str | None


class LedgerComponent(TypedDict):
    """Sums over the rows of one component."""

    rows: int
    input_tokens: int
    output_tokens: int
    cache_write_tokens: int
    cache_write_1h_tokens: int
    cache_read_tokens: int
    unpriced: int
    cost_usd: float


LedgerQuery = TypedDict(
    "LedgerQuery",
    {
        "from": "NotRequired[str | int]",
        "to": "NotRequired[str | int | None]",
        "cursor": "NotRequired[str | None]",
    },
)


class LedgerReply(TypedDict):
    """A page of the ledger, the oldest first."""

    rows: list[LedgerRowReply]
    cursor: str | None


class LedgerRowReply(TypedDict):
    """One metered call, or one run that was saved or could not be. ``cost_usd`` is None where the price is unknown."""

    id: str
    at: str
    component: str
    kind: str | None
    model: str | None
    input_tokens: int
    output_tokens: int
    cache_write_tokens: int
    cache_read_tokens: int
    cost_usd: float | None
    prices: str | None
    session: str | None
    recipe: str | None
    log_fields: dict[str, str]


LedgerRowsQuery = TypedDict(
    "LedgerRowsQuery",
    {
        "from": "NotRequired[str | int]",
        "to": "NotRequired[str | int | None]",
        "cursor": "NotRequired[str | None]",
        "limit": "NotRequired[int]",
    },
)


LedgerSummaryReply = TypedDict(
    "LedgerSummaryReply",
    {
        "from": str,
        "to": str,
        "components": "dict[str, LedgerComponent]",
        "cost_usd": float,
        "unpriced": int,
        "runs_saved": int,
        "cost_per_run_saved_usd": "float | None",
        "prices": "dict[str, str]",
        "cursor": "str | None",
    },
)


class Lesson(TypedDict):
    """A line of the stream, whole. ``counted`` says what it was."""

    lesson: str
    seq: int
    at: str
    by: str
    project: str
    category: str
    signature: str
    source: str
    detail: str
    counted: Literal["report", "violation", "environment"]
    card: NotRequired[str | None]
    kind: NotRequired[str | None]
    statement: NotRequired[str | None]
    session: NotRequired[str | None]
    evidence: NotRequired[dict[str, Any] | None]


class LessonEvidence(TypedDict):
    """What the guard saw: the concrete things that a folded category leaves out."""

    needs_user_confirmation: NotRequired[bool]
    target: NotRequired[str | None]
    signature: NotRequired[str | None]


class LessonPassReply(TypedDict):
    """What became of a pass. Where ``ok`` is false nothing was saved and only ``reason`` is given."""

    ok: bool
    reason: NotRequired[Literal["disabled", "rules_not_persisted", "error"] | None]
    pass_of: NotRequired[str | None]


class LessonStatsReply(TypedDict):
    """Figures, and the settings in force; None and empty where the settings cannot be read."""

    cards: dict[str, int]
    lessons: dict[str, int]
    settings: dict[str, bool | int | float] | None
    folds: dict[str, str]


class LessonsQuery(TypedDict):
    """Which part of the lesson stream to show; without a project, of the whole library."""

    project: NotRequired[str | None]
    limit: NotRequired[int]
    cursor: NotRequired[str | None]


class LessonsReply(TypedDict):
    """A page of lines, the newest first."""

    lessons: list[Lesson]
    cursor: str | None


class LoopHealthReply(TypedDict):
    """How far the loop of a memory is."""

    stale: bool
    last_run_at: str | None
    new_grains: int
    new_error_events: int
    seq: int
    folded: int
    analyzed: int
    holes: list[int]
    holes_dropped: int
    set_aside: list[int]
    next_due_at: str | None
    namespaces: list[str]
    policy: PolicyStanding
    unhandled_regressions: list[str]
    outside_findings: list[OutsideFindings]


class MatchReply(TypedDict):
    """A hit with its token, or the reason why there is none; ``escalation`` says why the composer said no."""

    hit: Hit | None
    hit_token: NotRequired[str | None]
    reason: NotRequired[
        Literal["disabled", "no_match", "near_miss", "escalated", "semantic_off", "timeout", "error"] | None
    ]
    escalation: NotRequired[str | None]


class MatchRequest(TypedDict):
    """A request, and the scope in which a stored answer may serve it."""

    request: str
    scope: dict[str, Any]
    threshold: NotRequired[float | None]
    session: NotRequired[str | None]
    log_fields: NotRequired[dict[str, str]]


class MatchRequestRest(TypedDict):
    """A request, and the scope in which a stored answer may serve it."""

    threshold: NotRequired[float | None]
    session: NotRequired[str | None]
    log_fields: NotRequired[dict[str, str]]


class MemoriesReply(TypedDict):
    """Memories by name."""

    memories: list[MemoryReply]


class MemoryReply(TypedDict):
    """A memory."""

    name: str
    created_at: str
    created_by: str


class MemoryRequest(TypedDict):
    """Makes a memory; there is nothing to say but its name, which is in the path."""


Merged = TypedDict(
    "Merged",
    {
        "from": str,
        "into": str,
    },
)


class Metric(TypedDict):
    """What is measured again after an apply. The baseline of a tool is that of the 30 days before the apply, once
    the first horizon is measured; until then it is what the finding rested on.
    """

    name: str
    baseline_errors: int
    baseline_calls: int
    window_days: int


class MigrateReply(TypedDict):
    """Merged cards; ``left`` are those that others kept moving, ``more`` says that asking again goes on."""

    merged: list[Merged]
    left: list[str]
    more: bool


class MigrateRequest(TypedDict):
    """Merge cards that fold to one key, with the written reason."""

    because: str


class MintedReply(TypedDict):
    """A new token; the secret is shown this once."""

    id: str
    label: str
    kind: Literal["human", "agent", "service"]
    memories: str
    scopes: list[str]
    minted_by: str | None
    lineage: list[str]
    created_at: str
    expires_at: str | None
    revoked_at: str | None
    revoked_by: str | None
    secret: str | None


class ModelsAsked(TypedDict):
    """What models were asked in a pass, and what came of it."""

    model: str
    calls: int
    left_out: int
    drafts: int
    grounded: int
    kept: int
    stopped: str | None
    cost_nano_usd: int


class NewFact(TypedDict):
    """A fact that an ADD makes."""

    namespace: str
    subject: str
    relation: str
    object: str
    confidence: float


class Observation(TypedDict):
    """Something noted."""

    kind: Literal["observation"]
    namespace: NotRequired[str]
    text: str
    valid_to: NotRequired[str | int | None]
    session: NotRequired[str | None]
    source: NotRequired[str | None]
    occurred_at: NotRequired[str | int | None]


class ObservationRest(TypedDict):
    """Something noted."""

    namespace: NotRequired[str]
    valid_to: NotRequired[str | int | None]
    session: NotRequired[str | None]
    source: NotRequired[str | None]
    occurred_at: NotRequired[str | int | None]


class OfferRequest(TypedDict):
    """Offer an applied lesson as a candidate card of a project."""

    project: str
    because: str
    statement: NotRequired[str | None]


class OfferRequestRest(TypedDict):
    """Offer an applied lesson as a candidate card of a project."""

    statement: NotRequired[str | None]


class Operation(TypedDict):
    """One step of a proposal."""

    op: Literal["ADD", "SUPERSEDE", "POINT", "FORGET", "MERGE"]
    target: str | None
    into: str | None
    fact: NewFact | None
    expects: dict[str, int]


class Outcome(TypedDict):
    """An applied recommendation and its checkpoints, shortest horizon first."""

    id: str
    analyzer: str
    status: Literal["pending", "snoozed", "approved", "applied", "rejected", "acknowledged", "rolled_back", "expired"]
    namespace: str
    target: str
    applied_at: str | None
    metric: Metric | None
    verdict: Literal["held", "regressed", "inconclusive"] | None
    series: list[Checkpoint]


class OutcomesReply(TypedDict):
    """What became of applied changes and of rules, the latest first."""

    recommendations: list[Outcome]
    recipes: list[RecipeOutcomes]
    cut: bool
    analyzers: list[AnalyzerOutcomes]
    rules: list[RuleOutcome]
    rules_cut: bool


class OutsideFindings(TypedDict):
    """What people made of findings of a model or of an external analyzer; a rate is told of at least ten decisions."""

    analyzer: str
    proposed: int
    approved: int
    acknowledged: int
    rejected: int
    approval_rate: float | None


class PassReply(TypedDict):
    """The outcome of a pass; a skip is success."""

    run: str
    outcome: Literal["ran", "skipped"]
    skip_reason: Literal["gate", "busy", "disabled"] | None
    more: bool
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
    watermark: int
    external: NotRequired[list[AnalyzerAsked] | None]
    model: NotRequired[ModelsAsked | None]
    usage: Usage


class PassRequest(TypedDict):
    """The scenario of a rule fired and was followed."""

    session: str
    project: str
    category: str
    signature: str


class Policy(TypedDict):
    """The policy in force."""

    auto_apply_enabled: bool
    auto_apply: list[Grant]
    deny: list[str]
    severity_floors: dict[str, Literal["info", "low", "medium", "high"]]
    telemetry: Literal["off", "aggregate", "full"]
    review: Review
    analyzers: list[RegisteredAnalyzer]
    pseudonymize: Pseudonymize


class PolicyFault(TypedDict):
    """Why the host policy does not hold. ``field`` is empty for the whole of it."""

    field: str
    code: str
    detail: str


class PolicyReply(TypedDict):
    """The host policy in force; it is set outside of the service, and read here."""

    state: Literal["none", "in_force", "refused", "unreadable"]
    faults: list[PolicyFault]
    digest: str
    policy: Policy


class PolicyStanding(TypedDict):
    """How the policy in force came about: refused or not there, it is the closed one."""

    state: Literal["none", "in_force", "refused", "unreadable"]
    faults: list[PolicyFault]


class Proposal(TypedDict):
    """What applying would do."""

    operations: list[Operation]
    advice: dict[str, Any] | None
    revert_of: str | None


class Pseudonymize(TypedDict):
    """Whether models see placeholders for people, and how many names are listed beside those that are found."""

    enabled: bool
    names: int


class QueueQuery(TypedDict):
    """Which part of the queue to show."""

    status: NotRequired[str]
    severity: NotRequired[Literal["info", "low", "medium", "high"] | None]
    analyzer: NotRequired[str | None]
    limit: NotRequired[int]
    cursor: NotRequired[str | None]


class QueueReply(TypedDict):
    """A page of the queue."""

    recommendations: list[QueueRow]
    cursor: str | None


class QueueRow(TypedDict):
    """A recommendation as the queue shows it."""

    id: str
    analyzer: str
    origin: str
    namespace: str
    target: str
    severity: Literal["info", "low", "medium", "high"]
    status: Literal["pending", "snoozed", "approved", "applied", "rejected", "acknowledged", "rolled_back", "expired"]
    summary: str
    details: dict[str, Any]
    count: int
    confidence: float
    revision: int
    proposal_digest: str
    destructive: bool
    rollbackable: bool
    created_at: str
    updated_at: str
    expires_at: str


class RecallQuery(TypedDict):
    """What to recall: a subject, a relation, a question, or several of them."""

    namespace: NotRequired[str]
    subject: NotRequired[str | None]
    relation: NotRequired[str | None]
    question: NotRequired[str | None]
    as_of: NotRequired[str | int | None]
    limit: NotRequired[int]
    run_id: NotRequired[str | None]


class RecallReply(TypedDict):
    """What answers, best first; without a question, the latest first."""

    namespace: str
    as_of: str | None
    results: list[RecalledGrain]


class RecallReport(TypedDict):
    """What a retriever of the agent's own recalled. Nothing returned means that nothing was found."""

    kind: Literal["recall_report"]
    namespace: NotRequired[str]
    question: NotRequired[str | None]
    subject: NotRequired[str | None]
    relation: NotRequired[str | None]
    returned: list[str]
    run_id: NotRequired[str | None]


class RecalledGrain(TypedDict):
    """A grain that answers; for a question with a score, higher is better."""

    address: str
    kind: str
    namespace: str
    state: Literal["current", "superseded", "forgotten"]
    live: bool
    superseded_by: str | None
    forked_into: list[str]
    head_rev: int
    generation: int
    stated: int
    seq: int
    occurred_at: str | None
    recorded_at: str
    last_stated_at: str
    valid_from: str | None
    valid_to: str | None
    score: float | None


class RecalledOften(TypedDict):
    """A grain and how often it was read in the window."""

    reads: int
    grain: Grain


class Recipe(TypedDict):
    """A recipe; hidden characters of its texts are shown as escapes."""

    hits: int
    held: int
    regressed: int
    verdict: Literal["held", "regressed", "inconclusive"]
    id: str
    status: Literal["live", "quarantined", "retired"]
    kind: Literal["answer", "procedure"]
    scope: dict[str, str | None]
    request: str
    response: str
    category: str
    principles: list[str]
    confidence: float | None
    provenance: dict[str, str | None]
    revision: int
    reinforced: int
    strikes: int
    served: bool
    valid_to: str | None
    created_at: str
    changed_at: str


class RecipeDecisionReply(TypedDict):
    """What a decision came to."""

    id: str
    action: Literal["restore", "retire"]
    status: Literal["live", "quarantined", "retired"]


class RecipeDecisionRequest(TypedDict):
    """A person's decision about a recipe, with the written reason."""

    because: str


class RecipeOutcomes(TypedDict):
    """What became of the hits of what a recipe says now."""

    id: str
    kind: Literal["answer", "procedure"]
    status: Literal["live", "quarantined", "retired"]
    revision: int
    hits: int
    held: int
    regressed: int
    verdict: Literal["held", "regressed", "inconclusive"]


class RecipeReply(TypedDict):
    """A recipe with its versions, its audit trail and what a person may do with it."""

    hits: int
    held: int
    regressed: int
    verdict: Literal["held", "regressed", "inconclusive"]
    id: str
    status: Literal["live", "quarantined", "retired"]
    kind: Literal["answer", "procedure"]
    scope: dict[str, str | None]
    request: str
    response: str
    category: str
    principles: list[str]
    confidence: float | None
    provenance: dict[str, str | None]
    revision: int
    reinforced: int
    strikes: int
    served: bool
    valid_to: str | None
    created_at: str
    changed_at: str
    versions: list[RecipeVersion]
    audit: list[dict[str, Any]]
    verified: bool
    next: list[Literal["restore", "retire"]]


class RecipeVersion(TypedDict):
    """What a recipe said before."""

    revision: int
    response: str


class RecipesHealthReply(TypedDict):
    """How the ladder stands: settings in force, the band of the embedder, which rungs work, and what is wrong."""

    settings: dict[str, bool | int | float | str] | None
    band: dict[str, float] | None
    embedder: dict[str, str | int] | None
    semantic: bool
    composer: bool
    faults: list[str]


class RecipesQuery(TypedDict):
    """Which recipes to list; those that are quarantined wait for a person."""

    status: NotRequired[str]
    limit: NotRequired[int]
    cursor: NotRequired[str | None]


class RecipesReply(TypedDict):
    """A page of recipes by id; it may be short and go on."""

    recipes: list[Recipe]
    cursor: str | None


class RecommendationReply(TypedDict):
    """A recommendation, whole."""

    id: str
    analyzer: str
    origin: str
    namespace: str
    target: str
    severity: Literal["info", "low", "medium", "high"]
    status: Literal["pending", "snoozed", "approved", "applied", "rejected", "acknowledged", "rolled_back", "expired"]
    summary: str
    details: dict[str, Any]
    count: int
    confidence: float
    revision: int
    proposal_digest: str
    destructive: bool
    rollbackable: bool
    created_at: str
    updated_at: str
    expires_at: str
    family: str
    occurrence: int
    parameters: dict[str, Any]
    count_at_revision: int
    applied_at: str | None
    snoozed_until: str | None
    earlier: str | None
    reason: str | None
    guidance: str | None
    held_back: str | None
    reviews: int
    proposal: Proposal
    evidence: list[Evidence]
    metric: Metric | None
    checkpoints: list[Checkpoint]
    audit: list[dict[str, Any]]
    verified: bool
    next: list[
        Literal["pending", "snoozed", "approved", "applied", "rejected", "acknowledged", "rolled_back", "expired"]
    ]


class Refusal(TypedDict):
    """Why one decision of several was refused, as its problem details would say."""

    code: str
    detail: str
    field: str | None


class RegisteredAnalyzer(TypedDict):
    """An external analyzer. ``endpoint`` is shown without what may be secret: the query of an address."""

    id: str
    endpoint: str
    needs: list[str]
    timeout_ms: int
    max_bytes: int


class RejectedReply(TypedDict):
    """A rejection or an acknowledgement: the finding stays quiet until then."""

    id: str
    status: Literal["pending", "snoozed", "approved", "applied", "rejected", "acknowledged", "rolled_back", "expired"]
    revision: int
    proposal_digest: str
    audit: str
    cooldown_until: str


class ReplayQuery(TypedDict):
    """How many lines of the stream to look at, and where to go on."""

    limit: NotRequired[int]
    cursor: NotRequired[str | None]


class ReplayReply(TypedDict):
    """What a card would have met, the newest first."""

    card: str
    looked_at: int
    lessons: list[ReplayedLesson]
    passes: list[ReplayedPass]
    more_passes: bool
    cursor: str | None


class ReplayedLesson(TypedDict):
    """A line that the key of a card matches as lines fold now."""

    lesson: str
    seq: int
    at: str
    source: str
    session: str | None
    detail: str
    would_count: Literal["violation", "report", "environment"]


class ReplayedPass(TypedDict):
    """A session in which the card was followed, whether it was in force or not."""

    at: str


class ReportReply(TypedDict):
    """What became of a report. Where ``ok`` is false nothing was saved and only ``reason`` is given."""

    ok: bool
    reason: NotRequired[Literal["disabled", "rules_not_persisted", "error"] | None]
    lesson: NotRequired[str | None]
    seq: NotRequired[int | None]
    source: NotRequired[str | None]
    card: NotRequired[str | None]
    violation_of: NotRequired[str | None]
    candidate: NotRequired[bool | None]
    ready: NotRequired[bool | None]
    just_ready: NotRequired[bool | None]


class ReportRequest(TypedDict):
    """One line: what went wrong, where. Equal project, category and signature are one card."""

    project: str
    category: str
    signature: str
    detail: str
    source: NotRequired[str]
    statement: NotRequired[str | None]
    session: NotRequired[str | None]
    evidence: NotRequired[LessonEvidence]
    kind: NotRequired[Literal["gate_not_run"] | None]


class ReportRequestRest(TypedDict):
    """One line: what went wrong, where. Equal project, category and signature are one card."""

    source: NotRequired[str]
    statement: NotRequired[str | None]
    session: NotRequired[str | None]
    evidence: NotRequired[LessonEvidence]
    kind: NotRequired[Literal["gate_not_run"] | None]


class Review(TypedDict):
    """When a proposal starts the approval workflow."""

    start_workflow_at: Literal["info", "low", "medium", "high"] | None


class ReviewReply(TypedDict):
    """A review that is under way."""

    id: str
    status: Literal["pending", "snoozed", "approved", "applied", "rejected", "acknowledged", "rolled_back", "expired"]
    execution: str
    started: bool


class ReviewedOne(TypedDict):
    """What became of one listed recommendation. ``id`` is as it was given."""

    id: str
    decision: RejectedReply | DecisionReply | None
    error: Refusal | None


class RevokedReply(TypedDict):
    """A revoked token."""

    id: str
    label: str
    kind: Literal["human", "agent", "service"]
    memories: str
    scopes: list[str]
    minted_by: str | None
    lineage: list[str]
    created_at: str
    expires_at: str | None
    revoked_at: str | None
    revoked_by: str | None
    descendants: list[str]


class RollbackRequest(TypedDict):
    """Undo an applied change."""

    because: str


class RolledBackReply(TypedDict):
    """A rollback: addresses of grains that were removed, restored, or needed nothing."""

    id: str
    status: Literal["pending", "snoozed", "approved", "applied", "rejected", "acknowledged", "rolled_back", "expired"]
    revision: int
    proposal_digest: str
    audit: str
    seq: int
    removed: list[str]
    restored: list[str]
    already_undone: list[str]


class RuleOutcome(TypedDict):
    """What was reported of a rule's mistake before it was armed last, and what its sessions counted since."""

    id: str
    project: str
    status: str
    armed_at: str | None
    reports_before: int
    days_before: float
    violations: int
    suppressed: int
    samples: int
    exposure: int
    days_since: float
    verdict: Literal["held", "regressed", "inconclusive"]
    reduced: bool


class RunRequest(TypedDict):
    """Options of a pass. Gates are OR-ed; without any the pass always runs."""

    min_new: NotRequired[int | None]
    min_new_errors: NotRequired[int | None]
    if_stale: NotRequired[str | None]
    full_sweep: NotRequired[bool]


class SinceArmed(TypedDict):
    """What is held against a rule; the ratio is None where it never fired."""

    violations: int
    suppressed: int
    samples: int
    ratio: float | None


class Skill(TypedDict):
    """How well something is mastered. A further revision supersedes the one before."""

    kind: Literal["skill"]
    namespace: NotRequired[str]
    name: str
    revision: NotRequired[int]
    proficiency: NotRequired[float | None]
    practice_count: NotRequired[int | None]
    valid_to: NotRequired[str | int | None]


class Skip(TypedDict):
    """An analyzer that did not finish, and why."""

    id: str
    reason: str


class SnoozeRequest(TypedDict):
    """Put off until an instant, at most 90 days from now."""

    because: str
    proposal_digest: NotRequired[str | None]
    until: str | int


class SnoozeRequestRest(TypedDict):
    """Put off until an instant, at most 90 days from now."""

    proposal_digest: NotRequired[str | None]


class SnoozedReply(TypedDict):
    """A finding that was put off until then."""

    id: str
    status: Literal["pending", "snoozed", "approved", "applied", "rejected", "acknowledged", "rolled_back", "expired"]
    revision: int
    proposal_digest: str
    audit: str
    snoozed_until: str


class StartReply(TypedDict):
    """What is put before an agent; a text is None where there is nothing to show."""

    section: str | None
    block: str | None
    rules: list[str]
    left_out: int
    resumed: bool


class StartRequest(TypedDict):
    """A session that starts, or goes on."""

    project: str
    parent: NotRequired[str | None]


class StartRequestRest(TypedDict):
    """A session that starts, or goes on."""

    parent: NotRequired[str | None]


Supersede = TypedDict(
    "Supersede",
    {
        "kind": 'Literal["supersede"]',
        "target": str,
        "with": "Fact | Observation | Skill | Goal | FreeEvent",
        "if_head": "NotRequired[int | None]",
        "allow_fork": "NotRequired[bool]",
    },
)


class TelemetryReply(TypedDict):
    """How memory was used in the last 30 UTC days, as far as passes have counted it."""

    mode: Literal["off", "aggregate", "full"]
    first_day: str
    last_day: str
    most_recalled: list[RecalledOften]
    questions: list[AskedOften]
    assemblies: Assemblies


class TokenReply(TypedDict):
    """A token, without its secret."""

    id: str
    label: str
    kind: Literal["human", "agent", "service"]
    memories: str
    scopes: list[str]
    minted_by: str | None
    lineage: list[str]
    created_at: str
    expires_at: str | None
    revoked_at: str | None
    revoked_by: str | None


class TokenRequest(TypedDict):
    """What a new token should be. Its tenant is its minter's."""

    label: str
    kind: Literal["human", "agent", "service"]
    memories: str
    scopes: list[Literal["read", "write", "review", "apply", "admin"]]
    expires_at: NotRequired[str | int | None]


class TokenRequestRest(TypedDict):
    """What a new token should be. Its tenant is its minter's."""

    expires_at: NotRequired[str | int | None]


class TokensQuery(TypedDict):
    """Which part of the tokens to show."""

    limit: NotRequired[int]
    cursor: NotRequired[str | None]


class TokensReply(TypedDict):
    """One page of tokens by id; the cursor is null on the last one."""

    tokens: list[TokenReply]
    cursor: str | None


class ToolCall(TypedDict):
    """One invocation of a tool. With a call_id it is stored once, however often it is sent."""

    kind: Literal["tool_call"]
    namespace: NotRequired[str]
    tool: str
    is_error: bool
    result: NotRequired[Any]
    input: NotRequired[Any]
    call_id: NotRequired[str | None]
    session: NotRequired[str | None]
    occurred_at: NotRequired[str | int | None]
    valid_to: NotRequired[str | int | None]
    signature: NotRequired[str | None]


class ToolCallRest(TypedDict):
    """One invocation of a tool. With a call_id it is stored once, however often it is sent."""

    namespace: NotRequired[str]
    result: NotRequired[Any]
    input: NotRequired[Any]
    call_id: NotRequired[str | None]
    session: NotRequired[str | None]
    occurred_at: NotRequired[str | int | None]
    valid_to: NotRequired[str | int | None]
    signature: NotRequired[str | None]


class Usage(TypedDict):
    """Capacity units used."""

    reads: float
    writes: float


Version = TypedDict(
    "Version",
    {
        "address": str,
        "kind": str,
        "namespace": str,
        "state": 'Literal["current", "superseded", "forgotten"]',
        "live": bool,
        "superseded_by": "str | None",
        "forked_into": "list[str]",
        "head_rev": int,
        "generation": int,
        "stated": int,
        "seq": int,
        "occurred_at": "str | None",
        "recorded_at": str,
        "last_stated_at": str,
        "valid_from": "str | None",
        "valid_to": "str | None",
        "from": str,
        "to": "str | None",
    },
)


Event = Fact | Observation | Skill | Goal | FreeEvent | ToolCall | Supersede | RecallReport | AssemblyReport

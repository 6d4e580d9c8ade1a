"""The operation table: every operation there is, once.

HTTP routes are registered from it, the OpenAPI document is made of it, and other surfaces are generated from it or
checked against it. It is data: it calls nothing, and holds no AWS and no use case.

Long on purpose: one row for each operation, and whoever looks for one, or for all of a scope, looks in one place.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from provenloop.domain.principal import Scope
from provenloop.entry.models.access import MemoryRequest, TokenRequest
from provenloop.entry.models.events import EventsRequest
from provenloop.entry.models.fields import WireModel
from provenloop.entry.models.forget import EraseRequest, ForgetRequest
from provenloop.entry.models.lessons import (
    CardActionRequest,
    CardsQuery,
    ContextQuery,
    DigestRequest,
    LessonsQuery,
    MigrateRequest,
    OfferRequest,
    PassRequest,
    ReplayQuery,
    ReportRequest,
    StartRequest,
)
from provenloop.entry.models.loop import (
    ApplyRequest,
    ApproveRequest,
    BatchReviewRequest,
    ConfigRequest,
    DecisionRequest,
    RollbackRequest,
    RunRequest,
    SnoozeRequest,
)
from provenloop.entry.models.paths import (
    AuditExportQuery,
    AuditQuery,
    ExportQuery,
    HistoryQuery,
    QueueQuery,
    RecallQuery,
    TokensQuery,
)
from provenloop.entry.models.recipes import (
    CommitRequest,
    DistilRequest,
    FeedbackRequest,
    LedgerQuery,
    LedgerRowsQuery,
    MatchRequest,
    RecipeDecisionRequest,
    RecipesQuery,
)

FunctionName = Literal["ingest", "loop_api", "analyze", "apply", "dispatch", "jobs", "approval", "lessons", "recipes"]
Method = Literal["GET", "POST", "PUT", "DELETE"]

#: Scopes whose operations read the credential afresh.
FRESH_SCOPES: frozenset[Scope] = frozenset({"review", "apply", "admin"})

MEMORY = "/v1/memories/{memory}"
CARDS = f"{MEMORY}/cards"
RECIPES = f"{MEMORY}/recipes"
SESSION = f"{MEMORY}/sessions/{{id}}"
RECOMMENDATION = f"{MEMORY}/loop/recommendations/{{id}}"


#: Why some operations are no tool of MCP.
_ADMINISTRATION = "administration is no work of an agent's model"
_FOR_PEOPLE = "people decide this, at a surface of their own"
_ONE_BY_ONE = "a tool decides one recommendation a call, each with its own reason"
_IN_STEPS = "recommendations approves and applies in two calls, each with its own reason"
_OF_HTTP = "it tells of the HTTP surface itself; server/discover and tools/list tell of this one"
_TOLD_BY_RUN = "loop_run tells the outcome itself"
_RECALLED = "recall and recommendations show what an agent needs of it"
_OF_GUARDS = "guards and hooks around the agent do this, not its model"
_OF_RUNS = "whoever runs the agent does this when a run is over, not its model"
_LOOKED_AT = "people and programs look at this; it would only fill the context of a model"

#: Why some operations are no method of the client.
_TOOLS_READ_IT = "whoever makes another client reads it; the forms of this one are made of the same models"

#: Why some operations are no command.
_FOR_GOOD = "what is gone for good is asked for in full, over HTTP or by the client, where a dry run comes first"
_READ_BY_TOOLS = "programs read it, and curl fetches it"
_ONE_MEMORY = "a command works in one memory, which is named"
_SHOWN = "show tells the evidence, and grains are looked up by agents and programs"
_OF_AGENTS = "agents and what stands around them do this by themselves, over HTTP, MCP or the client"
_DECIDED_HERE = "whoever is at the terminal decides at once"
_ONE_AT_A_TIME = "a command decides one recommendation, with its own reason"
_RUN_TELLS = "run tells the outcome itself"
_CONSOLE = "the console shows it in context"
_CARDS = "people decide this where the evidence and the replay stand beside it: the console"
_BY_PROGRAMS = "an export is long and goes in pages: programs ask for it, the client page after page"


class Tool(NamedTuple):
    """The tool of MCP that is this operation, or is it by one of its actions."""

    name: str
    action: str | None = None


class NoTool(NamedTuple):
    """No tool of MCP, and why."""

    because: str


class NoMethod(NamedTuple):
    """No method of the Python client, and why."""

    because: str


class NoCommand(NamedTuple):
    """No command of the command line, and why."""

    because: str


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation.

    Attributes:
        name: its handler, and its operationId.
        function: the folder of the function that serves it.
        path: as the gateway spells it; a subject may hold slashes, so it takes the rest of the path.
        scopes: all of them are needed; none means that nobody is asked who they are.
        body: model of the request body; None where there is none.
        body_optional: no body at all stands for an empty object.
        query: model of the query; None where no query is taken.
        reply: name of the model in one of the modules ``models.*replies``; not the class, since only the OpenAPI
            document needs it.
        media_type: of a successful answer.
        statuses: HTTP statuses of success.
        takes_model_key: whether a caller may bring a key of its own to ask models with.
        accepted: name of the model of an answer with status 202; None where it is that of every other.
        mcp: the tool of MCP that it is, or why it is none.
        client: the method of the Python client that it is, or why it is none.
        cli: the commands that it is, or is part of, with commas between; or why it is none.
    """

    name: str
    function: FunctionName
    method: Method
    path: str
    scopes: tuple[Scope, ...]
    summary: str
    reply: str | None
    body: type[WireModel] | None = None
    body_optional: bool = False
    query: type[WireModel] | None = None
    media_type: str = "application/json"
    statuses: tuple[int, ...] = (200,)
    accepted: str | None = None
    takes_model_key: bool = False
    mcp: Tool | NoTool = field(kw_only=True)
    client: str | NoMethod = field(kw_only=True)
    cli: str | NoCommand = field(kw_only=True)

    @property
    def route_key(self) -> str:
        """How the gateway names it."""
        return f"{self.method} {self.path}"

    @property
    def is_fresh(self) -> bool:
        """Whether the credential must be read afresh."""
        return not FRESH_SCOPES.isdisjoint(self.scopes)

    @property
    def names_memory(self) -> bool:
        """Whether it is about one memory."""
        return self.path.startswith(MEMORY)


OPERATIONS: tuple[Operation, ...] = (
    Operation(
        "record_events", "ingest", "POST", f"{MEMORY}/events", ("write",),
        "Record a batch of events: facts, tool calls, observations, skills, goals, events, supersedes, reports.",
        "EventsReply", EventsRequest,
        mcp=Tool("record"),
        client="record_events",
        cli="import, init, hook after-tool",
    ),
    Operation(
        "run_pass", "analyze", "POST", f"{MEMORY}/loop/run", ("write",),
        "Run one analyzer pass over the memory, if a gate opens.", "PassReply", RunRequest, body_optional=True,
        statuses=(200, 202),
        mcp=Tool("loop_run"),
        client="loop_run",
        cli="run, init, hook session-end",
    ),
    Operation(
        "apply", "apply", "POST", f"{RECOMMENDATION}/apply", ("apply",),
        "Apply an approved recommendation.", "AppliedReply", ApplyRequest,
        mcp=Tool("recommendations", "apply"),
        client="apply",
        cli="apply",
    ),
    Operation(
        "roll_back", "apply", "POST", f"{RECOMMENDATION}/rollback", ("apply",),
        "Undo an applied recommendation exactly.", "RolledBackReply", RollbackRequest,
        mcp=Tool("recommendations", "rollback"),
        client="rollback",
        cli="rollback",
    ),
    Operation(
        "approve_and_apply", "apply", "POST", f"{RECOMMENDATION}/approve-and-apply", ("review", "apply"),
        "Approve and apply at once: both, or neither.", "AppliedReply", ApplyRequest,
        mcp=NoTool(_IN_STEPS),
        client="approve_and_apply",
        cli="apply",
    ),
    Operation(
        "forget", "apply", "POST", f"{MEMORY}/forget", ("admin",),
        "Forget a grain, or everything held about a subject, for good.", "ForgottenReply", ForgetRequest,
        statuses=(200, 202), accepted="JobReply",
        mcp=NoTool(_ADMINISTRATION),
        client="forget",
        cli=NoCommand(_FOR_GOOD),
    ),
    Operation(
        "health", "loop_api", "GET", "/health", (), "Whether the service answers.", "HealthReply",
        mcp=NoTool(_OF_HTTP),
        client="health",
        cli="health",
    ),
    Operation(
        "openapi", "loop_api", "GET", "/openapi.json", (), "This document.", None,
        mcp=NoTool(_OF_HTTP),
        client=NoMethod(_TOOLS_READ_IT),
        cli=NoCommand(_READ_BY_TOOLS),
    ),
    Operation(
        "create_memory", "loop_api", "PUT", MEMORY, ("admin",),
        "Make a memory; making it again changes nothing.", "MemoryReply", MemoryRequest,
        body_optional=True, statuses=(201, 200),
        mcp=NoTool(_ADMINISTRATION),
        client="create_memory",
        cli="init",
    ),
    Operation(
        "list_memories", "loop_api", "GET", "/v1/memories", ("admin",), "List memories.", "MemoriesReply",
        mcp=NoTool(_ADMINISTRATION),
        client="memories",
        cli=NoCommand(_ONE_MEMORY),
    ),
    Operation(
        "mint_token", "loop_api", "POST", "/v1/tokens", ("admin",),
        "Mint a token; its secret is shown once.", "MintedReply", TokenRequest, statuses=(201, 200),
        mcp=NoTool(_ADMINISTRATION),
        client="mint_token",
        cli="token create",
    ),
    Operation(
        "list_tokens", "loop_api", "GET", "/v1/tokens", ("admin",),
        "List tokens with what they may do and who minted them.", "TokensReply", query=TokensQuery,
        mcp=NoTool(_ADMINISTRATION),
        client="tokens",
        cli="token list",
    ),
    Operation(
        "revoke_token", "loop_api", "DELETE", "/v1/tokens/{id}", ("admin",),
        "Revoke a token and all that was minted under it.", "RevokedReply",
        mcp=NoTool(_ADMINISTRATION),
        client="revoke_token",
        cli="token revoke",
    ),
    Operation(
        "show_grain", "loop_api", "GET", f"{MEMORY}/grains/{{address}}", ("read",),
        "Show a grain.", "GrainReply",
        mcp=NoTool(_RECALLED),
        client="grain",
        cli=NoCommand(_SHOWN),
    ),
    Operation(
        "show_entity", "loop_api", "GET", f"{MEMORY}/entities/{{namespace}}/{{subject+}}", ("read",),
        "Show what is held about a subject.", "EntityReply",
        mcp=NoTool(_RECALLED),
        client="entity",
        cli=NoCommand(_SHOWN),
    ),
    Operation(
        "recall", "loop_api", "GET", f"{MEMORY}/recall", ("read",),
        "Recall what is held about a subject, a relation or a question.", "RecallReply", query=RecallQuery,
        mcp=Tool("recall"),
        client="recall",
        cli=NoCommand(_OF_AGENTS),
    ),
    Operation(
        "show_history", "loop_api", "GET", f"{MEMORY}/history", ("read",),
        "Show the versions of a grain, or every value of a relation.", "HistoryReply", query=HistoryQuery,
        mcp=NoTool(_RECALLED),
        client="history",
        cli=NoCommand(_SHOWN),
    ),
    Operation(
        "list_recommendations", "loop_api", "GET", f"{MEMORY}/loop/recommendations", ("read",),
        "List recommendations in review order.", "QueueReply", query=QueueQuery,
        mcp=Tool("recommendations", "list"),
        client="recommendations",
        cli="list",
    ),
    Operation(
        "show_recommendation", "loop_api", "GET", RECOMMENDATION, ("read",),
        "Show a recommendation: proposal, evidence, metric, audit.", "RecommendationReply",
        mcp=Tool("recommendations", "show"),
        client="recommendation",
        cli="show",
    ),
    Operation(
        "approve", "loop_api", "POST", f"{RECOMMENDATION}/approve", ("review",),
        "Approve a recommendation as it was seen.", "DecisionReply", ApproveRequest,
        mcp=Tool("recommendations", "approve"),
        client="approve",
        cli="approve",
    ),
    Operation(
        "reject", "loop_api", "POST", f"{RECOMMENDATION}/reject", ("review",),
        "Reject a recommendation, or withdraw an approved one; its finding stays quiet for a while.", "RejectedReply",
        DecisionRequest,
        mcp=Tool("recommendations", "reject"),
        client="reject",
        cli="reject",
    ),
    Operation(
        "request_review", "loop_api", "POST", f"{RECOMMENDATION}/request-review", ("review",),
        "Have a pending recommendation reviewed: reviewers are told of it, and reminded.", "ReviewReply",
        mcp=NoTool(_FOR_PEOPLE),
        client="request_review",
        cli=NoCommand(_DECIDED_HERE),
    ),
    Operation(
        "acknowledge", "loop_api", "POST", f"{RECOMMENDATION}/acknowledge", ("review",),
        "Close advice that was followed; its finding stays quiet for 30 days.", "RejectedReply", DecisionRequest,
        mcp=Tool("recommendations", "acknowledge"),
        client="acknowledge",
        cli="acknowledge",
    ),
    Operation(
        "snooze", "loop_api", "POST", f"{RECOMMENDATION}/snooze", ("review",),
        "Put a recommendation off, for at most 90 days.", "SnoozedReply", SnoozeRequest,
        mcp=Tool("recommendations", "snooze"),
        client="snooze",
        cli="snooze",
    ),
    Operation(
        "wake", "loop_api", "POST", f"{RECOMMENDATION}/wake", ("review",),
        "Let a snoozed recommendation wait again before its time.", "DecisionReply", DecisionRequest,
        mcp=NoTool(_FOR_PEOPLE),
        client="wake",
        cli="wake",
    ),
    Operation(
        "batch_review", "loop_api", "POST", f"{MEMORY}/loop/recommendations/batch-review", ("review",),
        "Decide the same about each of up to 50 listed recommendations.", "BatchReviewReply", BatchReviewRequest,
        mcp=NoTool(_ONE_BY_ONE),
        client="batch_review",
        cli=NoCommand(_ONE_AT_A_TIME),
    ),
    Operation(
        "show_run", "loop_api", "GET", f"{MEMORY}/loop/runs/{{run}}", ("read",),
        "Show the outcome of a pass.", "PassReply",
        mcp=NoTool(_TOLD_BY_RUN),
        client="show_run",
        cli=NoCommand(_RUN_TELLS),
    ),
    Operation(
        "loop_health", "loop_api", "GET", f"{MEMORY}/loop/health", ("read",),
        "Show how far the loop of this memory is.", "LoopHealthReply",
        mcp=NoTool(_LOOKED_AT),
        client="loop_health",
        cli="health",
    ),
    Operation(
        "show_outcomes", "loop_api", "GET", f"{MEMORY}/loop/outcomes", ("read",),
        "Show what became of applied changes, and how each analyzer fared.", "OutcomesReply",
        mcp=NoTool(_LOOKED_AT),
        client="outcomes",
        cli="outcomes",
    ),
    Operation(
        "show_telemetry", "loop_api", "GET", f"{MEMORY}/loop/telemetry", ("read",),
        "Show what is recalled most, what is asked, and what finds nothing.", "TelemetryReply",
        mcp=NoTool(_LOOKED_AT),
        client="telemetry",
        cli=NoCommand(_CONSOLE),
    ),
    Operation(
        "list_analyzers", "loop_api", "GET", f"{MEMORY}/loop/analyzers", ("read",),
        "List analyzers with their parameters.", "AnalyzersReply",
        mcp=NoTool(_LOOKED_AT),
        client="analyzers",
        cli="analyzers, retention list",
    ),
    Operation(
        "show_policy", "loop_api", "GET", f"{MEMORY}/loop/policy", ("read",),
        "Show the host policy in force, and what is wrong with it.", "PolicyReply",
        mcp=NoTool(_LOOKED_AT),
        client="policy",
        cli="policy",
    ),
    Operation(
        "configure", "loop_api", "POST", f"{MEMORY}/loop/config", ("admin",),
        "Switch analyzers, set parameters, raise floors, restrict namespaces; set up lessons.", "ConfigReply",
        ConfigRequest,
        mcp=NoTool(_ADMINISTRATION),
        client="configure",
        cli="retention set, retention clear",
    ),
    Operation(
        "show_job", "jobs", "GET", f"{MEMORY}/jobs/{{job}}", ("admin",),
        "Show how far a job is: a large forget, or an erasure.", "JobReply",
        mcp=NoTool(_ADMINISTRATION),
        client="job",
        cli=NoCommand(_FOR_GOOD),
    ),
    Operation(
        "export_audit", "loop_api", "GET", f"{MEMORY}/audit", ("read",),
        "Export the audit trail, one entry a line, by subject or by time, in pages.", None, query=AuditExportQuery,
        media_type="application/x-ndjson",
        mcp=NoTool(_LOOKED_AT),
        client="audit",
        cli="audit export",
    ),
    Operation(
        "verify_audit", "loop_api", "GET", f"{MEMORY}/audit/verify", ("read",),
        "Verify the audit chains and name the first break.", "AuditVerifyReply", query=AuditQuery,
        mcp=NoTool(_LOOKED_AT),
        client="verify_audit",
        cli="audit verify",
    ),
    Operation(
        "export_tenant_audit", "loop_api", "GET", "/v1/audit", ("admin",),
        "Export the tenant's own audit trail: its tokens minted and revoked, its memories created and erased.", None,
        query=AuditExportQuery, media_type="application/x-ndjson",
        mcp=NoTool(_ADMINISTRATION),
        client="tenant_audit",
        cli="audit export",
    ),
    Operation(
        "verify_tenant_audit", "loop_api", "GET", "/v1/audit/verify", ("admin",),
        "Verify the tenant's own audit chains and name the first break.", "AuditVerifyReply", query=AuditQuery,
        mcp=NoTool(_ADMINISTRATION),
        client="verify_tenant_audit",
        cli="audit verify",
    ),
    Operation(
        "export_memory", "loop_api", "GET", f"{MEMORY}/export", ("admin",),
        "Export everything a memory holds, from its configuration to its audit trail, in pages of JSON lines.", None,
        query=ExportQuery, media_type="application/x-ndjson",
        mcp=NoTool(_ADMINISTRATION),
        client="export",
        cli=NoCommand(_BY_PROGRAMS),
    ),
    Operation(
        "report_lesson", "lessons", "POST", f"{MEMORY}/lessons", ("write",),
        "Report what went wrong; equal reports merge into one card.", "ReportReply", ReportRequest,
        mcp=Tool("report_lesson"),
        client="report_lesson",
        cli=NoCommand(_OF_AGENTS),
    ),
    Operation(
        "list_lessons", "lessons", "GET", f"{MEMORY}/lessons", ("read",),
        "List lessons of a project or of all, the newest first.", "LessonsReply", query=LessonsQuery,
        mcp=NoTool(_LOOKED_AT),
        client="lessons",
        cli="lessons",
    ),
    Operation(
        "lesson_stats", "lessons", "GET", f"{MEMORY}/lessons/stats", ("read",),
        "Show figures about lessons and the settings in force.", "LessonStatsReply",
        mcp=NoTool(_LOOKED_AT),
        client="lesson_stats",
        cli=NoCommand(_CONSOLE),
    ),
    Operation(
        "pass_lesson", "lessons", "POST", f"{MEMORY}/lessons/pass", ("write",),
        "Say that a rule fired and was followed; counted once, when the session ends.", "LessonPassReply",
        PassRequest,
        mcp=NoTool(_OF_GUARDS),
        client="pass_lesson",
        cli=NoCommand(_OF_AGENTS),
    ),
    Operation(
        "digest_lessons", "lessons", "POST", f"{MEMORY}/lessons/digest", ("write",),
        "Have a model distil what went wrong in a session into candidate cards.", "DigestReply", DigestRequest,
        mcp=NoTool(_OF_GUARDS),
        client="digest_lessons",
        cli=NoCommand(_OF_AGENTS),
    ),
    Operation(
        "offer_lesson", "lessons", "POST", f"{RECOMMENDATION}/offer-card", ("review",),
        "Offer an applied lesson of tool_failure as a candidate card; people only.", "ReportReply", OfferRequest,
        mcp=NoTool(_FOR_PEOPLE),
        client="offer_card",
        cli=NoCommand(_CARDS),
    ),
    Operation(
        "start_session", "lessons", "POST", f"{SESSION}/start", ("write",),
        "Start a session, or resume it: the rules of its project, as a block of text.", "StartReply", StartRequest,
        mcp=NoTool(_OF_GUARDS),
        client="start_session",
        cli="hook session-start, hook prompt",
    ),
    Operation(
        "end_session", "lessons", "POST", f"{SESSION}/end", ("write",),
        "End a session: what was followed and what was not broken counts, once.", "EndReply",
        mcp=NoTool(_OF_GUARDS),
        client="end_session",
        cli="hook session-end",
    ),
    Operation(
        "show_context", "lessons", "GET", f"{MEMORY}/context", ("read",),
        "Show what an agent is told when it begins: rules, applied lessons and what waits, as a block within a budget.",
        "ContextReply", query=ContextQuery,
        mcp=Tool("session_context"),
        client="context",
        cli="hook session-start, hook prompt",
    ),
    Operation(
        "list_cards", "lessons", "GET", CARDS, ("read",),
        "List cards by project and status; those that are armed are the rules.", "CardsReply", query=CardsQuery,
        mcp=NoTool(_LOOKED_AT),
        client="cards",
        cli="rules",
    ),
    Operation(
        "migrate_cards", "lessons", "POST", f"{CARDS}/migrate", ("review",),
        "Merge cards that fold to one key; people only.", "MigrateReply", MigrateRequest,
        mcp=NoTool(_FOR_PEOPLE),
        client="migrate_cards",
        cli=NoCommand(_CARDS),
    ),
    Operation(
        "show_card", "lessons", "GET", f"{CARDS}/{{id}}", ("read",),
        "Show a card: counters, evidence, audit.", "CardReply",
        mcp=NoTool(_LOOKED_AT),
        client="card",
        cli="rules",
    ),
    Operation(
        "replay_card", "lessons", "GET", f"{CARDS}/{{id}}/replay", ("read",),
        "Show which past lessons and passes the key of a card matches, before it is armed.", "ReplayReply",
        query=ReplayQuery,
        mcp=NoTool(_LOOKED_AT),
        client="replay_card",
        cli=NoCommand(_CARDS),
    ),
    Operation(
        "act_on_card", "lessons", "POST", f"{CARDS}/{{id}}/{{action}}", ("review",),
        "Arm, reject, demote, archive, edit or revive a card; people only.", "CardActionReply", CardActionRequest,
        mcp=NoTool(_FOR_PEOPLE),
        client="act_on_card",
        cli=NoCommand(_CARDS),
    ),
    Operation(
        "match_recipe", "recipes", "POST", f"{RECIPES}/match", ("write",),
        "Ask whether a stored answer serves a request; never fails the caller's turn.", "MatchReply", MatchRequest,
        takes_model_key=True,
        mcp=Tool("match_recipe"),
        client="match",
        cli=NoCommand(_OF_AGENTS),
    ),
    Operation(
        "commit_recipe", "recipes", "POST", f"{RECIPES}/commit", ("write",),
        "Say that a hit was delivered; counted once, within an hour.", "CommitReply", CommitRequest,
        mcp=Tool("commit_recipe"),
        client="commit",
        cli=NoCommand(_OF_AGENTS),
    ),
    Operation(
        "give_feedback", "recipes", "POST", f"{RECIPES}/feedback", ("write",),
        "Say what became of a hit, within 30 days; what regressed twice is quarantined.", "FeedbackReply",
        FeedbackRequest,
        mcp=NoTool(_OF_RUNS),
        client="feedback",
        cli=NoCommand(_OF_AGENTS),
    ),
    Operation(
        "distil_recipe", "recipes", "POST", f"{RECIPES}/distil", ("write",),
        "Have a model make a recipe of a run that went well.", "DistilReply", DistilRequest, statuses=(200, 202),
        takes_model_key=True,
        mcp=NoTool(_OF_RUNS),
        client="distil",
        cli=NoCommand(_OF_AGENTS),
    ),
    Operation(
        "show_distillation", "recipes", "GET", f"{RECIPES}/distil/{{job}}", ("write",),
        "Show how far a distillation is.", "DistilReply",
        mcp=NoTool(_OF_RUNS),
        client="distillation",
        cli=NoCommand(_OF_AGENTS),
    ),
    Operation(
        "list_recipes", "recipes", "GET", RECIPES, ("read",),
        "List recipes by status; those that are quarantined wait for a person.", "RecipesReply", query=RecipesQuery,
        mcp=NoTool(_LOOKED_AT),
        client="recipes",
        cli="recipes",
    ),
    Operation(
        "recipes_health", "recipes", "GET", f"{RECIPES}/health", ("read",),
        "Show the settings of recipes in force, which rungs work, and what is wrong.", "RecipesHealthReply",
        mcp=NoTool(_LOOKED_AT),
        client="recipes_health",
        cli=NoCommand(_CONSOLE),
    ),
    Operation(
        "show_recipe", "recipes", "GET", f"{RECIPES}/{{id}}", ("read",),
        "Show a recipe: texts, what became of its hits, audit.", "RecipeReply",
        mcp=NoTool(_LOOKED_AT),
        client="recipe",
        cli="recipes",
    ),
    Operation(
        "restore_recipe", "recipes", "POST", f"{RECIPES}/{{id}}/restore", ("review",),
        "Serve a quarantined or retired recipe again; people only.", "RecipeDecisionReply", RecipeDecisionRequest,
        mcp=NoTool(_FOR_PEOPLE),
        client="restore_recipe",
        cli=NoCommand(_CARDS),
    ),
    Operation(
        "retire_recipe", "recipes", "POST", f"{RECIPES}/{{id}}/retire", ("review",),
        "Serve a recipe no more; people only.", "RecipeDecisionReply", RecipeDecisionRequest,
        mcp=NoTool(_FOR_PEOPLE),
        client="retire_recipe",
        cli=NoCommand(_CARDS),
    ),
    Operation(
        "forget_recipe", "recipes", "POST", f"{RECIPES}/{{id}}/forget", ("admin",),
        "Forget a recipe, its vector and its texts in the ledger, for good; what it cost stays.",
        "ForgottenRecipeReply", RecipeDecisionRequest,
        mcp=NoTool(_ADMINISTRATION),
        client="forget_recipe",
        cli=NoCommand(_FOR_GOOD),
    ),
    Operation(
        "list_ledger", "recipes", "GET", f"{MEMORY}/ledger", ("read",),
        "List what each call of a model cost, and each run that was saved.", "LedgerReply", query=LedgerRowsQuery,
        mcp=NoTool(_LOOKED_AT),
        client="ledger",
        cli="ledger",
    ),
    Operation(
        "summarise_ledger", "recipes", "GET", f"{MEMORY}/ledger/summary", ("read",),
        "Sum up cost by component, the runs saved, and the cost of each.", "LedgerSummaryReply", query=LedgerQuery,
        mcp=NoTool(_LOOKED_AT),
        client="ledger_summary",
        cli="ledger",
    ),
    Operation(
        "delete_memory", "jobs", "DELETE", MEMORY, ("admin",),
        "Erase a memory for good, by a job; its name is never given again.", "JobReply", EraseRequest, statuses=(202,),
        mcp=NoTool(_ADMINISTRATION),
        client="delete_memory",
        cli=NoCommand(_FOR_GOOD),
    ),
)  # fmt: skip


#: Routes of the MCP endpoint, which is no operation but a surface of its own: function, method, path.
MCP_ROUTES: tuple[tuple[str, Method, str], ...] = (
    ("mcp", "POST", "/mcp"),
    ("mcp", "GET", "/mcp"),
    ("mcp", "DELETE", "/mcp"),
)


def operations_of(function: str) -> tuple[Operation, ...]:
    """What one function serves over HTTP."""
    return tuple(operation for operation in OPERATIONS if operation.function == function)

"""What operations of recipes answer."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from provenloop.domain.checkpoint import Verdict
from provenloop.domain.hit_token import Rung
from provenloop.domain.recipe import FeedbackVerdict, RecipeKind, RecipeStatus
from provenloop.entry.models.fields import Time, WireModel
from provenloop.services.match_recipe import MissReason
from provenloop.services.recipe_decisions import RecipeAction


class Hit(WireModel):
    """A stored answer that serves. One that the composer chose has only its id, and what the model says of it."""

    kind: Annotated[Rung, Field(description="The rung that answered.")]
    recipe_id: str
    recipe_kind: Annotated[RecipeKind, Field(description="A procedure is guidance for its state, not an answer.")]
    state_hash: str | None
    response: str | None = None
    category: str | None = None
    principles: list[str] | None = None
    similarity: Annotated[float | None, Field(description="Cosine, of a semantic hit.")] = None
    reasoning: Annotated[str | None, Field(description="A model's words.")] = None
    confidence: float | None = None
    adaptations: Annotated[dict[str, str] | None, Field(description="What a model would change in the answer.")] = None


class MatchReply(WireModel):
    """A hit with its token, or the reason why there is none; ``escalation`` says why the composer said no."""

    hit: Hit | None
    hit_token: str | None = None
    reason: MissReason | None = None
    escalation: str | None = None


class CommitReply(WireModel):
    """What was counted; ``reinforced`` only where the recipe still says what was delivered."""

    recipe: str
    rung: Rung
    repeated: bool
    reinforced: bool


class FeedbackReply(WireModel):
    """What was taken in; ``counted`` only where the recipe is live and still says what was delivered."""

    recipe: str
    verdict: FeedbackVerdict
    repeated: bool
    counted: bool
    status: RecipeStatus
    strikes: int


class DistilReply(WireModel):
    """A distillation. ``reason`` says why nothing was learnt, ``failure`` how the model failed."""

    job: str
    kind: Literal["distil"]
    status: Literal["running", "done", "skipped"]
    recipe: str | None
    reason: str | None
    failure: str | None
    created_at: Time
    changed_at: Time
    by: str


class RecipeOutcome(WireModel):
    """What became of the hits of what a recipe says now."""

    hits: Annotated[int, Field(description="Deliveries that were committed.")]
    held: int
    regressed: int
    verdict: Verdict


class Recipe(RecipeOutcome):
    """A recipe; hidden characters of its texts are shown as escapes."""

    id: str
    status: RecipeStatus
    kind: RecipeKind
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
    served: Annotated[bool, Field(description="Whether it may answer now.")]
    valid_to: Time | None
    created_at: Time
    changed_at: Time


class RecipesReply(WireModel):
    """A page of recipes by id; it may be short and go on."""

    recipes: list[Recipe]
    cursor: str | None


class RecipeVersion(WireModel):
    """What a recipe said before."""

    revision: int
    response: str


class RecipeReply(Recipe):
    """A recipe with its versions, its audit trail and what a person may do with it."""

    versions: list[RecipeVersion]
    audit: list[dict[str, Any]]
    verified: Annotated[bool, Field(description="Whether its audit chain holds.")]
    next: list[RecipeAction]


class RecipeDecisionReply(WireModel):
    """What a decision came to."""

    id: str
    action: RecipeAction
    status: RecipeStatus


class ForgottenRecipeReply(WireModel):
    """What was erased; ``ledger`` counts rows that lost their texts and keep what they cost."""

    forgotten: int
    versions: int
    reasons: int
    ledger: int
    distillations: int
    audit: str


class LedgerRowReply(WireModel):
    """One metered call, or one run that was saved or could not be. ``cost_usd`` is None where the price is unknown."""

    id: str
    at: Time
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


class LedgerReply(WireModel):
    """A page of the ledger, the oldest first."""

    rows: list[LedgerRowReply]
    cursor: str | None


class LedgerComponent(WireModel):
    """Sums over the rows of one component."""

    rows: int
    input_tokens: int
    output_tokens: int
    cache_write_tokens: int
    cache_write_1h_tokens: int
    cache_read_tokens: int
    unpriced: Annotated[int, Field(description="Rows whose price is unknown.")]
    cost_usd: float


class LedgerSummaryReply(WireModel):
    """Rows and cost by component; where ``cursor`` is given, the next page goes on with these sums."""

    since: Annotated[Time, Field(alias="from")]
    until: Annotated[Time, Field(alias="to")]
    components: dict[str, LedgerComponent]
    cost_usd: float
    unpriced: int
    runs_saved: int
    cost_per_run_saved_usd: Annotated[float | None, Field(description="Composer attempts for each composer hit.")]
    prices: dict[str, str]
    cursor: str | None


class RecipesHealthReply(WireModel):
    """How the ladder stands: settings in force, the band of the embedder, which rungs work, and what is wrong."""

    settings: dict[str, bool | int | float | str] | None
    band: dict[str, float] | None
    embedder: dict[str, str | int] | None
    semantic: bool
    composer: Annotated[bool, Field(description="Whether there is a key to ask a model with.")]
    faults: list[str]

"""The ledger: one row for each call of a model that was metered, and for each run that was saved or could not be.

A row's key is its instant and its id, both told by what it counts (a token, a job and a step, a request), so the same
thing counted again is the same row.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass, field, fields, replace
from typing import Literal, get_args

from provenloop.domain.model_cost import Usage, cost_nano_usd
from provenloop.domain.model_prices import VERSION

EXACT_HIT = "titw.recipe_hit.exact"
SEMANTIC_HIT = "titw.recipe_hit.semantic"
COMPOSER_ATTEMPT = "titw.composer.attempt"
COMPOSER_HIT = "titw.composer.hit"
COMPOSER_ESCALATE = "titw.composer.escalate"
DISTILLATION = "recipe.distillation.opus"
DIGEST = "lessons.digest"

#: The stages that ask models about a memory.
LoopStage = Literal["discover", "ground", "verify", "enrich"]
SkipReason = Literal[
    "gate_failed", "opus_error", "validation_error", "safety_concern", "low_confidence", "empty_response"
]
#: What ``opus_error`` says besides the kinds of a call that failed: the recipe could not be stored.
SAVE_FAILED = "save_failed"
#: Components whose rows each stand for a run of the caller's agent that was not needed.
SAVES_A_RUN = (EXACT_HIT, SEMANTIC_HIT, COMPOSER_HIT)


def skipped(reason: SkipReason) -> str:
    """The component of a recipe that was not learnt."""
    return f"recipe.distillation.skipped.{reason}"


def loop_stage(stage: LoopStage) -> str:
    """The component of a call that a pass made in one of its stages."""
    return f"loop.{stage}"


COMPONENTS: tuple[str, ...] = (
    EXACT_HIT,
    SEMANTIC_HIT,
    COMPOSER_ATTEMPT,
    COMPOSER_HIT,
    COMPOSER_ESCALATE,
    DISTILLATION,
    *(skipped(reason) for reason in get_args(SkipReason)),
    DIGEST,
    *(loop_stage(stage) for stage in get_args(LoopStage)),
)


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """One row. ``at`` is epoch ms, ``kind`` why a call failed, ``prices`` the version of the price list.

    ``cost_nano_usd`` is None where tokens were used and the model's price is unknown.
    """

    id: str
    at: int
    component: str
    model: str = ""
    kind: str = ""
    usage: Usage = field(default_factory=Usage)
    cost_nano_usd: int | None = 0
    prices: str = ""
    session: str = ""
    recipe_id: str = ""
    log_fields: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class About:
    """What a row is about besides its call; texts of the caller's, which forgetting erases."""

    session: str = ""
    recipe_id: str = ""
    log_fields: Mapping[str, str] = field(default_factory=dict)


def free_row(row_id: str, at: int, component: str, about: About, *, kind: str = "") -> LedgerRow:
    """A row of something that cost nothing."""
    return LedgerRow(
        row_id,
        at,
        component,
        kind=kind,
        session=about.session,
        recipe_id=about.recipe_id,
        log_fields=about.log_fields,
    )


def metered_row(
    row_id: str,
    at: int,
    component: str,
    about: About,
    *,
    usage: Usage | None,
    models: tuple[str, ...],
    kind: str = "",
) -> LedgerRow:
    """A row of one call of a model, at what it costs.

    Args:
        usage: its tokens; None where the provider did not tell, as when the call failed.
        models: the model that answered, then the one that was asked.
        kind: why it failed.
    """
    used = usage or Usage()
    return LedgerRow(
        row_id,
        at,
        component,
        model=models[0],
        kind=kind,
        usage=used,
        cost_nano_usd=cost_nano_usd(used, *models) if used != Usage() else 0,
        prices=VERSION,
        session=about.session,
        recipe_id=about.recipe_id,
        log_fields=about.log_fields,
    )


def without_text(row: LedgerRow) -> LedgerRow:
    """The row once what it was about is forgotten: when, what and for how much stays."""
    return replace(row, session="", recipe_id="", log_fields={})


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over rows of one component; ``unpriced`` counts rows whose cost is unknown."""

    rows: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_write_tokens: int = 0
    cache_write_1h_tokens: int = 0
    cache_read_tokens: int = 0
    cost_nano_usd: int = 0
    unpriced: int = 0

    def plus(self, row: LedgerRow) -> Totals:
        """With one more row."""
        used = row.usage
        return Totals(
            self.rows + 1,
            self.input_tokens + used.input_tokens,
            self.output_tokens + used.output_tokens,
            self.cache_write_tokens + used.cache_write_tokens,
            self.cache_write_1h_tokens + used.cache_write_1h_tokens,
            self.cache_read_tokens + used.cache_read_tokens,
            self.cost_nano_usd + (row.cost_nano_usd or 0),
            self.unpriced + (row.cost_nano_usd is None),
        )


TOTALS_FIELDS: tuple[str, ...] = tuple(each.name for each in fields(Totals))


def summed(rows: Iterable[LedgerRow], before: Mapping[str, Totals]) -> dict[str, Totals]:
    """The totals by component, with those of earlier rows."""
    totals = dict(before)
    for row in rows:
        totals[row.component] = totals.get(row.component, Totals()).plus(row)
    return totals


def runs_saved(totals: Mapping[str, Totals]) -> int:
    """How many runs of the caller's agent were not needed."""
    return sum(totals[name].rows for name in SAVES_A_RUN if name in totals)


def nano_usd_per_run_saved(totals: Mapping[str, Totals]) -> int | None:
    """What the composer's attempts cost for each run they saved, in whole nano-dollars; None where that is none."""
    hits = totals.get(COMPOSER_HIT, Totals()).rows
    spent = totals.get(COMPOSER_ATTEMPT, Totals()).cost_nano_usd
    return (spent + hits // 2) // hits if hits else None


def as_numbers(totals: Totals) -> list[int]:
    """The sums in the order of ``TOTALS_FIELDS``."""
    return list(astuple(totals))

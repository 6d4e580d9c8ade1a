"""Rows of the ledger and their sums: exact in any order, and what is unknown is counted, not guessed."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenloop.domain import ledger
from provenloop.domain.ledger import About, LedgerRow, free_row, metered_row, nano_usd_per_run_saved, runs_saved, summed
from provenloop.domain.model_cost import Usage, cost_nano_usd

MODELS = ("claude-haiku-4-5", "claude-opus-5-5", "unheard-of")
TOKENS = st.integers(0, 10**6)
ROWS = st.lists(
    st.builds(
        lambda component, model, usage: metered_row("r", 1, component, About(), usage=usage, models=(model,)),
        st.sampled_from(ledger.COMPONENTS),
        st.sampled_from(MODELS),
        st.builds(Usage, TOKENS, TOKENS, TOKENS, TOKENS, TOKENS),
    ),
    max_size=12,
)


def attempt(dollars: float) -> LedgerRow:
    return LedgerRow("a", 1, ledger.COMPOSER_ATTEMPT, cost_nano_usd=round(dollars * 10**9))


def hit(component: str = ledger.COMPOSER_HIT) -> LedgerRow:
    return free_row("h", 1, component, About())


@given(ROWS, st.randoms(use_true_random=False))
def test_sums_are_exact_and_the_same_in_any_order_and_in_parts(rows: list[LedgerRow], chance: object) -> None:
    whole = summed(rows, {})
    shuffled = sorted(rows, key=lambda _: chance.random())  # type: ignore[attr-defined]
    assert summed(shuffled[1:], summed(shuffled[:1], {})) == whole
    known = [cost_nano_usd(row.usage, row.model) for row in rows if row.usage != Usage()]
    assert sum(each.cost_nano_usd for each in whole.values()) == sum(cost or 0 for cost in known)
    assert sum(each.unpriced for each in whole.values()) == known.count(None)
    assert sum(each.rows for each in whole.values()) == len(rows)
    assert sum(each.output_tokens for each in whole.values()) == sum(row.usage.output_tokens for row in rows)


def test_a_call_without_tokens_costs_nothing_even_of_an_unknown_model() -> None:
    row = metered_row("r", 1, ledger.DISTILLATION, About(), usage=None, models=("unheard-of",), kind="auth")
    assert (row.cost_nano_usd, row.kind) == (0, "auth")


@pytest.mark.parametrize(
    ("rows", "per_run"),
    [
        ([], None),
        ([attempt(1.0)], None),
        ([attempt(0.3), hit()], "0.3"),
        ([attempt(0.1), attempt(0.2), hit(), hit(), hit()], "0.1"),
        ([attempt(0.0001), hit(), hit(), hit()], "0.000033333"),
        ([attempt(0.3), hit(ledger.EXACT_HIT)], None),
    ],
)
def test_the_cost_of_a_run_saved_is_all_attempts_over_composed_hits(rows: list[LedgerRow], per_run: str | None) -> None:
    nano = nano_usd_per_run_saved(summed(rows, {}))
    assert nano is None if per_run is None else nano == Fraction(per_run) * 10**9


def test_every_hit_saves_a_run_and_nothing_else_does() -> None:
    rows = [hit(component) for component in ledger.COMPONENTS]
    assert runs_saved(summed(rows, {})) == 3


def test_the_components_are_named_as_they_always_were() -> None:
    assert set(ledger.COMPONENTS) - {ledger.DIGEST} == {
        "titw.recipe_hit.exact",
        "titw.recipe_hit.semantic",
        "titw.composer.attempt",
        "titw.composer.hit",
        "titw.composer.escalate",
        "recipe.distillation.opus",
        "recipe.distillation.skipped.gate_failed",
        "recipe.distillation.skipped.opus_error",
        "recipe.distillation.skipped.validation_error",
        "recipe.distillation.skipped.safety_concern",
        "recipe.distillation.skipped.low_confidence",
        "recipe.distillation.skipped.empty_response",
        "loop.discover",
        "loop.ground",
        "loop.verify",
        "loop.enrich",
    }


def test_a_row_that_forgot_what_it_was_about_still_counts() -> None:
    about = About("s-1", "recipe", {"ticket": "4711"})
    row = metered_row(
        "r", 1, ledger.COMPOSER_ATTEMPT, about, usage=Usage(5, 7), models=("claude-haiku-4-5-20251001", "x")
    )
    bare = ledger.without_text(row)
    assert (bare.session, bare.recipe_id, bare.log_fields) == ("", "", {})
    assert summed([bare], {}) == summed([row], {})

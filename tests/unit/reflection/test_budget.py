"""What a pass may still use of models: the most a call can use has to fit, and what was used is taken off."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenloop.analyzers.model_findings import LLM
from provenloop.analyzers.parameters import parse_parameters
from provenloop.domain.errors import ParameterError
from provenloop.domain.model_cost import Usage
from provenloop.domain.quoting import Quoted
from provenloop.reflection.budget import Bound, Budget, bound_of
from provenloop.reflection.bundle import Brief, Bundle, Decided, Evidence, Limits, less_and_less, limits_from
from provenloop.reflection.stages import DISCOVER, STAGES

#: $2 and $10 for a million tokens, $2.50 for one that is kept.
SONNET = "claude-sonnet-5-5"
HAIKU = "claude-haiku-4-5-20251001"
BOUND = Bound(SONNET, 1_600, 400, 8_000_000)
LEFT = Budget(10_000, 100_000_000)
ENOUGH = Usage(input_tokens=100, output_tokens=10)


@given(st.lists(st.text()))
def test_a_token_is_no_shorter_than_a_byte(texts: list[str]) -> None:
    quoted = [Quoted(f"evidence:e{number}", text) for number, text in enumerate(texts)]
    sent = [DISCOVER.instructions, json.dumps(DISCOVER.schema), *(part.block for part in quoted)]
    bound = bound_of(DISCOVER, quoted, SONNET)
    assert bound.prompt_tokens >= sum(len(text.encode()) for text in sent)
    assert bound.tokens == bound.prompt_tokens + DISCOVER.max_tokens
    assert bound.cost_nano_usd == bound.prompt_tokens * 2_500 + DISCOVER.max_tokens * 10_000


def test_half_a_character_is_counted_too() -> None:
    assert bound_of(DISCOVER, [Quoted("brief:1", "\ud800")], SONNET).tokens > bound_of(DISCOVER, [], SONNET).tokens


def test_a_prompt_that_may_be_a_long_one_is_bounded_by_the_price_of_those() -> None:
    short = bound_of(DISCOVER, [], "claude-haiku-5-5")
    long = bound_of(DISCOVER, [Quoted("brief:1", "x" * 100_000)], "claude-haiku-5-5")
    assert short.cost_nano_usd == short.prompt_tokens * 125 + 4_096 * 500
    assert long.cost_nano_usd == long.prompt_tokens * 625 + 4_096 * 2_500


@pytest.mark.parametrize(
    ("budget", "bound", "holds"),
    [
        (Budget(2_000, 8_000_000), BOUND, True),
        (Budget(1_999, 8_000_000), BOUND, False),
        (Budget(2_000, 7_999_999), BOUND, False),
        (Budget(2_000, 0), replace(BOUND, cost_nano_usd=None), True),
        (Budget(2_000, -1), replace(BOUND, cost_nano_usd=None), False),
        (Budget(4_000, 16_000_000).half, BOUND, True),
        (Budget(3_999, 16_000_000).half, BOUND, False),
    ],
)
def test_a_call_is_made_where_all_that_it_can_use_is_left(budget: Budget, bound: Bound, holds: bool) -> None:
    assert budget.holds(bound) is holds


@pytest.mark.parametrize(
    ("told", "tokens", "cost"),
    [
        (Usage(100, 10), 110, 100 * 2_000 + 10 * 10_000),
        (Usage(0, 10, cache_write_tokens=60, cache_read_tokens=50), 120, 60 * 2_500 + 50 * 100 + 10 * 10_000),
        (Usage(1_600, 400), 2_000, 1_600 * 2_000 + 400 * 10_000),
        (None, 2_000, 8_000_000),
        (Usage(), 2_000, 8_000_000),
        (Usage(99, 10), 2_000, 8_000_000),
        (Usage(100, 0), 2_000, 8_000_000),
        (Usage(200, 10, cache_read_tokens=-50), 2_000, 8_000_000),
        (Usage(1_601, 400), 10_000, 100_000_000),
        (Usage(10**9, 0), 10_000, 100_000_000),
        (Usage(0, 400, cache_write_1h_tokens=1_600), 2_000, 1_600 * 4_000 + 400 * 10_000),
        (Usage(300, 1_000), 1_300, 10_600_000),
    ],
)
def test_what_was_used_is_taken_off_as_far_as_it_can_be_believed(told: Usage | None, tokens: int, cost: int) -> None:
    left = LEFT.after(BOUND, told, '{"results": []}', SONNET)
    expected = Budget(0, 0) if cost > 8_000_000 else Budget(10_000 - tokens, 100_000_000 - cost)
    assert left == expected


def test_a_call_that_gave_no_text_used_its_prompt_at_least() -> None:
    assert LEFT.after(BOUND, Usage(100, 0), "", None).tokens == 9_900
    assert LEFT.after(BOUND, None, "", None).tokens == 8_000


@pytest.mark.parametrize(
    ("asked", "answered", "cost"),
    [
        (SONNET, HAIKU, 300_000),
        (HAIKU, SONNET, 300_000),
        ("unknown", SONNET, 300_000),
        ("unknown", "unknown", 0),
        (SONNET, "unknown", 300_000),
        (SONNET, None, 300_000),
    ],
)
def test_a_call_costs_what_the_dearer_of_the_asked_and_the_answering_model_costs(
    asked: str, answered: str | None, cost: int
) -> None:
    bound = replace(BOUND, model=asked, cost_nano_usd=None if asked == "unknown" else 8_000_000)
    assert LEFT.after(bound, ENOUGH, "{}", answered).cost_nano_usd == 100_000_000 - cost


def test_nothing_is_asked_once_money_of_unknown_models_is_overspent() -> None:
    left = Budget(10_000, 100).after(replace(BOUND, model="unknown", cost_nano_usd=None), ENOUGH, "{}", SONNET)
    assert not left.holds(replace(BOUND, cost_nano_usd=None))


def evidence(number: int) -> Evidence:
    return Evidence(f"e{number}", f"{number:064x}", "fact", "entity:shared/ann", "text")


FULL = Bundle(
    (Brief("loop.staleness/1", "s", "t", "low"),),
    tuple(evidence(number) for number in range(1, 6)),
    (Decided("s", "b"),),
    (Decided("s", "b"),),
)


def test_a_bundle_that_is_too_large_loses_of_everything_what_is_last_and_keeps_evidence_longest() -> None:
    brief, decided = FULL.briefs[0], FULL.approved[0]
    rich = replace(
        FULL,
        briefs=(brief, replace(brief, summary="later")),
        approved=(),
        rejected=(decided, replace(decided, because="older"), replace(decided, because="oldest")),
    )
    choices = less_and_less(rich)
    kept = [(len(each.evidence), len(each.briefs), len(each.rejected)) for each in choices]
    assert kept == [(5, 2, 3), (4, 2, 3), (3, 2, 3), (3, 2, 2), (3, 1, 1), (3, 0, 0), (2, 0, 0), (1, 0, 0)]
    assert (choices[4].briefs, choices[4].rejected) == ((brief,), (decided,))


@pytest.mark.parametrize("many", [1, 2, 3])
def test_whatever_a_bundle_holds_the_least_of_it_is_its_first_evidence(many: int) -> None:
    choices = less_and_less(replace(FULL, evidence=FULL.evidence[:many]))
    assert choices[0].evidence == FULL.evidence[:many]
    assert choices[-1] == Bundle(evidence=FULL.evidence[:1])
    sizes = [each.pieces for each in choices]
    assert sizes == sorted(set(sizes), reverse=True)
    bare = less_and_less(Bundle(evidence=FULL.evidence[:many]))
    assert [len(each.evidence) for each in bare] == list(range(many, 0, -1))


def test_a_bundle_loses_its_last_evidence_first() -> None:
    choices = [(len(each.evidence), len(each.briefs + each.approved + each.rejected)) for each in less_and_less(FULL)]
    assert choices == [(5, 3), (4, 3), (3, 3), (3, 0), (2, 0), (1, 0)]
    assert all(each.evidence == FULL.evidence[: len(each.evidence)] for each in less_and_less(FULL))


def test_limits_come_from_the_parameters_of_the_manifest() -> None:
    assert limits_from(LLM.defaults()) == Limits()
    given = {"min_confidence": 1, "max_tokens": 40_000, "max_cost_usd": 0.01}
    assert limits_from(parse_parameters(LLM, given)) == Limits(1.0, 40_000, 10_000_000)


@pytest.mark.parametrize(
    "given",
    [{"min_confidence": 0.74}, {"min_confidence": 1.01}, {"max_tokens": 39_999}, {"max_tokens": 400_001},
     {"max_tokens": 40_000.5}, {"max_cost_usd": 0.009}, {"max_cost_usd": 10.01}, {"max_ms": 1}],
)  # fmt: skip
def test_no_parameter_lowers_the_floor_or_lifts_the_caps(given: dict[str, float]) -> None:
    with pytest.raises(ParameterError):
        parse_parameters(LLM, given)


def test_every_stage_fits_into_the_default_budget_with_room_for_those_after_it() -> None:
    assert sum(bound_of(stage, [], SONNET).tokens for stage in STAGES) < Limits().max_tokens / 3

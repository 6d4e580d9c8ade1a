"""What calls cost: exact, by the price list, and unknown where no price is known."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenloop.domain.model_cost import Usage, cost_nano_usd, usd
from provenloop.domain.model_prices import PRICES, Price

TOKENS = st.integers(0, 200_000)
USAGES = st.builds(Usage, TOKENS, TOKENS, TOKENS, TOKENS, TOKENS)
MILLION = 1_000_000


@pytest.mark.parametrize(
    ("model", "usage", "dollars"),
    [
        ("claude-haiku-4-5", Usage(MILLION, 0), "1"),
        ("claude-haiku-4-5-20251001", Usage(0, MILLION), "5"),
        ("claude-haiku-4-5", Usage(0, 0, MILLION), "1.25"),
        ("claude-haiku-4-5", Usage(0, 0, 0, MILLION), "2"),
        ("claude-haiku-4-5", Usage(0, 0, 0, 0, MILLION), "0.1"),
        ("claude-opus-5-5", Usage(MILLION, MILLION, MILLION, MILLION, MILLION), "37.2"),
        ("claude-haiku-5-5", Usage(60_000, 10_000, 40_000), "0.016"),
        ("claude-haiku-5-5", Usage(60_000, 10_000, 40_000, 0, 1), "0.08000005"),
    ],
)
def test_a_call_costs_what_the_price_list_says(model: str, usage: Usage, dollars: str) -> None:
    cost = cost_nano_usd(usage, model)
    assert cost is not None
    assert Fraction(cost, 10**9) == Fraction(dollars)
    assert usd(cost) == float(dollars)


def test_the_first_model_with_a_price_decides() -> None:
    used = Usage(1_000, 0)
    assert cost_nano_usd(used, "gateway/haiku", "claude-haiku-4-5") == cost_nano_usd(used, "claude-haiku-4-5")
    assert cost_nano_usd(used, "gateway/haiku", "my-model") is None


@given(st.sampled_from(sorted(PRICES)), USAGES, USAGES)
def test_using_more_never_costs_less(model: str, usage: Usage, more: Usage) -> None:
    both = Usage(
        usage.input_tokens + more.input_tokens,
        usage.output_tokens + more.output_tokens,
        usage.cache_write_tokens + more.cache_write_tokens,
        usage.cache_write_1h_tokens + more.cache_write_1h_tokens,
        usage.cache_read_tokens + more.cache_read_tokens,
    )
    assert (cost_nano_usd(both, model) or 0) >= (cost_nano_usd(usage, model) or 0)


@pytest.mark.parametrize("price", PRICES.values(), ids=PRICES)
def test_caching_is_priced_between_reading_for_less_and_writing_for_more(price: Price) -> None:
    rates = price.rates
    assert 0 < rates.cache_read < rates.input < rates.cache_write < rates.cache_write_1h < rates.output

"""Prices of models: the one place that holds them. Change a figure and the version together.

From the price list at ``SOURCE`` as it was on the day of ``VERSION``. Figures are whole nano-dollars a token: $1 per
million tokens is 1,000.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

VERSION = "2026-11-30"
SOURCE = "https://platform.claude.com/docs/en/about-claude/pricing"


@dataclass(frozen=True, slots=True)
class Rates:
    """Nano-dollars a token: input, writing into the cache for 5 minutes and for an hour, reading from it, output."""

    input: int
    cache_write: int
    cache_write_1h: int
    cache_read: int
    output: int


@dataclass(frozen=True, slots=True)
class Price:
    """What a model costs; a prompt of more than ``long_over`` tokens costs ``long`` throughout, where that is given."""

    rates: Rates
    long: Rates | None = None
    long_over: int = 0


_FABLE_5_1 = Price(Rates(10_000, 12_500, 20_000, 250, 50_000))
_FABLE_5 = Price(Rates(10_000, 12_500, 20_000, 1_000, 50_000))
_OPUS_5_5 = Price(Rates(4_000, 5_000, 8_000, 200, 20_000))
_OPUS = Price(Rates(5_000, 6_250, 10_000, 500, 25_000))
_SONNET_5_5 = Price(Rates(2_000, 2_500, 4_000, 100, 10_000))
_SONNET_5 = Price(Rates(2_000, 2_500, 4_000, 200, 10_000))
_SONNET_4 = Price(Rates(3_000, 3_750, 6_000, 300, 15_000))
_HAIKU_5_5 = Price(Rates(100, 125, 200, 10, 500), Rates(500, 625, 1_000, 50, 2_500), long_over=100_000)
_HAIKU_4_5 = Price(Rates(1_000, 1_250, 2_000, 100, 5_000))

#: By the name of the model without a date behind it.
PRICES: Mapping[str, Price] = {
    "claude-fable-5-1": _FABLE_5_1,
    "claude-mythos-5-1": _FABLE_5_1,
    "claude-fable-5": _FABLE_5,
    "claude-mythos-5": _FABLE_5,
    "claude-opus-5-5": _OPUS_5_5,
    "claude-opus-5": _OPUS,
    "claude-opus-4-8": _OPUS,
    "claude-opus-4-7": _OPUS,
    "claude-opus-4-6": _OPUS,
    "claude-opus-4-5": _OPUS,
    "claude-sonnet-5-5": _SONNET_5_5,
    "claude-sonnet-5": _SONNET_5,
    "claude-sonnet-4-6": _SONNET_4,
    "claude-sonnet-4-5": _SONNET_4,
    "claude-haiku-5-5": _HAIKU_5_5,
    "claude-haiku-4-5": _HAIKU_4_5,
}

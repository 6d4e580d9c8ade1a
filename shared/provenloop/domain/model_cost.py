"""What a call of a model used and cost: whole tokens and whole nano-dollars, so that sums never drift."""

from __future__ import annotations

import re
from dataclasses import dataclass

from provenloop.domain.model_prices import PRICES, Price

NANO_USD = 1_000_000_000
_DATED = re.compile(r"-\d{8}\Z")


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call. Cache writes and reads are not part of ``input_tokens``."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_write_tokens: int = 0
    cache_write_1h_tokens: int = 0
    cache_read_tokens: int = 0

    @property
    def prompt_tokens(self) -> int:
        """All that the model read."""
        written = self.cache_write_tokens + self.cache_write_1h_tokens
        return self.input_tokens + written + self.cache_read_tokens


def price_of(*models: str) -> Price | None:
    """The price of the first of these models that has one, with a date behind its name or without."""
    names = (name for model in models for name in (model, _DATED.sub("", model)))
    return next((PRICES[name] for name in names if name in PRICES), None)


def cost_nano_usd(usage: Usage, *models: str) -> int | None:
    """What a call cost, in nano-dollars, by the first of these models that has a price; None where none has."""
    price = price_of(*models)
    if price is None:
        return None
    rates = price.long if price.long is not None and usage.prompt_tokens > price.long_over else price.rates
    return (
        usage.input_tokens * rates.input
        + usage.output_tokens * rates.output
        + usage.cache_write_tokens * rates.cache_write
        + usage.cache_write_1h_tokens * rates.cache_write_1h
        + usage.cache_read_tokens * rates.cache_read
    )


def usd(nano: int) -> float:
    """Dollars as a JSON number, which shows up to 15 digits exactly; sum first, then show."""
    return nano / NANO_USD

"""Moving the counters of a card: additions, so that any number of reporters and sessions may count at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from provenloop.lessons.card import Card, Counter


class Within(NamedTuple):
    """A counter, and the lowest and highest value that it may have now; None where there is no such bound."""

    counter: Counter
    low: int | None = None
    high: int | None = None


@dataclass(frozen=True, slots=True)
class Count:
    """Add to the counters of a stored card, whose head must be at ``expected`` (None: wherever it is).

    Where the card's own ``rev`` is another one, its head is written as well; counters are never set, but for those in
    ``reset``, which begin anew. ``last_at`` and ``clean_at`` (epoch ms) are set where given. ``suggests`` keeps the
    card's suggestion where there is none yet, ``forgets_suggestion`` takes it away where it is still that one.
    """

    card: Card
    expected: int | None
    add: Mapping[Counter, int] = field(default_factory=dict)
    within: tuple[Within, ...] = ()
    reset: tuple[Counter, ...] = ()
    last_at: int | None = None
    clean_at: int | None = None
    suggests: bool = False
    forgets_suggestion: bool = False

    @property
    def entity(self) -> Card:
        """What it is about."""
        return self.card

"""What our system is to answer at a step: read from a recording, or written down where ours does better."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.parity.runner.cards import Card


@dataclass(frozen=True)
class Wanted:
    """An answer.

    Attributes:
        refused: codes of which one must refuse the step; ``*`` stands for any.
        figures: of a pass or of health, by name.
        skips: analyzers that a pass skipped, with the reason of each.
        cards: of a list. A target that ends in ``*`` stands for any that begins so.
        about: the analyzers whose cards are looked at; none stand for all.
        how_many: cards of a list, whatever they are.
        live: texts of the live values, or labels of live observations.
        values: texts of the live values, however many grains hold each, and whatever blanks end them.
        same_as: a step whose live values must be the same, grain by grain.
        kept: fields that the only live value must have.
        status: of a recommendation after a decision.
        some: whether a recall finds anything.
        verdicts: (metric, horizon in days, verdict) of every checkpoint that was measured.
        roster: (id, on by default, tier, trust) of every analyzer.
    """

    refused: tuple[str, ...] = ()
    figures: Mapping[str, Any] = field(default_factory=dict)
    skips: Mapping[str, str] = field(default_factory=dict)
    cards: tuple[Card, ...] | None = None
    about: frozenset[str] = frozenset()
    how_many: int | None = None
    live: tuple[str, ...] | None = None
    values: frozenset[str] | None = None
    same_as: int | None = None
    kept: Mapping[str, Any] = field(default_factory=dict)
    status: str | None = None
    some: bool | None = None
    verdicts: tuple[tuple[str, int, str], ...] | None = None
    roster: tuple[tuple[str, bool, str, str], ...] | None = None


Answers = Mapping[int, Wanted]


def refused(*codes: str) -> Wanted:
    """The step is refused, with one of these codes."""
    return Wanted(refused=codes or ("*",))


def ran(**figures: Any) -> Wanted:
    """A pass ran, with these figures."""
    return Wanted(figures={"outcome": "ran", **figures})


def skipped(**figures: Any) -> Wanted:
    """A pass was skipped."""
    return Wanted(figures={"outcome": "skipped", **figures})


def cards(*found: Card) -> Wanted:
    """A list shows exactly these."""
    return Wanted(cards=found)


def cards_about(analyzers: str, *found: Card) -> Wanted:
    """Of these analyzers (short names with blanks between) a list shows exactly these."""
    return Wanted(cards=found, about=frozenset(analyzers.split()))


def card(
    analyzer: str,
    severity: str,
    target: str,
    count: int | None = None,
    *,
    status: str = "pending",
    removal: bool = False,
) -> Card:
    """One card."""
    return Card(analyzer, severity, status, target, removal, count)


def live(*values: str) -> Wanted:
    """Exactly these values are live."""
    return Wanted(live=tuple(sorted(values)))


def kept(value: str, **fields: Any) -> Wanted:
    """Exactly one value is live, and it has these fields."""
    return Wanted(live=(value,), kept=fields)


def same_as(step: int) -> Wanted:
    """The same is live as at another step."""
    return Wanted(same_as=step)


def done(status: str) -> Wanted:
    """A decision is made."""
    return Wanted(status=status)


#: The step may answer whatever it does.
ANYTHING = Wanted()

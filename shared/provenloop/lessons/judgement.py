"""Judging an armed card by what happened while it was present.

The only ratio is violations of those cases in which its scenario fired: violations / (violations + suppressed). Samples
are exposure, and never a denominator.
"""

from __future__ import annotations

from dataclasses import dataclass

from provenloop.domain.instants import DAY_MS
from provenloop.lessons.actions import EngineStep
from provenloop.lessons.card import Card
from provenloop.lessons.settings import LessonSettings


@dataclass(frozen=True, slots=True)
class Tally:
    """What was counted since a card was armed last."""

    violations: int
    suppressed: int
    samples: int

    @property
    def fired(self) -> int:
        """How often the scenario fired."""
        return self.violations + self.suppressed

    @property
    def ratio(self) -> float | None:
        """The part of the cases in which it was broken; None where it never fired."""
        return self.violations / self.fired if self.fired else None


def tally_of(card: Card) -> Tally:
    """What the judgement counts of a card."""
    return Tally(
        card.violations - card.violations_before,
        card.suppressed - card.suppressed_before,
        card.samples - card.samples_before,
    )


def is_ready(card: Card) -> bool:
    """Whether a candidate waits for review: its reports became enough, or it came back."""
    return card.status == "candidate" and card.ready_at is not None


def step_due(card: Card, settings: LessonSettings) -> EngineStep | None:
    """The step that a card's reports are enough for and that it did not take yet: to be ready, or to come back."""
    if card.status == "candidate" and card.ready_at is None and card.reports >= settings.promote_threshold:
        return "ready"
    if card.status == "rejected" and card.since_rejection >= settings.revive_threshold:
        return "return"
    return None


def is_to_be_demoted(card: Card, settings: LessonSettings) -> bool:
    """Whether the machine demotes an armed card: it fires, and is broken more often than followed."""
    tally = tally_of(card)
    return (
        card.status == "armed"
        and tally.suppressed > 0
        and tally.violations >= settings.demote_threshold
        and tally.fired >= settings.demote_min_samples
        and tally.ratio is not None
        and tally.ratio >= settings.demote_ratio
    )


def is_undeterminable(card: Card, settings: LessonSettings, now: int) -> bool:
    """Whether only a person can judge an armed card: nobody was ever seen to follow it.

    It stays armed. That it is broken does not make the window of ``decay_days`` begin anew; one pass clears it.
    """
    tally = tally_of(card)
    if card.status != "armed" or tally.suppressed > 0:
        return False
    return tally.violations >= settings.demote_threshold or now - clean_since(card) > settings.decay_days * DAY_MS


def clean_since(card: Card) -> int:
    """From when on an armed card had no clean hit (epoch ms): its last one, or its arming."""
    return max(card.armed_at or card.created_at, card.clean_at or 0)

"""What became of a rule: how often its mistake was reported before it was armed and after, in the words of the loop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from provenloop.domain.instants import DAY_MS
from provenloop.lessons.card import Card
from provenloop.lessons.judgement import tally_of

RuleVerdict = Literal["held", "regressed", "inconclusive"]
#: From which part of the earlier rate on a mistake counts as come back.
REGRESSED_FROM = 0.5


@dataclass(frozen=True, slots=True)
class RuleOutcome:
    """Reports before a card was armed last, and since then what its sessions counted; days are at least one.

    ``exposure`` is how often the rule was there or its scenario fired. ``reduced``: broken since, but more rarely.
    """

    reports_before: int
    days_before: float
    violations: int
    suppressed: int
    samples: int
    exposure: int
    days_since: float
    verdict: RuleVerdict
    reduced: bool


def outcome_of(card: Card, now: int) -> RuleOutcome | None:
    """The outcome of a card that was armed once; None of one that never was."""
    if card.armed_at is None:
        return None
    tally = tally_of(card)
    ended_at = now if card.status == "armed" else max(card.changed_at or now, card.armed_at)
    days_before = max(card.armed_at - card.created_at, DAY_MS) / DAY_MS
    days_since = max(ended_at - card.armed_at, DAY_MS) / DAY_MS
    before = max(card.reports - tally.violations, 0)
    exposure = tally.samples + tally.fired
    is_back = tally.violations / days_since >= REGRESSED_FROM * before / days_before
    verdict: RuleVerdict = "regressed" if tally.violations and is_back else "held" if exposure else "inconclusive"
    return RuleOutcome(
        before,
        round(days_before, 2),
        tally.violations,
        tally.suppressed,
        tally.samples,
        exposure,
        round(days_since, 2),
        verdict,
        reduced=verdict == "held" and tally.violations > 0,
    )

"""What is measured. ``shared/REFLECTION.md`` says in words what each figure is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from tests.reflection.corpus import LABELS
from tests.reflection.run import Fate, Outcome

#: A wrong finding costs what two right ones gain.
COST_OF_WRONG = 2
THRESHOLDS = (0.0, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)
STAGES = ("offered", "claimed", "grounded", "kept", "out")


@dataclass(frozen=True)
class Quality:
    """Of ``of`` proposals that could be made, ``sound`` of them sound: how many right and wrong ones came out."""

    of: int
    sound: int
    right: int
    wrong: int

    @property
    def precision(self) -> float:
        """Share of right ones of what came out; 1 where nothing did."""
        return self.right / (self.right + self.wrong) if self.right + self.wrong else 1.0

    @property
    def recall(self) -> float:
        """Share of what is sound that came out."""
        return self.right / self.sound

    @property
    def reliability(self) -> float:
        """Effective reliability: +1 for each right one, -2 for each wrong one, per proposal that could be made."""
        return (self.right - COST_OF_WRONG * self.wrong) / self.of


@dataclass(frozen=True)
class Kept:
    """What is kept from a confidence on, and how much of it is wrong."""

    threshold: float
    kept: int
    wrong: int


def fates_of(outcomes: Iterable[Outcome]) -> list[Fate]:
    """All of them."""
    return [fate for outcome in outcomes for fate in outcome.fates]


def quality(outcomes: Sequence[Outcome]) -> Quality:
    """What came out. What nobody labelled is wrong."""
    fates = fates_of(outcomes)
    out = [fate for fate in fates if fate.out]
    right = sum(fate.draft.is_right for fate in out)
    unknown = sum(len(outcome.unknown) for outcome in outcomes)
    return Quality(len(fates), sum(fate.draft.is_right for fate in fates), right, len(out) - right + unknown)


def by_stage(outcomes: Sequence[Outcome]) -> dict[str, dict[str, int]]:
    """How many of each label came how far."""
    fates = fates_of(outcomes)
    return {
        label: {stage: sum(getattr(fate, stage) for fate in fates if fate.draft.label == label) for stage in STAGES}
        for label in LABELS
    }


def at_thresholds(outcomes: Sequence[Outcome]) -> list[Kept]:
    """What would come out at each of the thresholds, of all that VERIFY would keep."""
    kept = [fate for fate in fates_of(outcomes) if fate.kept]
    return [_at(threshold, [fate for fate in kept if fate.confidence >= threshold]) for threshold in THRESHOLDS]


def _at(threshold: float, kept: Sequence[Fate]) -> Kept:
    return Kept(threshold, len(kept), sum(not fate.draft.is_right for fate in kept))


def area(outcomes: Sequence[Outcome]) -> float:
    """Area under the curve of risk over coverage, as a mean: of the risks of the surest one, the two surest, and so on
    to all that VERIFY would keep. Were confidence to say nothing, it would be about the risk of all of them.
    """
    kept = sorted((fate for fate in fates_of(outcomes) if fate.kept), key=lambda fate: -fate.confidence)
    wrong = accumulate(not fate.draft.is_right for fate in kept)
    risks = [count / many for many, count in enumerate(wrong, start=1)]
    return sum(risks) / len(risks) if risks else 0.0


def used(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """Calls, tokens and nano-dollars, for each memory on average."""
    rows = [row for outcome in outcomes for row in outcome.reflected.rows]
    many = len(outcomes)
    return {
        "calls": round(len(rows) / many, 2),
        "prompt_tokens": round(sum(row.usage.prompt_tokens for row in rows) / many),
        "answer_tokens": round(sum(row.usage.output_tokens for row in rows) / many),
        "nano_usd": round(sum(row.cost_nano_usd or 0 for row in rows) / many),
    }

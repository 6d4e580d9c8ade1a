"""How well findings agree with labels: per analyzer, precision and recall over all its cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from tests.precision.bench.cases import Case

MIN_PRECISION = 0.98
MIN_RECALL = 0.95


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found in a case."""

    case: Case
    found: Counter[str]

    @property
    def right(self) -> Counter[str]:
        """Findings that are expected."""
        return self.found & Counter(self.case.expected)

    @property
    def extra(self) -> Counter[str]:
        """Findings that are not expected, or are there once more: each a false positive."""
        return self.found - Counter(self.case.expected)

    @property
    def missing(self) -> Counter[str]:
        """Expected findings that are not there: each a false negative."""
        return Counter(self.case.expected) - self.found


@dataclass(frozen=True, slots=True)
class Score:
    """Figures of one analyzer. Findings are counted, and negatives in which nothing was found."""

    analyzer: str
    positives: int
    negatives: int
    tp: int
    fp: int
    fn: int
    tn: int

    @property
    def precision(self) -> float:
        """Right findings of all findings; 1 where there are none."""
        return self.tp / (self.tp + self.fp) if self.tp + self.fp else 1.0

    @property
    def recall(self) -> float:
        """Right findings of all that should be there; 1 where there are none."""
        return self.tp / (self.tp + self.fn) if self.tp + self.fn else 1.0

    @property
    def passes(self) -> bool:
        """Whether both figures reach the gate."""
        return self.precision >= MIN_PRECISION and self.recall >= MIN_RECALL


def score(analyzer: str, verdicts: Iterable[Verdict]) -> Score:
    """Count."""
    seen = list(verdicts)
    negatives = [verdict for verdict in seen if not verdict.case.is_positive]
    return Score(
        analyzer,
        positives=len(seen) - len(negatives),
        negatives=len(negatives),
        tp=sum(verdict.right.total() for verdict in seen),
        fp=sum(verdict.extra.total() for verdict in seen),
        fn=sum(verdict.missing.total() for verdict in seen),
        tn=sum(not verdict.found for verdict in negatives),
    )

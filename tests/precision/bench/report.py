"""What is printed of a run, and the table that README.md shows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.precision.bench.score import MIN_PRECISION, MIN_RECALL, Score, Verdict

README = Path(__file__).parents[3] / "README.md"
_ROW = re.compile(r"\| [a-z_]+ \| \d+ \+ \d+ \| [01]\.\d{3} \| [01]\.\d{3} \|")
HEAD = f"{'analyzer':<20}{'positive':>9}{'negative':>9}{'TP':>5}{'FP':>5}{'FN':>5}{'TN':>5}  precision  recall"


def line(found: Score) -> str:
    """One analyzer."""
    figures = f"{found.positives:>9}{found.negatives:>9}{found.tp:>5}{found.fp:>5}{found.fn:>5}{found.tn:>5}"
    gate = "" if found.passes else f"  below {MIN_PRECISION} or {MIN_RECALL}"
    return f"{found.analyzer:<20}{figures}{found.precision:>11.3f}{found.recall:>8.3f}{gate}"


def wrong(verdict: Verdict) -> Iterator[str]:
    """What is wrong with a case, if anything."""
    where = f"  {verdict.case.analyzer} [{verdict.case.tries}] {verdict.case.name}"
    for finding in sorted(verdict.extra):
        yield f"{where}: found {finding!r}, which is not expected"
    for finding in sorted(verdict.missing):
        yield f"{where}: {finding!r} is missing"


def waiting(analyzer: str, cases: int) -> str:
    """An analyzer that no pass runs yet."""
    return f"{analyzer:<20} waiting: no pass runs it yet; {cases} cases"


def row(found: Score) -> str:
    """One row of the table in README.md."""
    return f"| {found.analyzer} | {found.positives} + {found.negatives} | {found.precision:.3f} | {found.recall:.3f} |"


def rows_of(readme: str) -> list[str]:
    """The rows of that table."""
    return [text for text in readme.splitlines() if _ROW.fullmatch(text)]


def differences(scores: Sequence[Score], readme: Path = README) -> list[str]:
    """In what README.md says otherwise."""
    said, found = rows_of(readme.read_text(encoding="utf-8")), [row(one) for one in scores]
    return [f"README.md should say {text}" for text in found if text not in said] + [
        f"README.md should not say {text}" for text in said if text not in found
    ]

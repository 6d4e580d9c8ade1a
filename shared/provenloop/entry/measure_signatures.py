"""How well error signatures group labelled lines: ``python -m provenloop.entry.measure_signatures <folder>``.

Each CSV of the folder has the columns ``message`` and ``group``, the true template of the line. Figures per set, and
their means: grouping accuracy (the share of lines whose predicted cluster has exactly the members of the true one, as
Loghub defines it), precision and recall over pairs of lines, and microseconds a line.
"""

from __future__ import annotations

import csv
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from provenloop.domain.signature import signature_of

_FIGURES = ("accuracy", "precision", "recall", "us_a_line")


@dataclass(frozen=True, slots=True)
class Line:
    """One labelled line."""

    message: str
    group: str


@dataclass(frozen=True, slots=True)
class Score:
    """Figures of one set; all but the last lie in 0..1."""

    groups: int
    clusters: int
    accuracy: float
    precision: float
    recall: float
    us_a_line: float


def score(lines: Sequence[Line], *, clock: Callable[[], float] = time.perf_counter) -> Score:
    """Group the lines by signature and compare with their labels. ``clock`` gives seconds."""
    begun = clock()
    predicted = [signature_of(line.message).hash for line in lines]
    us_a_line = (clock() - begun) / max(len(lines), 1) * 1e6
    truth, clusters = _members([line.group for line in lines]), _members(predicted)
    exact = set(truth.values())
    both = Counter(zip((line.group for line in lines), predicted, strict=True))
    shared = sum(_pairs(count) for count in both.values())
    return Score(
        groups=len(truth),
        clusters=len(clusters),
        accuracy=sum(len(cluster) for cluster in clusters.values() if cluster in exact) / max(len(lines), 1),
        precision=_share(shared, sum(_pairs(len(cluster)) for cluster in clusters.values())),
        recall=_share(shared, sum(_pairs(len(group)) for group in truth.values())),
        us_a_line=us_a_line,
    )


def read_lines(path: Path) -> list[Line]:
    """The labelled lines of one CSV file.

    Raises:
        KeyError: a column is missing.
    """
    with path.open(encoding="utf-8", newline="") as file:
        return [Line(row["message"], row["group"]) for row in csv.DictReader(file)]


def main(arguments: Sequence[str]) -> int:
    """Print a table of all sets of a folder; 2 where there is none to read."""
    paths = sorted(Path(arguments[0]).glob("*.csv")) if len(arguments) == 1 else []
    if not paths:
        sys.stderr.write("usage: python -m provenloop.entry.measure_signatures <folder of CSV files: message, group>\n")
        return 2
    scores = {path.stem: score(read_lines(path)) for path in paths}
    sys.stdout.write(
        f"{'set':<14}{'groups':>8}{'clusters':>10}{'accuracy':>10}{'precision':>11}{'recall':>8}{'us':>6}\n"
    )
    for name, found in scores.items():
        sys.stdout.write(f"{name:<14}{found.groups:>8}{found.clusters:>10}{_row(found)}\n")
    means = {figure: fmean(getattr(found, figure) for found in scores.values()) for figure in _FIGURES}
    sys.stdout.write(f"{'mean':<32}{_row(Score(groups=0, clusters=0, **means))}\n")
    return 0


def _members(labels: Sequence[str]) -> dict[str, tuple[int, ...]]:
    members: defaultdict[str, list[int]] = defaultdict(list)
    for index, label in enumerate(labels):
        members[label].append(index)
    return {label: tuple(indices) for label, indices in members.items()}


def _pairs(count: int) -> int:
    return count * (count - 1) // 2


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


def _row(found: Score) -> str:
    return f"{found.accuracy:>10.3f}{found.precision:>11.4f}{found.recall:>8.3f}{found.us_a_line:>6.0f}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""How well the guards tell look-alikes from paraphrases: ``python -m provenloop.entry.measure_look_alikes <file>``.

The file is JSON: ``negative`` maps a kind of look-alike to its pairs, every other name holds a list of pairs that mean
the same; a pair is a list of two texts. Figures for each kind of look-alike: how many pairs would be merged as
near-duplicates, and how many no guard tells apart; for each list of paraphrases: how many a guard keeps apart, and why.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from provenloop.domain.look_alikes import differences
from provenloop.domain.near_duplicates import similarity

#: Share of common tokens from which two texts without a differing guard are near-duplicates.
THRESHOLD = Fraction(9, 10)

Pair = tuple[str, str]
_LOOK_ALIKES = "negative"


@dataclass(frozen=True, slots=True)
class Pairs:
    """Labelled pairs by kind: texts that look alike and differ, texts that mean the same."""

    look_alikes: Mapping[str, Sequence[Pair]]
    paraphrases: Mapping[str, Sequence[Pair]]


@dataclass(frozen=True, slots=True)
class Score:
    """Figures of one kind of pairs: how many there are, would be merged, are told apart by a guard, and by which."""

    pairs: int
    merged: int
    vetoed: int
    reasons: Mapping[str, int]


def score(pairs: Iterable[Pair]) -> Score:
    """Count what the guards say of pairs, and how many pairs are near-duplicates at ``THRESHOLD``."""
    reasons: Counter[str] = Counter()
    count = merged = vetoed = 0
    for left, right in pairs:
        found = differences(left, right)
        count += 1
        vetoed += bool(found)
        merged += not found and similarity(left, right) >= THRESHOLD
        reasons.update(found)
    return Score(count, merged, vetoed, reasons)


def read_pairs(path: Path) -> Pairs:
    """The labelled pairs of one file.

    Raises:
        ValueError: the file is not of the form that the module describes.
        OSError: it cannot be read.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        look_alikes = {kind: _pairs(pairs) for kind, pairs in found.pop(_LOOK_ALIKES).items()}
        return Pairs(look_alikes, {kind: _pairs(pairs) for kind, pairs in found.items()})
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"{path.name} holds no labelled pairs: {error!r}") from error


def main(arguments: Sequence[str], *, clock: Callable[[], float] = time.perf_counter) -> int:
    """Print the figures of a file; 1 where a look-alike would be merged, 2 where there is nothing to read."""
    try:
        pairs = read_pairs(Path(arguments[0])) if len(arguments) == 1 else None
    except (OSError, ValueError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    if pairs is None:
        sys.stderr.write("usage: python -m provenloop.entry.measure_look_alikes <JSON file of labelled pairs>\n")
        return 2
    begun = clock()
    look_alikes = {kind: score(of_kind) for kind, of_kind in pairs.look_alikes.items()}
    paraphrases = {kind: score(of_kind) for kind, of_kind in pairs.paraphrases.items()}
    spent = clock() - begun
    merged = _print_look_alikes(look_alikes)
    _print_paraphrases(paraphrases)
    count = sum(found.pairs for found in (*look_alikes.values(), *paraphrases.values()))
    sys.stdout.write(f"\n{spent / max(count, 1) * 1e6:.0f} us a pair\n")
    return 1 if merged else 0


def _pairs(found: Iterable[Sequence[str]]) -> list[Pair]:
    return [(left, right) for left, right in found]


def _print_look_alikes(scores: Mapping[str, Score]) -> int:
    """The table of look-alikes; returns how many would be merged."""
    sys.stdout.write(f"{'look-alikes':<16}{'pairs':>7}{f'merged at {float(THRESHOLD)}':>15}{'no guard':>10}\n")
    totals = [0, 0, 0]
    for kind, found in scores.items():
        row = found.pairs, found.merged, found.pairs - found.vetoed
        totals = [total + figure for total, figure in zip(totals, row, strict=True)]
        sys.stdout.write(f"{kind:<16}{row[0]:>7}{row[1]:>15}{row[2]:>10}\n")
    sys.stdout.write(f"{'all':<16}{totals[0]:>7}{totals[1]:>15}{totals[2]:>10}\n")
    return totals[1]


def _print_paraphrases(scores: Mapping[str, Score]) -> None:
    sys.stdout.write(f"\n{'paraphrases':<16}{'pairs':>7}{'vetoed':>15}  by\n")
    for kind, found in scores.items():
        by = ", ".join(f"{reason} {count}" for reason, count in sorted(found.reasons.items()))
        sys.stdout.write(f"{kind:<16}{found.pairs:>7}{found.vetoed:>15}  {by}".rstrip() + "\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Figures: what the ladder would do with each question, at every threshold."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from provenloop.adapters.wordllama_embedder import WordllamaEmbedder
from provenloop.recipes.bands import band_of
from provenloop.recipes.decide import Band, Candidate, Decision, decide
from provenloop.recipes.normalise import normalise

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tests.recipes_bench.data_sets import Pairs, Questions

K = 5
THRESHOLDS = (0.75, 0.80, 0.85, 0.88, 0.90, 0.92, 0.94, 0.96, 0.98)
EMBEDDER = WordllamaEmbedder()
BAND = band_of(EMBEDDER.tag)
#: Serves nothing, so that every candidate is told with its reasons.
_NOTHING_SERVED = replace(BAND, threshold=2.0)


@dataclass(frozen=True)
class Row:
    """What becomes of the questions of one set at one threshold; ``first`` are the nearest offered, right and wrong."""

    threshold: float
    served: int
    right: int
    composer: int
    missed: int

    @property
    def precision(self) -> float:
        """Share of right ones among those served; 1 where none was."""
        return self.right / self.served if self.served else 1.0


@dataclass(frozen=True)
class Offered:
    """Of all questions: how many have the right recipe nearest in the band, another one, or the right one in it."""

    first_right: int
    first_wrong: int
    anywhere: int


@dataclass(frozen=True)
class Judged:
    """One question: the exact hit if any, and the candidates in the band: similarity, right or not, may be served."""

    exact: bool | None
    candidates: tuple[tuple[float, bool, bool], ...]


def judge(questions: Questions) -> list[Judged]:
    """What the ladder finds for each question, with the ``K`` nearest as candidates."""
    exact = {normalise(text): answer for text, answer in questions.stored}
    stored = _matrix(text for text, _ in questions.stored)
    asked = _matrix(text for text, _ in questions.asked)
    found = []
    for place, (text, answer) in enumerate(questions.asked):
        hit = exact.get(normalise(text))
        near = stored @ asked[place]
        nearest = np.argsort(-near, kind="stable")[:K]
        candidates = [
            Candidate(f"{number:06}", questions.stored[number][0], questions.stored[number][1], float(near[number]))
            for number in nearest
        ]
        offered = decide(text, candidates, _NOTHING_SERVED).offered
        found.append(
            Judged(
                None if hit is None else hit == answer,
                tuple(
                    (each.candidate.similarity, each.candidate.answer == answer, each.reasons == ("similarity",))
                    for each in offered
                ),
            )
        )
    return found


def at_threshold(judged: Sequence[Judged], threshold: float) -> Row:
    """The figures at one threshold; exact hits are left out, for they need none."""
    counts: Counter[str] = Counter()
    for each in judged:
        if each.exact is not None:
            continue
        served = next((right for near, right, free in each.candidates if free and near >= threshold), None)
        if served is not None:
            counts["served"] += 1
            counts["right"] += served
        else:
            counts["composer" if each.candidates else "missed"] += 1
    return Row(threshold, counts["served"], counts["right"], counts["composer"], counts["missed"])


def offered(judged: Iterable[Judged]) -> Offered:
    """Whether the right recipe is in the serve-or-compose band, exact hits among the right ones."""
    first_right = first_wrong = anywhere = 0
    for each in judged:
        if each.exact is not None:
            first_right += each.exact
            first_wrong += not each.exact
            anywhere += each.exact
        elif each.candidates:
            first_right += each.candidates[0][1]
            first_wrong += not each.candidates[0][1]
            anywhere += any(right for _, right, _ in each.candidates)
    return Offered(first_right, first_wrong, anywhere)


@dataclass(frozen=True)
class PairRow:
    """One kind of pairs: how many there are, are served, go to the composer, and are missed."""

    kind: str
    pairs: int
    served: int
    composer: int
    missed: int


def of_pairs(kind: str, pairs: Sequence[tuple[str, str]], band: Band = BAND) -> PairRow:
    """Each pair in a store of its own, stored and asked either way round: the bolder of the two decisions counts."""
    counts = Counter(_bolder(decided(left, right, band), decided(right, left, band)) for left, right in pairs)
    return PairRow(kind, len(pairs), counts["served"], counts["composer"], counts["miss"])


def pair_rows(pairs: Pairs, band: Band = BAND) -> tuple[PairRow, list[PairRow]]:
    """Of the pairs that mean the same, and of each kind of look-alikes."""
    return (
        of_pairs("the same", pairs.same, band),
        [of_pairs(kind, found, band) for kind, found in pairs.look_alikes.items()],
    )


def decided(stored: str, asked: str, band: Band = BAND) -> str:
    """What becomes of a request where one recipe is stored."""
    if normalise(stored) == normalise(asked):
        return "served"
    left, right = EMBEDDER.embed([stored, asked])
    near = float(np.dot(left, right))
    decision: Decision = decide(asked, [Candidate("r", stored, "r", near)], band)
    return decision.outcome


def _bolder(one: str, other: str) -> str:
    return min(one, other, key=("served", "composer", "miss").index)


def _matrix(texts: Iterable[str]) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    return np.asarray(EMBEDDER.embed(list(texts)), dtype=np.float32)

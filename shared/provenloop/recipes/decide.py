"""What becomes of a request for which candidates were found: served, offered to the composer, or missed.

Cosine ranks candidates, it cannot decide. One is served only where it reaches the threshold, no look-alike guard
speaks, the words say no more and nothing else, and no candidate with another answer is nearly as close. Whatever
is not served and reaches the floor goes to the composer, with the reasons.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from provenloop.domain.look_alikes import REASONS as GUARD_REASONS
from provenloop.domain.look_alikes import Reading, differing, read
from provenloop.domain.recipe import Recipe
from provenloop.recipes.script import bigram_similarity, is_latin
from provenloop.recipes.wording import REASONS as WORDING_REASONS
from provenloop.recipes.wording import differences as wording

#: Longer texts are matched exactly only: a vector of so many words says nothing of the one that matters.
MAX_SEMANTIC_CHARS = 4_000
#: Share of common pairs of characters from which a text outside Latin script goes to the composer.
BIGRAM_FLOOR = 0.15

#: Why a candidate was not served, in the order in which reasons are told: those of the guards and of the wording;
#: another answer nearly as close; too low a similarity; a script that is not served by similarity.
REASONS = (*GUARD_REASONS, *WORDING_REASONS, "rival", "similarity", "script")

Outcome = Literal["served", "composer", "miss"]


def wants_vector(recipe: Recipe, space: str | None) -> bool:
    """Whether a recipe ought to have a vector of a space and has none; None stands for a space that none has."""
    return recipe.status == "live" and space not in recipe.spaces and len(recipe.request) <= MAX_SEMANTIC_CHARS


@dataclass(frozen=True, slots=True)
class Band:
    """The settings of one embedding space, all cosines.

    Served from ``threshold``, with no other answer within ``margin``; offered to the composer from ``floor``.
    """

    threshold: float
    floor: float
    margin: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """A live recipe near the request; ``answer`` is equal for recipes that answer the same (a digest will do)."""

    recipe_id: str
    request: str
    answer: str
    similarity: float


@dataclass(frozen=True, slots=True)
class Judged:
    """A candidate with the reasons for which it may not be served as it is, in the order of ``REASONS``."""

    candidate: Candidate
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Decision:
    """``served`` may be answered with; otherwise ``offered`` are for the composer, the nearest first."""

    outcome: Outcome
    served: Candidate | None = None
    offered: tuple[Judged, ...] = ()


def decide(request: str, candidates: Sequence[Candidate], band: Band) -> Decision:
    """What becomes of a request; candidates may come in any order.

    A similarity that is no number, or no candidate at all, is a miss.
    """
    if len(request) > MAX_SEMANTIC_CHARS:
        return Decision("miss")
    near = [candidate for candidate in candidates if len(candidate.request) <= MAX_SEMANTIC_CHARS]
    judged = _judged(request, near, band)
    served = next((each.candidate for each in judged if not each.reasons), None)
    if served is not None:
        return Decision("served", served)
    return Decision("composer", offered=judged) if judged else Decision("miss")


def _judged(request: str, candidates: Sequence[Candidate], band: Band) -> tuple[Judged, ...]:
    """Those that reach a floor, the nearest first; of equally near ones the one with the smaller id."""
    reading, is_foreign = read(request), not is_latin(request)
    found: list[tuple[float, Judged]] = []
    for candidate in candidates:
        if is_foreign or not is_latin(candidate.request):
            near = bigram_similarity(request, candidate.request)
            reasons: tuple[str, ...] = ("script",)
            is_near = near >= BIGRAM_FLOOR
        else:
            near, reasons = candidate.similarity, _reasons(candidate, candidates, band)
            is_near = near >= band.floor
        if is_near:
            found.append((near, Judged(candidate, (*_told_apart(reading, candidate.request), *reasons))))
    found.sort(key=lambda each: (-each[0], each[1].candidate.recipe_id))
    return tuple(judged for _, judged in found)


def _told_apart(reading: Reading, request: str) -> tuple[str, ...]:
    other = read(request)
    return (*differing(reading, other), *wording(reading, other))


def _reasons(candidate: Candidate, candidates: Sequence[Candidate], band: Band) -> tuple[str, ...]:
    has_rival = any(
        rival.answer != candidate.answer and candidate.similarity - rival.similarity < band.margin
        for rival in candidates
    )
    is_far = candidate.similarity < band.threshold
    return (*(("rival",) if has_rival else ()), *(("similarity",) if is_far else ()))

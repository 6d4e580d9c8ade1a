"""Ranks texts for a question, in the manner of BM25, with a floor below which a text is no answer.

Invariants: the ranking is a function of the texts, the question and the number of texts each term is in; neither the
order of the texts nor the size of memory enters. Equal scores are ordered by address.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log

_K1 = 1.2
_B = 0.75
#: Terms of a text of usual length; a constant, so that no other text moves a score.
_USUAL_TERMS = 12
#: In so many texts a term tells hardly anything.
_COMMON = 500
#: How much of a question, by weight of its terms, a text must hold: with two of the terms or more, or with one.
_FLOOR = 0.4
_FLOOR_OF_ONE = 0.5


@dataclass(frozen=True, slots=True)
class Ranked:
    """A text that answers, and how well."""

    address: str
    score: float


def weight(texts: int) -> float:
    """How much a term tells that is in so many texts of a namespace; one that is in none tells most."""
    return log(1 + (_COMMON + 0.5) / (texts + 0.5))


def ranked(
    question: Sequence[str], texts: Mapping[str, Sequence[str]], counts: Mapping[str, int], limit: int
) -> tuple[Ranked, ...]:
    """The best answers, best first, at most ``limit``.

    Args:
        question: the question's terms.
        texts: terms of each candidate, by its address.
        counts: in how many texts of the namespace each term of the question is.
        limit: how many are wanted.
    """
    weights = {term: weight(counts.get(term, 0)) for term in dict.fromkeys(question)}
    found = [
        Ranked(address, _score(weights, terms)) for address, terms in texts.items() if _is_answer(weights, set(terms))
    ]
    return tuple(sorted(found, key=lambda one: (-one.score, one.address))[:limit])


def _is_answer(weights: Mapping[str, float], terms: set[str]) -> bool:
    """A single word of several asked for is an answer only when it tells as much as all the others together."""
    held = [weight for term, weight in weights.items() if term in terms]
    if not held:
        return False
    return sum(held) >= sum(weights.values()) * (_FLOOR if len(held) > 1 else _FLOOR_OF_ONE)


def _score(weights: Mapping[str, float], terms: Sequence[str]) -> float:
    times = Counter(term for term in terms if term in weights)
    length = _K1 * (1 - _B + _B * len(terms) / _USUAL_TERMS)
    return sum(weight * times[term] * (_K1 + 1) / (times[term] + length) for term, weight in weights.items())

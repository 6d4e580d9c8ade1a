"""Whether two requests differ by a word that tells something.

Stricter than what tells near-duplicates apart: whoever serves a stored answer must not swap "user" for "customer",
however common both are. Only words that hold a sentence together tell nothing; words of one meaning, forms and
spellings of one word count as one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

from provenloop.domain.look_alikes import Reading
from provenloop.domain.look_alikes.guards import says
from provenloop.domain.look_alikes.stems import stem
from provenloop.recipes.synonyms import SYNONYMS, TELLS_NOTHING, TURNS

#: Raise with every change of a list or rule: thresholds were fitted with it.
VERSION = 1


def _form(word: str) -> str:
    """The stem, also of short words: ``use``, ``uses`` and ``using`` have one."""
    return stem(word).removesuffix("e")


def _groups() -> Mapping[str, frozenset[int]]:
    """Stem -> numbers of the groups of one meaning that it is in."""
    found: dict[str, set[int]] = {}
    for number, line in enumerate(SYNONYMS.strip().splitlines()):
        for word in line.split():
            found.setdefault(_form(word), set()).add(number)
    return {word: frozenset(numbers) for word, numbers in found.items()}


_GROUPS = _groups()
#: Reason codes, in the order in which they are told.
REASONS = ("wording", "extra")
#: Share of a text's telling words by which it may say more: one in seven.
MAX_EXTRA = 0.15
_EMPTY = frozenset(TELLS_NOTHING.split())
_TURNS = frozenset(TURNS.split())


def own_words(own: Reading, other: Reading) -> frozenset[str]:
    """The telling words of one text of which the other holds no form, spelling or word of one meaning."""
    joined = {*_joined(own, other), *map("".join, pairwise(other.words))}
    forms = frozenset(map(_form, other.words))
    meant = frozenset(group for word in other.words for group in _meanings(word))
    return frozenset(
        word
        for word in own.word_set - other.word_set
        if not (word in _EMPTY or word in joined or _form(word) in forms or says(other, word))
        and meant.isdisjoint(_meanings(word))
    )


def differences(left: Reading, right: Reading) -> tuple[str, ...]:
    """The codes of what the words of two texts differ in, in the order of ``REASONS``; the same either way round.

    ``wording`` where each has a telling word of its own, so that one may stand in the other's place; ``extra`` where
    one says more than the other, and not only a plain word among many.
    """
    more, fewer = sorted((own_words(left, right), own_words(right, left)), key=len, reverse=True)
    if fewer:
        return ("wording",)
    telling = max(len(left.word_set - _EMPTY), len(right.word_set - _EMPTY), 1)
    return ("extra",) if len(more) > MAX_EXTRA * telling or not _TURNS.isdisjoint(more) else ()


def _meanings(word: str) -> frozenset[int]:
    return _GROUPS.get(_form(word), frozenset())


def _joined(own: Reading, other: Reading) -> Iterator[str]:
    for pair in pairwise(own.words):
        if "".join(pair) in other.word_set:
            yield from pair

"""Whether two texts that are nearly alike put one telling word in the place of another.

No list of opposites or kinds is ever complete: "next to the bakery" and "next to the pharmacy" are two places, whatever
else the texts share. So where each text has a telling word of its own, they are no near-duplicates. A word more in one
of them is none of this, nor is another form, spelling or name of one word. Not among the guards, since a paraphrase may
well choose other words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from provenloop.domain.look_alikes.dates import CALENDAR
from provenloop.domain.look_alikes.guards import says
from provenloop.domain.look_alikes.numerals import NUMBER_WORDS, ORDINAL_WORDS
from provenloop.domain.look_alikes.reading import Reading
from provenloop.domain.look_alikes.stems import stem
from provenloop.domain.look_alikes.units import UNITS
from provenloop.domain.tokens import UNBROKEN
from provenloop.domain.tokens_frequent import FREQUENT

_SHORTEST = 2
_TELLS_NOTHING = FREQUENT.keys() | CALENDAR | NUMBER_WORDS | ORDINAL_WORDS.keys() | UNITS.keys()
_OTHERWISE_READ = re.compile(rf"[\d{UNBROKEN}]")
#: British and American spellings. Other letters tell words apart: "dinner" is no "diner".
_VARIANTS = (
    (re.compile(r"(?<=..)our"), "or"),
    (re.compile(r"(?<=...)[iy][sz](?=e|ing|ation)"), "iz"),
    (re.compile(r"(?<=...)tre\b"), "ter"),
    (re.compile(r"(?<=..)ence\b"), "ense"),
    (re.compile(r"(?<=...)ogue\b"), "og"),
    (re.compile(r"(?<=...)ll(?=ed\b|ing\b|er\b)"), "l"),
)


def swapped(left: Reading, right: Reading) -> bool:
    """Whether each text has a telling word of its own, in time linear in the texts.

    Numbers, dates and scripts without blanks are left to the guards.
    """
    return _has_own_word(left, right) and _has_own_word(right, left)


def _has_own_word(own: Reading, other: Reading) -> bool:
    missing = {word for word in own.word_set - other.word_set if _is_telling(word) and not says(other, word)}
    if not missing:
        return False
    spelled = set(_spelled(other.word_set))
    joined = {*_joined(own, other), *map("".join, pairwise(other.words))}
    return any(word not in joined and spelled.isdisjoint(_spelled([word])) for word in missing)


def _is_telling(word: str) -> bool:
    return len(word) >= _SHORTEST and word not in _TELLS_NOTHING and not _OTHERWISE_READ.search(word)


def _joined(own: Reading, other: Reading) -> Iterator[str]:
    """Words that the other text writes as one with a neighbour: ``e-mail`` for ``email``."""
    for pair in pairwise(own.words):
        if "".join(pair) in other.word_set:
            yield from pair


def _spelled(words: Iterable[str]) -> Iterator[str]:
    for word in words:
        form = word
        for pattern, replacement in _VARIANTS:
            form = pattern.sub(replacement, form)
        yield stem(form)

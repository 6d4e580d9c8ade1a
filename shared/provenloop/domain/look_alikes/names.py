"""What a text writes with capitals: names, acronyms, single letters and names of programs (``maxCost``, ``max_cost``).

Read from the text as it was written; everything else reads the normalised text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from provenloop.domain.look_alikes.dates import CALENDAR
from provenloop.domain.look_alikes.units import UNITS
from provenloop.domain.text import nfkc
from provenloop.domain.tokens import UNBROKEN
from provenloop.domain.tokens_frequent import FREQUENT

_LETTER = f"[^\\W\\d_{UNBROKEN}]"
_WORD = re.compile(rf"{_LETTER}+(?:_+{_LETTER}+)*")
_HUMP = re.compile(r"(?<=[^\W\d_A-Z])(?=[A-Z])")
_SENTENCE_END = (".", "!", "?", ":", ";", "\u3002")
_OPENING = "\"'([{*-#>\u201c\u2018\u00ab"
_CLOSING = "\"')]}\u201d\u2019\u00bb"
_DETERMINERS = frozenset("the a an my our your his her its their this that these those all any every each some".split())
_MIN_TITLE_WORDS = 4
_TITLE_CHARS = 4


class Names(NamedTuple):
    """Case-folded, but for ``letters``."""

    names: frozenset[str] = frozenset()
    #: Capitalised first words of sentences: names only where the other text says so too.
    starts: frozenset[str] = frozenset()
    letters: frozenset[str] = frozenset()
    acronyms: frozenset[str] = frozenset()
    #: Names of programs, as the words they are made of.
    compounds: frozenset[tuple[str, ...]] = frozenset()


def names_of(text: str) -> Names:
    """The names a text writes with capitals; none where capitals say nothing (a title, a text in capitals only)."""
    pieces = nfkc(text).split()
    found: dict[str, set[str]] = {"names": set(), "starts": set(), "letters": set(), "acronyms": set()}
    compounds: set[tuple[str, ...]] = set()
    telling = not _is_title(pieces)
    for index, piece in enumerate(pieces):
        if any(char.isdecimal() for char in piece):
            continue  # a number with its unit, or an identifier
        starts = index == 0 or pieces[index - 1].rstrip(_CLOSING).endswith(_SENTENCE_END)
        for place, match in enumerate(_WORD.finditer(piece)):
            word = match.group()
            parts = _parts(word)
            if len(parts) > 1:
                compounds.add(parts)
            elif telling and word[0].isupper():
                first = starts and place == 0 and not piece[: match.start()].strip(_OPENING)
                kind = _kind(word, first=first, following=pieces[index + 1 : index + 2])
                if kind:
                    found[kind].add(word.casefold() if kind != "letters" else word)
    return Names(**{kind: frozenset(words) for kind, words in found.items()}, compounds=frozenset(compounds))


def _kind(word: str, *, first: bool, following: Sequence[str]) -> str:
    folded = word.casefold()
    if len(word) == 1:
        return "" if first or word == "I" else "letters"
    if word.isupper():
        return "" if folded in UNITS else "acronyms"
    if folded in FREQUENT or folded in CALENDAR:
        return ""
    if not first:
        return "names"
    return "starts" if following and following[0].casefold() not in _DETERMINERS else ""


def _parts(word: str) -> tuple[str, ...]:
    """The words in a name of a program: ``max_cost``, ``maxCost``, ``MaxCost`` = max, cost."""
    return tuple(part.casefold() for chunk in word.split("_") if chunk for part in _HUMP.split(chunk))


def _is_title(pieces: Sequence[str]) -> bool:
    """Whether capitals are the style of the whole text and so name nothing."""
    cased = [piece for piece in pieces if piece.lower() != piece.upper()]
    if not any(char.islower() for piece in cased for char in piece):
        return True
    long = [piece.lstrip(_OPENING) for piece in cased if len(piece) >= _TITLE_CHARS]
    return len(long) >= _MIN_TITLE_WORDS and all(piece[:1].isupper() for piece in long)

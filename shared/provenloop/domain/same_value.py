"""Whether merging facts would alter a value: what has to hold before a merge may happen without a person.

Texts are the same where they differ in composition (NFC), in blanks, or in the case of words. The case of a word that
holds a digit is a value of its own (an identifier), and so is whatever else tells two characters apart: width,
ligatures, ``ß`` against ``ss``, dotted and dotless i. Every other field is equal, or only one side has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from provenloop.domain.grain import IDENTITY_FIELDS, Grain, text_of
from provenloop.domain.merging import CUT_NOTES, merged
from provenloop.domain.text import nfc, nfkc


def altered_by_merging(kept: Grain, others: Sequence[Grain]) -> str | None:
    """What stands against merging ``others`` into ``kept`` without a person; None where no value is altered."""
    grains = (kept, *others)
    if any(grain.kind != "fact" for grain in grains):
        return "only facts are compared word by word"
    if any(grain.namespace != kept.namespace for grain in grains):
        return "they are of different namespaces"
    if any(note in grain.body for grain in grains for note in CUT_NOTES):
        return "a text was stored cut, so nobody can tell what the rest says"
    fields = sorted({*_differing_texts(kept, others), *merged(kept, others).differing})
    return f"they differ in {', '.join(fields)}" if fields else None


def same_text(left: str, right: str) -> bool:
    """Whether two texts say the same to the letter, but for blanks and the case of words."""
    lefts, rights = nfc(left).split(), nfc(right).split()
    return len(lefts) == len(rights) and all(map(_same_word, lefts, rights))


def _differing_texts(kept: Grain, others: Sequence[Grain]) -> Iterator[str]:
    for name in IDENTITY_FIELDS["fact"]:
        if not all(same_text(text_of(kept, name), text_of(other, name)) for other in others):
            yield name


def _same_word(left: str, right: str) -> bool:
    if left == right:
        return True
    words = (left, right)
    if any(char.isnumeric() for word in words for char in word) or any(nfkc(word) != word for word in words):
        return False
    return _folded(left) == _folded(right)


def _folded(word: str) -> str:
    """Case folded letter by letter: no letter becomes two, as ``ß`` and the dotted I would."""
    return "".join(map(_folded_letter, word))


def _folded_letter(char: str) -> str:
    return next((form for form in (char.casefold(), char.lower()) if len(form) == 1), char)

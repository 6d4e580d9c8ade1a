"""The stem of an English word: enough to see ``stops``, ``stopped`` and ``stopping`` as forms of ``stop``."""

from __future__ import annotations

_MIN_CHARS = 4
_VOWELS = frozenset("aeiouy")


def stem(word: str) -> str:
    """A case-folded word without the ending of its form; words of other alphabets and short ones stay.

    The stem is a label to compare, not a word: ``enable`` -> ``enabl``, ``deny`` and ``denied`` -> ``deni``.
    """
    word = word.removesuffix("'s")
    if len(word) < _MIN_CHARS or not word.isascii():
        return word
    word = _without_ending(word)
    if word.endswith("e") and len(word) >= _MIN_CHARS:
        return word[:-1]
    return word[:-1] + "i" if word.endswith("y") and len(word) >= _MIN_CHARS - 1 else word


def _without_ending(word: str) -> str:
    if word.endswith(("ies", "ied")):
        return word[:-3] + "y"
    for ending in ("ing", "ed"):
        base = word.removesuffix(ending)
        if base != word and len(base) > 1 and not _VOWELS.isdisjoint(base) and base[-1:] != "e":
            return _undoubled(base)
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _undoubled(base: str) -> str:
    doubled = len(base) >= _MIN_CHARS and base[-1] == base[-2] and base[-1] not in "lsz"
    return base[:-1] if doubled else base

"""Texts mostly outside Latin script: the embedder says little of them, so pairs of characters are compared."""

from __future__ import annotations

from unicodedata import name

from provenloop.recipes.normalise import normalise


def is_latin(text: str) -> bool:
    """Whether at least half of the letters are Latin; a text without letters counts as Latin."""
    if text.isascii():
        return True
    letters = [char for char in text if char.isalpha()]
    latin = sum(char.isascii() or name(char, "").startswith(("LATIN ", "FULLWIDTH LATIN ")) for char in letters)
    return 2 * latin >= len(letters)


def bigram_similarity(left: str, right: str) -> float:
    """Share of common pairs of neighbouring characters, blanks aside: 0 to 1; 1 for spellings of one text."""
    pairs, others = _bigrams(left), _bigrams(right)
    return len(pairs & others) / len(pairs | others) if pairs or others else 1.0


def _bigrams(text: str) -> frozenset[str]:
    plain = "".join(normalise(text).split())
    return frozenset(plain[start : start + 2] for start in range(max(len(plain) - 1, 1 if plain else 0)))

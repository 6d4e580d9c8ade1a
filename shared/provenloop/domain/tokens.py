"""The set of tokens by which two texts are compared: words, and pairs of characters in scripts without blanks.

Invariants: equal for two spellings of one text (``text.normalise``), never empty, linear in the text's length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import blake2b

from provenloop.domain.text import normalise
from provenloop.domain.tokens_frequent import FREQUENT

#: Scripts written without blanks, and Hangul, whose particles are joined to the words: Thai, Lao, Burmese, Khmer,
#: kana, Han, Hangul.
UNBROKEN = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
    "\uf900-\ufaff\U00020000-\U0003ffff"
)
#: Marks that belong to the letter before: without them words of Arabic, Hebrew and Indic scripts come apart.
_MARKS = "\u0300-\u036f\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0900-\u0963\u0966-\u0dff"
_LETTER = rf"(?:(?![{UNBROKEN}_])\w|[{_MARKS}])"
#: One run of a script without blanks, or one word; an apostrophe within a word is part of it.
_RUN_OR_WORD = re.compile(rf"(?P<run>[{UNBROKEN}]++)|{_LETTER}++(?:'{_LETTER}++)*+")
_APOSTROPHES = str.maketrans("\u2018\u2019\u02bc", "'''")


def tokens(text: str) -> frozenset[str]:
    """Words, and pairs of neighbouring characters inside runs of a script without blanks (never across a gap).

    ``"Use S3, don't"`` = use, s3, don't; ``"喝茶 好"`` = 喝茶, 好. A text without any (emoji, ``???``) is one token,
    the whole normalised text, so that two of them are equal only when they are the same.
    """
    return frozenset(pieces(text)) or frozenset({normalise(text)})


def pieces(text: str) -> Iterator[str]:
    """The same words and pairs in the order of the text, with repetitions; none of a text of signs only."""
    for match in _RUN_OR_WORD.finditer(normalise(text).translate(_APOSTROPHES)):
        piece = match.group()
        if match["run"] is None or len(piece) == 1:
            yield piece
        else:
            yield from (piece[index : index + 2] for index in range(len(piece) - 1))


def rare_first(found: frozenset[str]) -> tuple[str, ...]:
    """The tokens in the committed order: those of no list by a fixed hash, then frequent words, the commonest last.

    The order depends on nothing that is stored, so that rows written at different times agree on it.
    """
    return tuple(sorted(found, key=_rank))


def _rank(token: str) -> tuple[int, bytes, str]:
    common = FREQUENT.get(token, 0)
    return common, b"" if common else blake2b(token.encode(), digest_size=8).digest(), token

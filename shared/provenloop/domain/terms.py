"""The terms by which texts are found: words, and pairs of characters in scripts without blanks.

Invariants: equal for two spellings of one text (``text.normalise``: NFC and NFD, any width, any case), in the order of
the text, linear in its length. Words that say nothing of what a text is about are left out, unless nothing else is
there. The plural of an English word is its singular, and nothing else is done to words.
"""

from __future__ import annotations

from provenloop.domain.text import normalise
from provenloop.domain.tokens import pieces

#: Words of a question or sentence that do not tell what it is about. No negation is among them.
STOP_WORDS = frozenset(
    """a about am an and any are as at be been by can could did do does for from had has have how i if in into is it its
    me my of on or our shall should so tell than that the their them there these they this those to us was we were what
    what's when where which who whom whose why will with would you your please""".split()
)
_SHORTEST_PLURAL = 4
_NO_PLURAL = ("ss", "us", "is")


def wording_of(question: str) -> str:
    """The form under which wordings of one question meet: its terms, each once and in a fixed order.

    ``"What is the refund policy?"`` = ``"policy refund"``. A question of signs only stays as it is.
    """
    return " ".join(sorted(set(terms_of(question)))) or normalise(question)


def terms_of(text: str) -> tuple[str, ...]:
    """What the text can be found by, with repetitions, in order.

    ``"Refund policies of S3"`` = refund, policy, s3; ``"喝茶了 好"`` = 喝茶, 茶了, 好 (never a pair across a gap).
    """
    found = tuple(map(_singular, pieces(text)))
    return tuple(term for term in found if term not in STOP_WORDS) or found


def _singular(word: str) -> str:
    if word in STOP_WORDS:
        return word
    word = word.removesuffix("'s")
    is_plural = (
        word.isascii() and len(word) >= _SHORTEST_PLURAL and word.endswith("s") and not word.endswith(_NO_PLURAL)
    )
    if is_plural and word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-1] if is_plural else word

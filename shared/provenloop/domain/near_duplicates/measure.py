"""Whether two texts are near-duplicates, and the postings by which a text finds those that may be."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from hashlib import sha256
from math import ceil, floor

from provenloop.domain import look_alikes
from provenloop.domain.look_alikes import Reading
from provenloop.domain.text import nfkc
from provenloop.domain.tokens import rare_first, tokens

#: Changes when the order of tokens or the form of postings does; part of every block, with the version of the guards.
VERSION = 1
#: A share in (0, 1]. A float counts by its decimal form: 0.9 is nine tenths.
Threshold = float | Decimal | Fraction


@dataclass(frozen=True, slots=True)
class Postings:
    """What is stored of one text, one row for each of ``prefix_tokens``.

    Attributes:
        block: hexadecimal; texts of different blocks are never near-duplicates.
        size: number of tokens, at least 1.
        prefix_tokens: the tokens to store it under and to look others up by, the rarest first.
        copy_of: hexadecimal, the same for texts that are the same but for the width of characters; copies count as one
            candidate.
        sizes: the least and the greatest size of a text that may match.
    """

    block: str
    size: int
    prefix_tokens: tuple[str, ...]
    copy_of: str
    sizes: tuple[int, int]

    def admits(self, stored: Postings) -> bool:
        """Whether a stored text may match: by block, size, and a shared prefix token."""
        least, greatest = self.sizes
        return (
            self.block == stored.block
            and least <= stored.size <= greatest
            and not set(self.prefix_tokens).isdisjoint(stored.prefix_tokens)
        )


def postings(text: str, threshold: Threshold) -> Postings:
    """What to store of a text, and how to look others up.

    Raises:
        ValueError: the threshold is not above 0 and at most 1.
    """
    return Text(text, exact(threshold)).postings


def qualifies(left: str, right: str, threshold: Threshold) -> bool:
    """Whether two texts are near-duplicates: tokens agree to the threshold, no guard tells them apart, and neither puts
    a telling word in the place of another one.

    Raises:
        ValueError: the threshold is not above 0 and at most 1.
    """
    share = exact(threshold)
    return Text(left, share).qualifies(Text(right, share))


def similarity(left: str, right: str) -> Fraction:
    """Shared tokens over all tokens of two texts, exactly; 1 for two spellings of one text."""
    mine, theirs = tokens(left), tokens(right)
    return Fraction(len(mine & theirs), len(mine | theirs))


def exact(threshold: Threshold) -> Fraction:
    """The threshold as an exact fraction, by its decimal form.

    Raises:
        ValueError: the threshold is not above 0 and at most 1.
    """
    share = Fraction(str(threshold))
    if not 0 < share <= 1:
        raise ValueError(f"the threshold must be above 0 and at most 1, not {threshold}")
    return share


def exact_form(text: str) -> str:
    """What every comparison of a text is made from: of texts with one exact form each is a copy of the others."""
    return nfkc(text)


class Text:
    """One text, and what is compared of it: ``postings`` for one threshold, its tokens, its reading by the guards."""

    def __init__(self, text: str, threshold: Fraction) -> None:
        self._text = text
        self._threshold = threshold
        self._tokens = tokens(text)
        self.postings = _postings(text, self._tokens, threshold)

    def qualifies(self, other: Text) -> bool:
        """:func:`qualifies` for the threshold of this text."""
        if not _agree(self._tokens, other._tokens, self._threshold):
            return False
        mine, theirs = self._reading, other._reading
        return not look_alikes.differing(mine, theirs) and not look_alikes.swapped(mine, theirs)

    @cached_property
    def _reading(self) -> Reading:
        # Only for texts of which a pair comes as far: it is many times as large as the text.
        return look_alikes.read(self._text)


def _postings(text: str, found: frozenset[str], threshold: Fraction) -> Postings:
    size = len(found)
    least = ceil(threshold * size)
    compared = f"{VERSION}.{look_alikes.VERSION}\n{look_alikes.guard_key(text)}"
    return Postings(
        block=sha256(compared.encode()).hexdigest(),
        size=size,
        prefix_tokens=rare_first(found)[: size - least + 1],
        copy_of=sha256(exact_form(text).encode()).hexdigest(),
        sizes=(least, floor(size / threshold)),
    )


def _agree(left: frozenset[str], right: frozenset[str], threshold: Fraction) -> bool:
    shared = len(left & right)
    return shared * threshold.denominator >= (len(left) + len(right) - shared) * threshold.numerator

"""Guards against look-alikes: a pair that differs in one of these respects is not a duplicate, however similar.

The guards read numbers, units, signs of comparison, negation, dates, identifiers, quoted text, names, the order of
words, what is asked, length, and word lists of opposites and of things of one kind. They know no model and no store.
"""

from __future__ import annotations

from provenloop.domain.look_alikes.guards import REASONS, differing, key
from provenloop.domain.look_alikes.reading import Reading, read
from provenloop.domain.look_alikes.swaps import swapped

__all__ = ["REASONS", "VERSION", "Reading", "differences", "differing", "guard_key", "key", "read", "swapped"]

#: Changes with every list or rule: keys of two versions do not compare.
VERSION = 1


def differences(left: str, right: str) -> tuple[str, ...]:
    """The codes of the guards that tell two texts apart, in the order of ``REASONS``; empty when none speaks.

    ``differences("buy 10 shares", "sell 12 shares")`` = ``("number", "opposite")``. The same either way round, and
    empty for two spellings of one text.
    """
    return differing(read(left), read(right))


def guard_key(text: str) -> str:
    """What the guards compare of one text, canonical and free of the order of words.

    Two texts with different keys always differ by a guard; two with one key may still differ by a guard that needs
    both texts.
    """
    return key(read(text))

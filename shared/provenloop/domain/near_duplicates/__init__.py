"""Near-duplicates: texts whose tokens agree to a threshold and that nothing tells apart: no guard, no swapped word.

They are found without comparing all pairs.

The measure is Jaccard's: shared tokens over all tokens of both. Two texts x and y can only reach the threshold t if

- what the guards compare of one text is the same (``Postings.block``),
- the sizes of their sets satisfy t * |x| <= |y| <= |x| / t (``Postings.admits``), and
- they share one of the first |x| - ceil(t * |x|) + 1 tokens of x and one of the first so many of y, in the order
  of ``tokens.rare_first`` (``Postings.prefix_tokens``): they share at least ceil(t * |x|) tokens, and the first of
  these in the order stands that early in both.

So one stored row for each prefix token, read by block and token, finds every candidate, and :func:`qualifies` decides.
Rows written for one threshold serve any higher one. All arithmetic is exact.
"""

from __future__ import annotations

from provenloop.domain.near_duplicates.grouping import (
    MAX_CANDIDATES,
    TOO_MANY_CANDIDATES,
    Component,
    Found,
    Group,
    Item,
    Skipped,
    component,
    groups,
)
from provenloop.domain.near_duplicates.measure import VERSION, Postings, Threshold, postings, qualifies, similarity

__all__ = [
    "MAX_CANDIDATES",
    "TOO_MANY_CANDIDATES",
    "VERSION",
    "Component",
    "Found",
    "Group",
    "Item",
    "Postings",
    "Skipped",
    "Threshold",
    "component",
    "groups",
    "postings",
    "qualifies",
    "similarity",
]

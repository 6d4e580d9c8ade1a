"""A Merkle root over texts, as RFC 6962 builds it: leaves and inner nodes hash differently, no leaf counts twice."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

_LEAF = b"\x00"
_NODE = b"\x01"


def merkle_root(texts: Sequence[str]) -> str:
    """64 hex digits; of no text at all the SHA-256 of nothing."""
    if not texts:
        return sha256(b"").hexdigest()
    level = [sha256(_LEAF + text.encode()).digest() for text in texts]
    while len(level) > 1:
        pairs = [level[place : place + 2] for place in range(0, len(level), 2)]
        # The last of an odd number goes up as it is; doubling it would give two lists one root.
        level = [sha256(_NODE + pair[0] + pair[1]).digest() if len(pair) == 2 else pair[0] for pair in pairs]
    return level[0].hex()

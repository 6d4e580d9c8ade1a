"""Random bytes that a seed repeats, so that a story told twice has the same ids. No secret may rest on them."""

from __future__ import annotations

import itertools
from hashlib import shake_256

from provenloop.services.ports import Entropy


def seeded(seed: str) -> Entropy:
    """A source whose n-th draw is always the same."""
    numbers = itertools.count(1)

    def draw(size: int) -> bytes:
        return shake_256(f"{seed}/{next(numbers)}".encode()).digest(size)

    return draw

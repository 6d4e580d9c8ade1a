"""Whether an embedder tells texts apart at all; one that does not would serve any recipe for any request."""

from __future__ import annotations

import math
from collections.abc import Sequence

#: Texts of which no two mean the same; the check at start embeds them.
PROBES: tuple[str, ...] = (
    "cancel my subscription",
    "what is the capital of France",
    "the deployment failed with a timeout",
    "book a table for two tomorrow evening",
)
#: Cosine from which two probes count as one vector.
_SAME = 0.999
#: Length below which a vector has no direction.
_NOTHING = 1e-9


def embedding_fault(vectors: Sequence[Sequence[float]], dimensions: int) -> str | None:
    """Why the vectors of ``PROBES`` show that the embedder is of no use; None where they do not."""
    if len(vectors) != len(PROBES):
        return "the embedder answers another number of vectors than it got texts"
    for vector in vectors:
        if len(vector) != dimensions:
            return f"a vector has {len(vector)} dimensions, not {dimensions}"
        if not all(map(math.isfinite, vector)):
            return "a vector holds a number that is none"
        if math.hypot(*vector) < _NOTHING:
            return "a vector is zero"
    if any(_cosine(left, right) >= _SAME for place, left in enumerate(vectors) for right in vectors[place + 1 :]):
        return "texts that mean different things have one vector"
    return None


def _cosine(left: Sequence[float], right: Sequence[float]) -> float:
    return sum(map(float.__mul__, map(float, left), map(float, right))) / (math.hypot(*left) * math.hypot(*right))

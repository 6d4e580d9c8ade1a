"""Where each embedder's cosines mean something: fitted by ``make recipes-bench``, never carried over to another."""

from __future__ import annotations

from provenloop.recipes.decide import Band

#: By tag of the embedder.
FITTED: dict[str, Band] = {"wordllama-l2-256": Band(threshold=0.85, floor=0.60, margin=0.08)}
#: Of an embedder without a fit: nothing is served by similarity until somebody sets a threshold.
UNFITTED = Band(threshold=1.01, floor=0.60, margin=0.08)


def band_of(tag: str) -> Band:
    """The band of an embedder."""
    return FITTED.get(tag, UNFITTED)

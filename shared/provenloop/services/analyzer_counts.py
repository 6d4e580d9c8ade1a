"""How the recommendations of analyzers fared, in counts. Of fewer than ten cases a rate is not told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from provenloop.domain.names import MemoryId
from provenloop.domain.recommendation import Recommendation
from provenloop.services.ports import Store

RATED_FROM = 10
#: So many of the newest remarks are looked at: what is told of those outside costs no more as a memory grows.
MAX_REMARKS = 200
_DECISIONS = ("proposed", "approved", "acknowledged", "rejected")


def decisions_of(rec: Recommendation) -> Iterator[str]:
    """What one recommendation counts as, as far as people decide: an approval that was withdrawn is a rejection."""
    yield "proposed"
    if rec.approval is not None and rec.status != "rejected":
        yield "approved"
    if rec.status in ("acknowledged", "rejected"):
        yield rec.status


def approval_rate(counts: Mapping[str, int]) -> float | None:
    """The share, of what people decided about, that they approved or acknowledged."""
    taken = counts["approved"] + counts["acknowledged"]
    return rate(taken, taken + counts["rejected"])


def rate(part: int, whole: int) -> float | None:
    """A share between 0 and 1; None of fewer than ten cases."""
    return round(part / whole, 4) if whole >= RATED_FROM else None


def outside_findings(store: Store, memory: MemoryId, families: Sequence[str]) -> list[dict[str, Any]]:
    """What people made of the newest findings of models and of external analyzers, by family of analyzers.

    Returns:
        ``[{analyzer, proposed, approved, acknowledged, rejected, approval_rate}]``, the analyzer without its version.
    """
    said = (remark for family in families for remark in store.newest_remarks(memory, family, MAX_REMARKS))
    names = dict.fromkeys(remark.recommendation for remark in said)
    counts: dict[str, Counter[str]] = {}
    for rec in (store.recommendations(memory, names) if names else {}).values():
        counts.setdefault(rec.family, Counter()).update(decisions_of(rec))
    return [
        {"analyzer": family, **{name: found[name] for name in _DECISIONS}, "approval_rate": approval_rate(found)}
        for family, found in sorted(counts.items())
    ]

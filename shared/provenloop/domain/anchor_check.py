"""Holding an exported audit trail against anchors: whatever was rewritten after an anchor shows as a difference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from provenloop.domain.anchor import Anchor, leaf_of, memory_digest, root_of
from provenloop.domain.audit import AuditEntry, ChainHead
from provenloop.domain.instants import MINUTE_MS
from provenloop.domain.names import MemoryId

#: A step's time is that of its request, and no function lives longer than this: it may be written after an anchor that
#: is later than it.
SLACK_MS = 15 * MINUTE_MS

Chains = Mapping[str, Sequence[AuditEntry]]


@dataclass(frozen=True, slots=True)
class Difference:
    """The first thing that does not fit: the anchor's day, the subject (empty where it is the anchor itself), why."""

    date: str
    subject: str
    reason: str


def anchor_fault(anchor: Anchor) -> Difference | None:
    """What an anchor says wrongly about itself."""
    if anchor.count != len(anchor.leaves):
        return Difference(anchor.date, "", "the anchor has another number of leaves than it says")
    if list(anchor.leaves) != sorted(set(anchor.leaves)):
        return Difference(anchor.date, "", "the anchor's leaves are not in order")
    if anchor.root != root_of(anchor.leaves):
        return Difference(anchor.date, "", "the anchor's root is not that of its leaves")
    return None


def difference(anchor: Anchor, memory: MemoryId, chains: Chains) -> Difference | None:
    """The first difference between an anchor and the chains of one memory, each complete and in order.

    Returns:
        None where the trail is what the anchor saw, and what came after it.
    """
    own = memory_digest(memory)
    seen = {leaf.subject: leaf for leaf in anchor.leaves if leaf.memory == own}
    for subject, entries in sorted(chains.items()):
        leaf = seen.pop(leaf_of(memory, subject, ChainHead()).subject, None)
        known = ChainHead(leaf.n, leaf.head) if leaf is not None else ChainHead()
        reason = _reason(entries, known, anchor.at)
        if reason is not None:
            return Difference(anchor.date, subject, reason)
    if seen:
        missing = min(seen)
        return Difference(anchor.date, "", f"a chain that the anchor saw is missing (subject digest {missing})")
    return None


def _reason(entries: Sequence[AuditEntry], known: ChainHead, at: int) -> str | None:
    """Why a chain cannot have had that head at that instant, or None."""
    if len(entries) < known.n:
        return f"it has {len(entries)} entries, the anchor saw {known.n}"
    if known.n and entries[known.n - 1].id != known.id:
        return f"entry {known.n} is not the one that the anchor saw"
    later = entries[known.n :]
    if any(entry.at < at - SLACK_MS for entry in later):
        return f"entry {known.n + 1} says it is older than the anchor, which did not see it"
    return None

"""Anchoring: once a day, one root over the heads of all audit chains of each tenant goes where nobody can change it.

A tenant that has its anchor of the day is left alone, so a run that was cut off is simply started again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from heapq import merge
from itertools import groupby
from typing import NamedTuple

from provenloop.domain.anchor import Leaf, anchor_of, leaf_of
from provenloop.domain.errors import LoopError
from provenloop.domain.instants import utc_day
from provenloop.domain.names import MemoryId, tenant_itself
from provenloop.services.anchor_port import AnchorBucket, MemoryIndex, Signer
from provenloop.services.ports import Store


class Anchored(NamedTuple):
    """How many tenants were anchored, how many had been before, and how many could not be."""

    written: int
    present: int
    failed: int


def anchor_tenants(store: Store, index: MemoryIndex, bucket: AnchorBucket, signer: Signer | None, now: int) -> Anchored:
    """Anchor every tenant that has no anchor of this UTC day. One that fails keeps none of the others from theirs.

    Args:
        signer: signs each anchor; None where there is no key.

    Raises:
        UnavailableError: the bucket or the index did not answer.
    """
    present = bucket.anchored(utc_day(now))
    written = failed = skipped = 0
    places = merge(map(tenant_itself, index.all_tenants()), index.all_memories())
    for tenant, own in groupby(places, key=lambda place: place.tenant):
        if tenant in present:
            skipped += 1
            continue
        try:
            is_new = _anchor(store, tenant, tuple(own), bucket, signer, now)
        except LoopError:
            failed += 1
            continue
        written, skipped = written + is_new, skipped + (not is_new)
    return Anchored(written, skipped, failed)


def _anchor(
    store: Store, tenant: str, own: Iterable[MemoryId], bucket: AnchorBucket, signer: Signer | None, now: int
) -> bool:
    places = dict.fromkeys((tenant_itself(tenant), *own))
    leaves = (leaf for place in places for leaf in _leaves(store, place))
    anchor = anchor_of(tenant, leaves, now)
    if signer is not None:
        anchor = replace(anchor, signature=signer.sign(anchor.statement))
    return bucket.put(anchor.date, tenant, anchor.text)


def _leaves(store: Store, memory: MemoryId) -> Iterator[Leaf]:
    """Where every chain of a memory, or of the tenant itself, ends."""
    for rec in store.all_recommendations(memory):
        yield leaf_of(memory, rec.id, rec.chain)
    for end in store.chain_ends(memory):
        yield leaf_of(memory, end.subject, end.head)

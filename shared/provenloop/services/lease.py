"""One pass at a time per memory: a lease on the pass head.

The lease only saves work; what keeps a late pass from doing harm is that every write of a pass is conditional on the
head's revision, which moves when another pass takes over.
"""

from __future__ import annotations

from dataclasses import replace

from provenloop.domain.commit import PassHead
from provenloop.domain.names import MemoryId
from provenloop.services.ports import Replace, Require, Store, WriteRefusedError

#: Longer than the function lives that runs passes.
LEASE_MS = 240_000


class LeaseLostError(Exception):
    """Another pass has taken over; nothing of this one's last write was stored."""


def is_leased(folds: PassHead, now: int) -> bool:
    """Whether a pass is at work, or died less than a lease ago."""
    return folds.lease_owner is not None and folds.lease_until > now


def is_lost(refused: WriteRefusedError) -> bool:
    """Whether a write of a pass was refused because another pass has taken over."""
    return any(
        isinstance(failure.write, Require) and isinstance(failure.write.entity, PassHead)
        for failure in refused.failures
    )


def take_lease(store: Store, memory: MemoryId, folds: PassHead, owner: str, now: int) -> PassHead | None:
    """The head as leased, or None when somebody else was quicker."""
    leased = replace(folds, lease_owner=owner, lease_until=now + LEASE_MS, rev=folds.rev + 1)
    try:
        store.transact(memory, [Replace(leased, expected=folds.rev)], now)
    except WriteRefusedError:
        return None
    return leased

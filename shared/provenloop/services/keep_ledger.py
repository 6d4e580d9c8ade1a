"""Writing the ledger: each row once, however often it is counted."""

from __future__ import annotations

from provenloop.domain.ledger import LedgerRow
from provenloop.domain.names import MemoryId
from provenloop.services.ports import Put, Store, WriteRefusedError


def count_once(store: Store, memory: MemoryId, row: LedgerRow, now: int) -> bool:
    """Put the row unless it is there; whether it was put now.

    Raises:
        LoopError: the store did not answer; counting again is safe.
    """
    try:
        store.transact(memory, [Put(row)], now)
    except WriteRefusedError:
        return False
    return True

"""Reading the ledger."""

from __future__ import annotations

from provenloop.adapters.dynamodb import keys, table
from provenloop.adapters.dynamodb.keys import partition
from provenloop.adapters.dynamodb.reading import entities
from provenloop.adapters.dynamodb.rows import Row
from provenloop.domain.ledger import LedgerRow
from provenloop.domain.names import MemoryId


class LedgerRows:
    """Implements ``services.ledger_port.LedgerReader``; part of the store."""

    def ledger(
        self, memory: MemoryId, since: int, until: int, *, after: tuple[int, str] | None, limit: int
    ) -> tuple[LedgerRow, ...]:
        """See ``LedgerReader``."""
        first, last = keys.ledger_from(since), keys.ledger_from(until)
        if after is not None:
            first = max(first, keys.ledger_row(*after) + keys.FIRST_AFTER)
        if first >= last:
            return ()
        rows = table.query(partition(memory, "RECIPE"), Row.sk.between(first, last), limit=limit)
        return tuple(entities(rows, LedgerRow))

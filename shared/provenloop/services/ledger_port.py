"""Reading the ledger. Part of :class:`~provenloop.services.ports.Store`."""

from __future__ import annotations

from typing import Protocol

from provenloop.domain.ledger import LedgerRow
from provenloop.domain.names import MemoryId


class LedgerReader(Protocol):
    """The rows of a memory's ledger, by instant and id; strongly consistent."""

    def ledger(
        self, memory: MemoryId, since: int, until: int, *, after: tuple[int, str] | None, limit: int
    ) -> tuple[LedgerRow, ...]:
        """Rows with ``since`` <= at < ``until`` (epoch ms), at most ``limit``, behind the place ``after``."""

"""Reading remarks. Part of :class:`~provenloop.services.ports.Store`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from provenloop.domain.names import MemoryId
from provenloop.domain.remark import Looked, Remark


class RemarkReader(Protocol):
    """What outside analyzers said, and how far they have looked; strongly consistent."""

    def remarks(self, memory: MemoryId, names: Iterable[str]) -> Mapping[str, Remark]:
        """The stored ones among the names."""

    def newest_remarks(self, memory: MemoryId, family: str, limit: int) -> tuple[Remark, ...]:
        """The newest ones of one family of analyzers, newest first."""

    def looked(self, memory: MemoryId, family: str) -> Looked | None:
        """How far one outside analyzer has looked; None where it never has."""

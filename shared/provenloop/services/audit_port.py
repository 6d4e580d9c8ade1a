"""Reading the audit trail; strongly consistent. Part of :class:`~provenloop.services.ports.Store`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from provenloop.domain.audit import AuditEntry, ChainEnd, Note
from provenloop.domain.names import MemoryId


class AuditReader(Protocol):
    """Entries, the notes beside them, and where chains end that no recommendation ends."""

    def audit_entries(
        self, memory: MemoryId, subject: str | None = None, *, after: tuple[str, int] | None = None
    ) -> Iterator[AuditEntry]:
        """Entries by subject and number, all pages; those behind ``after``, a subject and number, if given."""

    def notes(self, memory: MemoryId, subject: str) -> Mapping[int, Note]:
        """The notes of a subject by entry number."""

    def notes_at(self, memory: MemoryId, places: Sequence[tuple[str, int]]) -> Mapping[tuple[str, int], Note]:
        """The notes of some entries, by subject and number; an entry without one is left out."""

    def all_notes(self, memory: MemoryId) -> Iterator[Note]:
        """Every note by subject and number, all pages; for forgetting only."""

    def chain_end(self, memory: MemoryId, subject: str) -> ChainEnd | None:
        """Where the chain of a subject ends that is no recommendation."""

    def chain_ends_of(self, memory: MemoryId, subjects: Sequence[str]) -> Mapping[str, ChainEnd]:
        """Where the chains of these subjects end, by subject; one that has none is left out."""

    def chain_ends(self, memory: MemoryId) -> tuple[ChainEnd, ...]:
        """Where all such chains end, by subject."""

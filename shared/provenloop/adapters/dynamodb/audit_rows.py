"""Reading audit chains, where they end, and the reasons beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from provenloop.adapters.dynamodb import keys, table
from provenloop.adapters.dynamodb.items import audit_entry_of
from provenloop.adapters.dynamodb.keys import Key, partition
from provenloop.adapters.dynamodb.reading import as_entity, entities
from provenloop.adapters.dynamodb.rows import Row
from provenloop.domain.audit import AuditEntry, ChainEnd, Note
from provenloop.domain.names import MemoryId


class AuditRows:
    """Implements the store's ``AuditReader``; part of the store."""

    _pause: table.Pause

    def audit_entries(
        self, memory: MemoryId, subject: str | None = None, *, after: tuple[str, int] | None = None
    ) -> Iterator[AuditEntry]:
        """See ``AuditReader``."""
        start = keys.chain_of(subject) if subject is not None else " "
        # A blank behind a key sorts after it, and before every other key.
        first = start if after is None else max(start, f"{keys.chain(*after)} ")
        chosen = Row.sk.between(first, start + keys.LAST if subject is not None else keys.LAST)
        return map(audit_entry_of, table.query(partition(memory, "AUDIT"), chosen))

    def notes(self, memory: MemoryId, subject: str) -> Mapping[int, Note]:
        """See ``AuditReader``."""
        rows = table.query(partition(memory, "NOTE"), Row.sk.startswith(keys.chain_of(subject)))
        return {note.n: note for note in entities(rows, Note)}

    def notes_at(self, memory: MemoryId, places: Sequence[tuple[str, int]]) -> Mapping[tuple[str, int], Note]:
        """See ``AuditReader``."""
        pk = partition(memory, "NOTE")
        rows = table.get_many((Key(pk, keys.chain(subject, n)) for subject, n in places), self._pause)
        return {(note.subject, note.n): note for note in entities(rows, Note)}

    def all_notes(self, memory: MemoryId) -> Iterator[Note]:
        """See ``AuditReader``."""
        return entities(table.query(partition(memory, "NOTE")), Note)

    def chain_end(self, memory: MemoryId, subject: str) -> ChainEnd | None:
        """See ``AuditReader``."""
        row = table.get(Key(partition(memory, "LOOP"), keys.chain_end(subject)))
        return None if row is None else as_entity(row, ChainEnd)

    def chain_ends_of(self, memory: MemoryId, subjects: Sequence[str]) -> Mapping[str, ChainEnd]:
        """See ``AuditReader``."""
        pk = partition(memory, "LOOP")
        rows = table.get_many((Key(pk, keys.chain_end(subject)) for subject in subjects), self._pause)
        return {end.subject: end for end in entities(rows, ChainEnd)}

    def chain_ends(self, memory: MemoryId) -> tuple[ChainEnd, ...]:
        """See ``AuditReader``."""
        rows = table.query(partition(memory, "LOOP"), Row.sk.startswith(keys.CHAIN_END_PREFIX))
        return tuple(entities(rows, ChainEnd))

"""Sessions with the rules that were put before them, and what they followed and broke."""

from __future__ import annotations

from itertools import islice

from provenloop.adapters.dynamodb import keys, table
from provenloop.adapters.dynamodb.keys import partition
from provenloop.adapters.dynamodb.reading import entities, some_entities
from provenloop.adapters.dynamodb.rows import Row, is_expired
from provenloop.domain.names import MemoryId
from provenloop.lessons.session import CardPass, Session, SessionBreach, SessionPass, SessionRecord, SessionRules

_CLASSES = (Session, SessionRules, SessionPass, SessionBreach)


class SessionRows:
    """Implements ``services.session_port.SessionReader``; part of the store."""

    def session(self, memory: MemoryId, session_key: str, now: int) -> SessionRecord | None:
        """See ``SessionReader``."""
        chosen = Row.sk.between(keys.session(session_key), keys.session(session_key) + keys.LAST)
        rows = (row for row in table.query(partition(memory, "LESSON"), chosen) if not is_expired(row, now))
        found = list(some_entities(rows, _CLASSES))
        session = next((one for one in found if isinstance(one, Session)), None)
        if session is None:
            return None
        return SessionRecord(
            session,
            tuple(card for one in found if isinstance(one, SessionRules) for card in one.cards),
            frozenset(one.card for one in found if isinstance(one, SessionPass)),
            frozenset(one.card for one in found if isinstance(one, SessionBreach)),
        )

    def card_passes(self, memory: MemoryId, card_id: str, now: int, limit: int) -> tuple[CardPass, ...]:
        """See ``SessionReader``."""
        chosen = Row.sk.startswith(keys.passes_of(card_id))
        rows = table.query(partition(memory, "LESSON"), chosen)
        return tuple(islice(entities((row for row in rows if not is_expired(row, now)), CardPass), limit))

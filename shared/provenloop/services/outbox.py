"""What is written with an audit entry: the one way by which entries come into a transaction.

The event that an entry has waits in the outbox from the same instant on: it is published if and only if the step
happened.
"""

from __future__ import annotations

from provenloop.domain.audit import AuditEntry, Note
from provenloop.domain.bus_events import event_of
from provenloop.services.ports import Put, Write


def audited(entry: AuditEntry, note: Note | None = None, *, about: str | None = None) -> list[Write]:
    """The writes of an audit entry: itself, its note, and its event where it has one.

    Args:
        about: what the event calls the thing it is about, where the chain's own name for it leads nowhere.
    """
    beside = (note, event_of(entry, about))
    return [Put(entry), *(Put(entity) for entity in beside if entity is not None)]

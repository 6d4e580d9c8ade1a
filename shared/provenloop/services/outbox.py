"""What is written with an audit entry: the one way by which entries come into a transaction.

The event that an entry has waits in the outbox from the same instant on: it is published if and only if the step
happened.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from provenloop.domain.audit import AuditEntry, ChainEnd, Note, head_after, next_entry
from provenloop.domain.bus_events import event_of
from provenloop.services.ports import Entropy, Put, Replace, Write

_SALT_BYTES = 16


class ChainStep(NamedTuple):
    """The entry of a step, and everything that it writes."""

    entry: AuditEntry
    writes: list[Write]


def audited(entry: AuditEntry, note: Note | None = None, *, about: str | None = None) -> list[Write]:
    """The writes of an audit entry: itself, its note, and its event where it has one.

    Args:
        about: what the event calls the thing it is about, where the chain's own name for it leads nowhere.
    """
    beside = (note, event_of(entry, about))
    return [Put(entry), *(Put(entity) for entity in beside if entity is not None)]


def chain_step(
    end: ChainEnd,
    after: str,
    by: Mapping[str, str],
    at: int,
    effects: Mapping[str, Any],
    note: Note | None = None,
    *,
    about: str | None = None,
) -> ChainStep:
    """The next step of what is no recommendation: its entry with all that goes with it, and where its chain ends then.

    Args:
        end: where the chain ends now, or ``new_chain``.
        after: the status that the step leads to.
        by: its author; ``at`` is epoch ms.
        about: as for :func:`audited`.
    """
    entry = next_entry(
        end.head, subject=end.subject, before=end.status, after=after, by=by, at=at, note=note, effects=effects
    )
    moved = ChainEnd(end.subject, head_after(entry), after, rev=end.rev + 1)
    last = Replace(moved, expected=end.rev) if end.rev else Put(moved)
    return ChainStep(entry, [*audited(entry, note, about=about), last])


def salted(subject: str, n: int, because: str, entropy: Entropy) -> Note:
    """The note of entry ``n`` of a chain, with a salt of its own."""
    return Note(subject, n, entropy(_SALT_BYTES).hex(), because)


def reason_on(end: ChainEnd, because: str | None, entropy: Entropy) -> Note | None:
    """The note of a chain's next step, where a reason was given."""
    return None if because is None else salted(end.subject, end.head.n + 1, because, entropy)

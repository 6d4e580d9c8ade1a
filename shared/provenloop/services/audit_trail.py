"""The audit trail: reading it, and proving that it holds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from provenloop.domain.audit import AuditEntry, Break, Note, verify_chain, verify_note
from provenloop.services.call import Call
from provenloop.services.memories import require_heads
from provenloop.services.ports import Store


def audit_lines(store: Store, call: Call, *, subject: str | None = None) -> Iterator[str]:
    """The trail as JSON lines, by subject and number.

    Raises:
        ScopeDeniedError, NotFoundError.
    """
    call.require("read")
    require_heads(store, call.memory)
    return (_line(entry) for entry in store.audit_entries(call.memory, subject))


def _line(entry: AuditEntry) -> str:
    return json.dumps(entry_line(entry, None), ensure_ascii=False, separators=(",", ":"))


def entry_line(entry: AuditEntry, note: Note | None) -> dict[str, Any]:
    """An entry as shown: its hashed fields, its id, and its reason where the note is given and is the right one."""
    fields: dict[str, Any] = json.loads(entry.text)
    fields["id"] = entry.id
    if note is not None:
        fields["because"] = note.because if verify_note(entry, note) else None
        fields["because_verified"] = verify_note(entry, note)
    return fields


def verify(store: Store, call: Call, *, subject: str | None = None) -> dict[str, Any]:
    """Recompute every hash, link, order, head and status; the first break is named.

    Returns:
        ``{ok, subjects, entries, break: {subject, n, reason} | None}``.

    Raises:
        ScopeDeniedError, NotFoundError.
    """
    call.require("read")
    require_heads(store, call.memory)
    heads = {
        rec.id: (rec.chain, rec.status) for rec in store.all_recommendations(call.memory) if subject in (None, rec.id)
    }
    entries = 0
    broken: Break | None = None
    unseen = dict(heads)
    for name, chain in groupby(store.audit_entries(call.memory, subject), key=lambda entry: entry.subject):
        listed = list(chain)
        entries += len(listed)
        head, status = unseen.pop(name, (None, None))
        broken = broken or verify_chain(name, listed, head=head, status=status)
    for name, (head, status) in sorted(unseen.items()):
        broken = broken or verify_chain(name, (), head=head, status=status)
    return {
        "ok": broken is None,
        "subjects": len(heads),
        "entries": entries,
        "break": None if broken is None else {"subject": broken.subject, "n": broken.n, "reason": broken.reason},
    }

"""The audit trail: reading it, and proving that it holds.

Every chain belongs to a recommendation, whose head and status it must end in. What is stored may have been tampered
with in any way, so nothing here trusts it: damage is named, never an error of its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from provenloop.domain.audit import AuditEntry, Break, ChainHead, Note, verify_chain, verify_note
from provenloop.domain.recommendation import Recommendation
from provenloop.services.call import Call
from provenloop.services.decision import find_recommendation
from provenloop.services.memories import require_heads
from provenloop.services.ports import Store

_MAX_ROUNDS = 5


def audit_lines(store: Store, call: Call, *, subject: str | None = None) -> Iterator[str]:
    """The trail as JSON lines, by subject and number.

    Args:
        subject: id of one recommendation, or any unique prefix of it.

    Raises:
        ScopeDeniedError, NotFoundError, AmbiguousPrefixError.
    """
    call.require("read")
    require_heads(store, call.memory)
    name = None if subject is None else find_recommendation(store, call, subject, field="subject").id
    return (_line(entry) for entry in store.audit_entries(call.memory, name))


def _line(entry: AuditEntry) -> str:
    return json.dumps(entry_line(entry, None), ensure_ascii=False, separators=(",", ":"))


def entry_line(entry: AuditEntry, note: Note | None) -> dict[str, Any]:
    """An entry as shown: its hashed fields, its id, and its reason where the note is given and is the right one."""
    fields = _fields_of(entry)
    fields["id"] = entry.id
    if note is not None:
        fields["because"] = note.because if verify_note(entry, note) else None
        fields["because_verified"] = verify_note(entry, note)
    return fields


def _fields_of(entry: AuditEntry) -> dict[str, Any]:
    """The hashed fields; of a text that is none of ours its place alone, marked as damaged."""
    try:
        fields = json.loads(entry.text)
    except (ValueError, RecursionError):
        fields = None
    return fields if isinstance(fields, dict) else {"subject": entry.subject, "n": entry.n, "damaged": True}


def verify(store: Store, call: Call, *, subject: str | None = None) -> dict[str, Any]:
    """Recompute every hash, link, order, head and status; the first break is named.

    Args:
        subject: id of one recommendation, or any unique prefix of it.

    Returns:
        ``{ok, subjects, entries, break: {subject, n, reason} | None}``.

    Raises:
        ScopeDeniedError, NotFoundError, AmbiguousPrefixError.
    """
    call.require("read")
    require_heads(store, call.memory)
    if subject is None:
        recs = {rec.id: rec for rec in store.all_recommendations(call.memory)}
        chains = {name: tuple(chain) for name, chain in groupby(store.audit_entries(call.memory), _subject_of)}
    else:
        rec = find_recommendation(store, call, subject, field="subject")
        recs, chains = {rec.id: rec}, {rec.id: tuple(store.audit_entries(call.memory, rec.id))}
    names = sorted(recs.keys() | chains.keys())
    suspects = (name for name in names if _break_of(name, chains.get(name, ()), recs.get(name)))
    broken = next((found for found in (_look_again(store, call, name) for name in suspects) if found), None)
    return {
        "ok": broken is None,
        "subjects": len(names),
        "entries": sum(len(chain) for chain in chains.values()),
        "break": _shown(broken),
    }


def _subject_of(entry: AuditEntry) -> str:
    return entry.subject


def _break_of(name: str, chain: tuple[AuditEntry, ...], rec: Recommendation | None) -> Break | None:
    """The first break of a chain; one that no recommendation ends in is broken as well."""
    head, status = (rec.chain, rec.status) if rec is not None else (ChainHead(), "")
    return verify_chain(name, chain, head=head, status=status)


def _look_again(store: Store, call: Call, name: str) -> Break | None:
    """The break, if it is one: a decision between two reads looks like one, so nothing may move while we look."""
    found: Break | None = None
    for _ in range(_MAX_ROUNDS):
        before = store.recommendations(call.memory, [name]).get(name)
        chain = tuple(store.audit_entries(call.memory, name))
        found = _break_of(name, chain, before)
        if found is None or store.recommendations(call.memory, [name]).get(name) == before:
            return found
    return found


def _shown(broken: Break | None) -> Mapping[str, Any] | None:
    return None if broken is None else {"subject": broken.subject, "n": broken.n, "reason": broken.reason}

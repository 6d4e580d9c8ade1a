"""The audit trail: reading it, and proving that it holds.

Every chain must end in the head and status of its recommendation, or where it is the chain of something else (what was
forgotten, say), in those kept for it. What is stored may have been tampered
with in any way, so nothing here trusts it: damage is named, never an error of its own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from provenloop.domain.audit import AuditEntry, ChainEnd, ChainHead, Note, verify_note
from provenloop.domain.chain_check import Break, verify_chain
from provenloop.domain.errors import NotFoundError
from provenloop.domain.recommendation import Recommendation
from provenloop.services.call import Call
from provenloop.services.decision import find_recommendation
from provenloop.services.memories import require_heads
from provenloop.services.ports import Store

_MAX_ROUNDS = 5


@dataclass(frozen=True, slots=True)
class _Ending:
    """What a chain must end in."""

    name: str
    head: ChainHead
    status: str


def chain_name(store: Store, call: Call, subject: str) -> str:
    """The subject of a chain, from an id of a recommendation or any unique prefix of it, or from the subject itself.

    Raises:
        NotFoundError, AmbiguousPrefixError.
    """
    return _find(store, call, subject).name


def entry_line(entry: AuditEntry, note: Note | None) -> dict[str, Any]:
    """An entry as shown: its hashed fields, its id, and its reason where the note is given and is the right one."""
    fields = _fields_of(entry)
    fields["id"] = entry.id
    if note is not None:
        fields["because"] = note.because if verify_note(entry, note) else None
        fields["because_verified"] = verify_note(entry, note)
    return fields


def entry_told(entry: AuditEntry, note: Note | None) -> dict[str, Any]:
    """An entry as shown to whoever may read its reason: one that was erased is marked so."""
    line = entry_line(entry, note)
    is_erased = note is None and line.get("because") is not None
    return {**line, "because": None, "because_erased": True} if is_erased else line


def _fields_of(entry: AuditEntry) -> dict[str, Any]:
    """The hashed fields; of a text that is none of ours its place alone, marked as damaged."""
    try:
        fields = json.loads(entry.text)
    except (ValueError, RecursionError):
        fields = None
    return fields if isinstance(fields, dict) else {"subject": entry.subject, "n": entry.n, "damaged": True}


def require_trail(store: Store, call: Call) -> None:
    """Refuse whoever may not read the trail: of a memory a reader may, of the tenant itself an admin of all memories.

    Raises:
        ScopeDeniedError, NotFoundError.
    """
    if call.memory.is_tenant:
        call.require("admin")
        return
    call.require("read")
    require_heads(store, call.memory)


def verify(store: Store, call: Call, *, subject: str | None = None) -> dict[str, Any]:
    """Recompute every hash, link, order, head and status; the first break is named.

    Args:
        subject: as for :func:`chain_name`; None for all chains.

    Returns:
        ``{ok, subjects, entries, break: {subject, n, reason} | None}``.

    Raises:
        ScopeDeniedError, NotFoundError, AmbiguousPrefixError.
    """
    require_trail(store, call)
    if subject is None:
        found = [*map(_of_recommendation, store.all_recommendations(call.memory)),
                 *map(_of_chain, store.chain_ends(call.memory))]  # fmt: skip
        chains = {name: tuple(chain) for name, chain in groupby(store.audit_entries(call.memory), _subject_of)}
    else:
        found = [_find(store, call, subject)]
        chains = {ending.name: tuple(store.audit_entries(call.memory, ending.name)) for ending in found}
    endings = {ending.name: ending for ending in found}
    names = sorted(endings.keys() | chains.keys())
    suspects = (name for name in names if _break_of(name, chains.get(name, ()), endings.get(name)))
    broken = next((found for found in (_look_again(store, call, name) for name in suspects) if found), None)
    return {
        "ok": broken is None,
        "subjects": len(names),
        "entries": sum(len(chain) for chain in chains.values()),
        "break": _shown(broken),
    }


def _subject_of(entry: AuditEntry) -> str:
    return entry.subject


def _of_recommendation(rec: Recommendation) -> _Ending:
    return _Ending(rec.id, rec.chain, rec.status)


def _of_chain(end: ChainEnd) -> _Ending:
    return _Ending(end.subject, end.head, end.status)


def _find(store: Store, call: Call, subject: str) -> _Ending:
    """Where the chain of a subject must end.

    Raises:
        NotFoundError, AmbiguousPrefixError.
    """
    if ":" not in subject:
        return _of_recommendation(find_recommendation(store, call, subject, field="subject"))
    end = store.chain_end(call.memory, subject)
    if end is None:
        raise NotFoundError("nothing has that chain", field="subject")
    return _of_chain(end)


def _ending_now(store: Store, call: Call, name: str) -> _Ending | None:
    if ":" not in name:
        rec = store.recommendations(call.memory, [name]).get(name)
        return None if rec is None else _of_recommendation(rec)
    end = store.chain_end(call.memory, name)
    return None if end is None else _of_chain(end)


def _break_of(name: str, chain: tuple[AuditEntry, ...], ending: _Ending | None) -> Break | None:
    """The first break of a chain; one that nothing ends in is broken as well."""
    head, status = (ending.head, ending.status) if ending is not None else (ChainHead(), "")
    return verify_chain(name, chain, head=head, status=status)


def _look_again(store: Store, call: Call, name: str) -> Break | None:
    """The break, if it is one: a decision between two reads looks like one, so nothing may move while we look."""
    found: Break | None = None
    for _ in range(_MAX_ROUNDS):
        before = _ending_now(store, call, name)
        chain = tuple(store.audit_entries(call.memory, name))
        found = _break_of(name, chain, before)
        if found is None or _ending_now(store, call, name) == before:
            return found
    return found


def _shown(broken: Break | None) -> Mapping[str, Any] | None:
    return None if broken is None else {"subject": broken.subject, "n": broken.n, "reason": broken.reason}

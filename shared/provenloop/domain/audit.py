"""The audit chain: one immutable entry per transition, hash-linked per subject.

Invariants: entry n of a subject names the hash of entry n-1; an entry's id is the SHA-256 of its exact canonical text,
which is what is stored; the status of a subject is the ``to`` of its last entry. Texts name addresses and digests
only. Free text (because) enters as HMAC(salt, text), with salt and text in a note beside the chain, so that erasing
the note leaves the chain verifiable.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, cast

from provenloop.domain.canonical import canonical_json
from provenloop.domain.instants import format_instant
from provenloop.domain.names import MemoryId
from provenloop.domain.principal import Principal, PrincipalKind, Scope

NO_PREVIOUS = ""


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One stored entry: the subject, its number in the chain (from 1), and the exact text that was hashed."""

    subject: str
    n: int
    text: str
    at: int

    @property
    def id(self) -> str:
        """64 hex digits: SHA-256 of the text."""
        return sha256(self.text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Note:
    """Erasable free text that belongs to one audit entry. ``salt`` is 32 hex digits."""

    subject: str
    n: int
    salt: str
    because: str


@dataclass(frozen=True, slots=True)
class ChainHead:
    """Where a subject's chain stands: number and id of its last entry. A new subject has n = 0."""

    n: int = 0
    id: str = NO_PREVIOUS


@dataclass(frozen=True, slots=True)
class ChainEnd:
    """Where the chain of a subject ends that is no recommendation (which holds its own head): head and last status."""

    subject: str
    head: ChainHead
    status: str
    rev: int = 1


def new_chain(subject: str) -> ChainEnd:
    """Where a chain begins that has no entry yet; ``rev`` 0 says that it is stored nowhere."""
    return ChainEnd(subject, ChainHead(), "", rev=0)


def commit_to_note(note: Note) -> str:
    """The digest that stands for a note inside the chain: HMAC-SHA-256(salt, because)."""
    return hmac.new(bytes.fromhex(note.salt), note.because.encode(), sha256).hexdigest()


def author_of(principal: Principal) -> Mapping[str, str]:
    """The part of an entry that says who acted."""
    return {"label": principal.label, "kind": principal.kind, "id": principal.id, "token": principal.token_id}


def acting_for(author: Mapping[str, str], memory: MemoryId, scope: Scope) -> Principal:
    """An author of before, for one memory and scope: what they asked for was allowed when they did."""
    return Principal(
        id=author["id"],
        label=author["label"],
        kind=cast("PrincipalKind", author["kind"]),
        tenant=memory.tenant,
        memories=memory.name,
        scopes=frozenset({scope}),
        token_id=author["token"],
        lineage=(author["id"],),
    )


def engine_author(name: str) -> Mapping[str, str]:
    """The author of an engine's or policy's own step, for example ``engine:loop.tool_failure/1``."""
    return {"label": name, "kind": "engine", "id": name, "token": ""}


def next_entry(  # noqa: PLR0913  (an entry has that many parts)
    head: ChainHead,
    *,
    subject: str,
    before: str,
    after: str,
    by: Mapping[str, str],
    at: int,
    note: Note | None = None,
    effects: Mapping[str, Any] | None = None,
) -> AuditEntry:
    """The entry that follows ``head``.

    Args:
        before, after: the statuses of the transition; ``before`` is empty for a new subject.
        effects: what the transition did, in addresses, digests and numbers.
    """
    body = {
        "subject": subject,
        "n": head.n + 1,
        "from": before,
        "to": after,
        "by": dict(by),
        "at": format_instant(at),
        "because": commit_to_note(note) if note else None,
        "effects": dict(effects or {}),
        "previous": head.id,
    }
    return AuditEntry(subject=subject, n=head.n + 1, text=canonical_json(body), at=at)


def head_after(entry: AuditEntry) -> ChainHead:
    """The head once ``entry`` is the last one."""
    return ChainHead(entry.n, entry.id)


def body_of(entry: AuditEntry) -> dict[str, Any] | None:
    """The fields of an entry's text, None where it is no JSON object: what is stored may have been tampered with."""
    try:
        body = json.loads(entry.text)
    except (ValueError, RecursionError):
        return None
    return body if isinstance(body, dict) else None


def verify_note(entry: AuditEntry, note: Note) -> bool:
    """Whether the note is the one that the entry commits to."""
    body = body_of(entry)
    try:
        expected = commit_to_note(note)
    except ValueError:
        return False
    return body is not None and hmac.compare_digest(str(body.get("because")).encode(), expected.encode())

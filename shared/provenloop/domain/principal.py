"""Who is authenticated, and what that principal may do.

A principal comes only from a verified credential. Its tenant, memories, kind and scopes are fixed by the
credential; a request body can claim none of them. ``admin`` implies every scope, no other scope implies another.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from provenloop.domain.errors import InvalidInputError, ScopeDeniedError
from provenloop.domain.memory_glob import matches
from provenloop.domain.text import normalise

Scope = Literal["read", "write", "review", "apply", "admin"]
PrincipalKind = Literal["human", "agent", "service"]

SCOPES: tuple[Scope, ...] = get_args(Scope)
KINDS: tuple[PrincipalKind, ...] = get_args(PrincipalKind)
#: What Provenloop itself, people of an issuer, and sources of events without HTTP are called in the audit trail.
RESERVED_LABEL_PREFIXES = ("engine:", "policy:", "llm:", "command:", "oidc:", "inbound:")
RESERVED_LABELS = ("engine", "policy", "telemetry", "bootstrap")


@dataclass(frozen=True, slots=True)
class Principal:
    """An authenticated caller.

    ``lineage`` holds the principal's own id and those of everybody who minted its token, nearest first:
    self-approval is refused on any of them. ``expires_at`` is when the credential ends; no token that it mints may
    outlive ``mints_until`` (both epoch ms; None where there is no such end).
    ``credential`` is what the principal can be found by again later: the
    SHA-256 of a token's secret; empty where it cannot.
    """

    id: str
    label: str
    kind: PrincipalKind
    tenant: str
    memories: str
    scopes: frozenset[Scope]
    token_id: str
    lineage: tuple[str, ...]
    expires_at: int | None = None
    mints_until: int | None = None
    credential: str = ""

    def is_expired(self, now: int) -> bool:
        """Whether the credential's time is over."""
        return self.expires_at is not None and self.expires_at <= now

    def has(self, scope: Scope) -> bool:
        """Whether the principal holds ``scope``, itself or through admin."""
        return scope in self.scopes or "admin" in self.scopes

    def may_use(self, memory: str) -> bool:
        """Whether the memory's name matches the principal's glob."""
        return matches(self.memories, memory)


def require_scope(principal: Principal, scope: Scope) -> None:
    """Refuse unless the principal holds ``scope``.

    Raises:
        ScopeDeniedError: it does not.
    """
    if not principal.has(scope):
        raise ScopeDeniedError(f"this needs the scope {scope}")


def require_memory(principal: Principal, memory: str) -> None:
    """Refuse unless the principal may use the memory.

    Raises:
        ScopeDeniedError: its memories glob does not cover the name.
    """
    if not principal.may_use(memory):
        raise ScopeDeniedError("this token does not cover that memory")


def is_reserved(label: str) -> bool:
    """Whether no token may be called so, in whatever spelling."""
    folded = normalise(label)
    return folded in RESERVED_LABELS or folded.startswith(RESERVED_LABEL_PREFIXES)


def parse_scopes(values: Iterable[str], *, field: str = "scopes") -> frozenset[Scope]:
    """Turn words into scopes; an unknown word or an empty list is refused.

    Raises:
        InvalidInputError: naming the field.
    """
    wanted = list(values)
    known = frozenset(scope for scope in SCOPES if scope in wanted)
    unknown = sorted(set(wanted) - set(SCOPES))
    if unknown:
        raise InvalidInputError(f"unknown scope; one of {', '.join(SCOPES)}", field=field)
    if not known:
        raise InvalidInputError("at least one scope is needed", field=field)
    return known

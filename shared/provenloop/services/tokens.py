"""Tokens: minted once, shown once, stored as SHA-256.

Invariants: a token mints only scopes it holds and only for memories it may use itself; only a person mints a token of
kind human, everybody else only their own kind; labels are unique in a tenant, and the prefixes of the engine's own
labels are reserved. The lineage of a token names everybody behind it, so that nobody approves their own proposal
through a token they minted.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from provenloop.domain.errors import (
    ConflictError,
    ForbiddenError,
    InvalidInputError,
    PrincipalKindError,
    UnauthenticatedError,
)
from provenloop.domain.instants import format_instant
from provenloop.domain.principal import (
    KINDS,
    RESERVED_LABEL_PREFIXES,
    Principal,
    PrincipalKind,
    parse_scopes,
    require_scope,
)
from provenloop.domain.records import Token
from provenloop.services.ports import Entropy, TokenStore

SECRET_BYTES = 32
SECRET_PREFIX = "pvl_"
_ID_BYTES = 10


@dataclass(frozen=True, slots=True)
class MintRequest:
    """What a new token should be. ``memories`` is a glob over memory names; ``expires_at`` epoch ms or None."""

    label: str
    kind: str
    memories: str
    scopes: tuple[str, ...]
    expires_at: int | None = None


@dataclass(frozen=True, slots=True)
class Minted:
    """A new token and its secret, which exists nowhere else."""

    secret: str
    token: Token


def mint_token(tokens: TokenStore, principal: Principal, request: MintRequest, *, now: int, entropy: Entropy) -> Minted:
    """Make a token in the principal's tenant.

    Raises:
        ScopeDeniedError: the principal lacks admin.
        InvalidInputError, PrincipalKindError, ForbiddenError: it may not mint such a token.
        ConflictError: the label is taken.
    """
    require_scope(principal, "admin")
    kind = _require_kind(principal, request.kind)
    _require_label(request.label)
    scopes = parse_scopes(request.scopes)
    missing = sorted(scope for scope in scopes if not principal.has(scope))
    if missing:
        raise ForbiddenError(f"a token cannot grant scopes its minter lacks: {', '.join(missing)}", field="scopes")
    if principal.memories not in ("*", request.memories):
        raise ForbiddenError("a token cannot cover memories beyond its minter's", field="memories")
    if request.expires_at is not None and request.expires_at <= now:
        raise InvalidInputError("already past", field="expires_at")
    secret = SECRET_PREFIX + base64.urlsafe_b64encode(entropy(SECRET_BYTES)).decode().rstrip("=")
    token_id = "tok_" + base64.b32encode(entropy(_ID_BYTES)).decode().lower()
    token = Token(
        digest=digest_of_secret(secret),
        id=token_id,
        principal_id=token_id,
        label=request.label,
        kind=kind,
        tenant=principal.tenant,
        memories=request.memories,
        scopes=tuple(sorted(scopes)),
        lineage=(token_id, *principal.lineage),
        created_at=now,
        expires_at=request.expires_at,
    )
    if not tokens.put_token(token, now):
        raise ConflictError("a token with that label exists", field="label")
    return Minted(secret, token)


def _require_kind(principal: Principal, kind: str) -> PrincipalKind:
    known = next((known for known in KINDS if known == kind), None)
    if known is None:
        raise InvalidInputError(f"unknown kind; one of {', '.join(KINDS)}", field="kind")
    if principal.kind not in (known, "human"):
        raise PrincipalKindError("only a person mints a token of another kind", field="kind")
    return known


def _require_label(label: str) -> None:
    if label.casefold().startswith(RESERVED_LABEL_PREFIXES):
        raise InvalidInputError("labels beginning so are reserved for the engine", field="label")


def digest_of_secret(secret: str) -> str:
    """The SHA-256, in hex, under which a token is stored."""
    return sha256(secret.encode()).hexdigest()


def principal_of(tokens: TokenStore, secret: str, now: int) -> Principal:
    """The principal a secret stands for, read afresh.

    Raises:
        UnauthenticatedError: unknown, revoked or expired. The message does not tell which.
    """
    token = tokens.token(digest_of_secret(secret)) if secret else None
    if token is None or token.revoked_at is not None:
        raise UnauthenticatedError("this token is not valid")
    if token.expires_at is not None and token.expires_at <= now:
        raise UnauthenticatedError("this token is not valid")
    return Principal(
        id=token.principal_id,
        label=token.label,
        kind=token.kind,
        tenant=token.tenant,
        memories=token.memories,
        scopes=frozenset(token.scopes),
        token_id=token.id,
        lineage=token.lineage,
        expires_at=token.expires_at,
    )


def describe(token: Token) -> Mapping[str, Any]:
    """What may be shown of a token: all but its digest."""
    return {
        "id": token.id,
        "label": token.label,
        "kind": token.kind,
        "memories": token.memories,
        "scopes": list(token.scopes),
        "created_at": format_instant(token.created_at),
        "expires_at": None if token.expires_at is None else format_instant(token.expires_at),
    }

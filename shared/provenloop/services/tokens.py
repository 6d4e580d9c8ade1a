"""Tokens: minted once, shown once, stored as SHA-256.

Invariants: a token mints only scopes it holds, only for memories it may use itself, and only tokens that end when it
does; only a person mints a token of kind human, everybody else only their own kind; labels are unique in a tenant for
good, in whatever spelling, and the labels of the engine are reserved. The lineage of a token names everybody behind it,
so that nobody approves their own proposal through a token they minted, and so that a revoked token takes with it what
it minted. A token that is revoked meanwhile mints nothing: its revision is a condition of the transaction.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from provenloop.domain.base64url import encoded
from provenloop.domain.errors import (
    ConflictError,
    ForbiddenError,
    InvalidInputError,
    LoopError,
    PrincipalKindError,
    UnauthenticatedError,
)
from provenloop.domain.instants import format_instant
from provenloop.domain.memory_glob import covers, require_glob
from provenloop.domain.principal import (
    KINDS,
    Principal,
    PrincipalKind,
    Scope,
    is_reserved,
    parse_scopes,
    require_scope,
)
from provenloop.domain.records import Label, Token, TokenId
from provenloop.domain.text import normalise
from provenloop.services.call import Call
from provenloop.services.ports import (
    Entropy,
    Failure,
    Put,
    Require,
    Store,
    Write,
    WriteRefusedError,
)
from provenloop.services.replay import answered_before, replay_of
from provenloop.services.tenant_trail import minted
from provenloop.services.token_port import TokenReader, TokenStore

SECRET_BYTES = 32
SECRET_PREFIX = "pvl_"
TOKEN_PREFIX = "tok_"
ROUTE = "tokens"
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
    """What may be shown of a token; ``secret`` exists nowhere else, and is None where the token was there before."""

    shown: Mapping[str, Any]
    secret: str | None


def mint_token(store: Store, tokens: TokenStore, call: Call, request: MintRequest) -> Minted:
    """Make a token in the principal's tenant; the same Idempotency-Key finds it again, without its secret.

    Raises:
        ScopeDeniedError: the principal lacks admin.
        InvalidInputError, PrincipalKindError, ForbiddenError: it may not mint such a token.
        ConflictError: the label is taken, or the key came with another body.
        UnauthenticatedError: the principal's own token was revoked meanwhile.
    """
    with answered_before(store, call, ROUTE) as earlier:
        require_scope(call.principal, "admin")
        secret = SECRET_PREFIX + encoded(call.entropy(SECRET_BYTES))
        token = _wanted(call.principal, request, digest_of_secret(secret), now=call.now, entropy=call.entropy)
        _store(tokens, call, token)
    if earlier.reply is not None:
        return Minted(earlier.reply, None)
    return Minted(describe(token), secret)


def _wanted(principal: Principal, request: MintRequest, digest: str, *, now: int, entropy: Entropy) -> Token:
    """The token, if the principal may mint it."""
    kind = _require_kind(principal, request.kind)
    _require_label(request.label)
    scopes = _require_scopes(principal, request.scopes)
    _require_memories(principal, request.memories)
    expires_at = _require_expiry(principal, request.expires_at, now)
    token_id = TOKEN_PREFIX + base64.b32encode(entropy(_ID_BYTES)).decode().lower()
    return Token(
        digest=digest,
        id=token_id,
        principal_id=token_id,
        label=request.label,
        kind=kind,
        tenant=principal.tenant,
        memories=request.memories,
        scopes=tuple(sorted(scopes)),
        lineage=(token_id, *principal.lineage),
        created_at=now,
        expires_at=expires_at,
    )


def _require_kind(principal: Principal, kind: str) -> PrincipalKind:
    known = next((known for known in KINDS if known == kind), None)
    if known is None:
        raise InvalidInputError(f"unknown kind; one of {', '.join(KINDS)}", field="kind")
    if principal.kind not in (known, "human"):
        raise PrincipalKindError("only a person mints a token of another kind", field="kind")
    return known


def _require_label(label: str) -> None:
    if is_reserved(label):
        raise InvalidInputError("labels such as this are reserved for the engine", field="label")


def _require_scopes(principal: Principal, wanted: tuple[str, ...]) -> frozenset[Scope]:
    scopes = parse_scopes(wanted)
    missing = sorted(scope for scope in scopes if not principal.has(scope))
    if missing:
        raise ForbiddenError(f"a token cannot grant scopes its minter lacks: {', '.join(missing)}", field="scopes")
    return scopes


def _require_memories(principal: Principal, memories: str) -> None:
    require_glob(memories, field="memories")
    if not covers(principal.memories, memories):
        raise ForbiddenError("a token cannot cover memories beyond its minter's", field="memories")


def _require_expiry(principal: Principal, expires_at: int | None, now: int) -> int | None:
    """When it ends: as wished, or with its minter where nothing is wished."""
    latest = principal.mints_until
    if expires_at is None:
        return latest
    if expires_at <= now:
        raise InvalidInputError("already past", field="expires_at")
    if latest is not None and expires_at > latest:
        raise ForbiddenError("a token cannot outlive its minter's", field="expires_at")
    return expires_at


def _store(tokens: TokenStore, call: Call, token: Token) -> None:
    label = Label(normalise(token.label), token.id)
    writes: list[Write] = [Put(token), Put(TokenId(token.id, token.digest)), Put(label)]
    writes += minted(token, call.principal)
    writes += _minter_unchanged(tokens, call.principal)
    replay = replay_of(call, ROUTE, describe(token))
    if replay is not None:
        writes.append(Put(replay))
    try:
        tokens.transact(token.tenant, writes, call.now)
    except WriteRefusedError as refused:
        raise _refusal(refused.failures) from refused


def _minter_unchanged(tokens: TokenStore, principal: Principal) -> list[Write]:
    """The bootstrap token and people of an issuer are stored nowhere, so nothing can be asked of them."""
    if not principal.token_id.startswith(TOKEN_PREFIX):
        return []
    minter = tokens.token_of_id(principal.tenant, principal.token_id)
    if minter is None or minter.revoked_at is not None:
        raise UnauthenticatedError("this token is not valid")
    return [Require(minter, minter.rev)]


def _refusal(failures: tuple[Failure, ...]) -> LoopError:
    """What to answer; a revoked minter learns nothing else."""
    failed = {type(failure.write.entity) for failure in failures if isinstance(failure.write, Put | Require)}
    if any(isinstance(failure.write, Require) for failure in failures):
        return UnauthenticatedError("this token is not valid")
    if Label in failed:
        return ConflictError("a token with that label exists", field="label")
    return ConflictError("the same request is being answered already")


def digest_of_secret(secret: str) -> str:
    """The SHA-256, in hex, under which a token is stored."""
    return sha256(secret.encode()).hexdigest()


def principal_of(tokens: TokenReader, secret: str, now: int) -> Principal:
    """The principal a secret stands for, read afresh.

    Raises:
        UnauthenticatedError: unknown, revoked or expired. The message does not tell which.
    """
    return principal_of_credential(tokens, digest_of_secret(secret) if secret else "", now)


def principal_of_credential(tokens: TokenReader, credential: str, now: int) -> Principal:
    """As :func:`principal_of`, of a secret's SHA-256: what somebody may do now who did something before.

    Raises:
        UnauthenticatedError: unknown, revoked or expired, or nothing to find anybody by.
    """
    token = tokens.token(credential) if credential else None
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
        mints_until=token.expires_at,
        credential=token.digest,
    )


def describe(token: Token) -> dict[str, Any]:
    """What may be shown of a token: all but its digest."""
    return {
        "id": token.id,
        "label": token.label,
        "kind": token.kind,
        "memories": token.memories,
        "scopes": list(token.scopes),
        "minted_by": token.lineage[1] if len(token.lineage) > 1 else None,
        "lineage": list(token.lineage),
        "created_at": format_instant(token.created_at),
        "expires_at": _instant(token.expires_at),
        "revoked_at": _instant(token.revoked_at),
        "revoked_by": token.revoked_by,
    }


def _instant(at: int | None) -> str | None:
    return None if at is None else format_instant(at)

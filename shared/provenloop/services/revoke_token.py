"""Listing tokens, and revoking one with everything that was minted under it.

Invariants: who may list a token may revoke it, and sees only tokens that reach no memory beyond their own; a person's
token is revoked by a person. Whoever holds a revoked token may hold what they minted with it, so its descendants are
revoked too. Ancestors are revoked before what they minted, and the tenant's tokens are read again until none is left:
since minting insists that its minter is not revoked, nothing minted meanwhile can be missed. Revoking again changes
nothing, and ends what was cut short.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from provenloop.domain.audit import ChainEnd
from provenloop.domain.errors import BusyError, NotFoundError, PrincipalKindError
from provenloop.domain.memory_glob import covers
from provenloop.domain.names import tenant_itself
from provenloop.domain.principal import Principal, require_scope
from provenloop.domain.records import Token
from provenloop.services.audit_port import AuditReader
from provenloop.services.ports import Replace, Write, WriteRefusedError
from provenloop.services.tenant_trail import revoked, token_chain
from provenloop.services.token_port import TokenStore
from provenloop.services.tokens import describe

#: Tokens revoked in one transaction; each is three items with its audit entry, and a transaction takes a hundred.
BATCH = 33
MAX_ROUNDS = 20


def list_tokens(tokens: TokenStore, principal: Principal, *, limit: int, cursor: str | None) -> dict[str, Any]:
    """One page of the tenant's tokens by id, those included that are revoked or expired.

    A page may hold fewer than ``limit`` where some reach memories that the principal may not use.

    Raises:
        ScopeDeniedError: the principal lacks admin.
    """
    require_scope(principal, "admin")
    page = tokens.tokens(principal.tenant, after=cursor or "", limit=limit)
    shown = [describe(token) for token in page if _may_see(principal, token)]
    return {"tokens": shown, "cursor": page[-1].id if len(page) == limit else None}


def revoke_token(
    store: AuditReader, tokens: TokenStore, principal: Principal, token_id: str, *, now: int
) -> dict[str, Any]:
    """Revoke a token and its descendants, each with its audit entry; doing so again answers the same.

    Raises:
        ScopeDeniedError: the principal lacks admin.
        NotFoundError: no such token, or it reaches memories that the principal may not use.
        PrincipalKindError: it is a person's, and the principal is none.
        BusyError: others kept changing the same tokens; sending it again goes on.
    """
    require_scope(principal, "admin")
    target = tokens.token_of_id(principal.tenant, token_id)
    if target is None or not _may_see(principal, target):
        raise NotFoundError("no such token", field="id")
    if target.kind == "human" and principal.kind != "human":
        raise PrincipalKindError("only a person revokes a person's token", field="id")
    for _ in range(MAX_ROUNDS):
        family = _family(tokens, target)
        left = [token for token in family if token.revoked_at is None]
        if not left:
            return _answer(family, token_id)
        trail = tenant_itself(principal.tenant)
        ends = store.chain_ends_of(trail, [token_chain(token.id) for token in left])
        _revoke(tokens, principal, [(token, ends.get(token_chain(token.id))) for token in left], now, token_id)
    raise BusyError("others keep changing the same tokens; try again")


def _may_see(principal: Principal, token: Token) -> bool:
    return covers(principal.memories, token.memories)


def _family(tokens: TokenStore, target: Token) -> list[Token]:
    """The token and everything minted under it, ancestors first."""
    family = [token for token in tokens.tokens(target.tenant) if target.id in token.lineage]
    return sorted(family, key=lambda token: (len(token.lineage), token.id))


def _revoke(
    tokens: TokenStore, principal: Principal, left: Sequence[tuple[Token, ChainEnd | None]], now: int, token_id: str
) -> None:
    """Revoke in order, each with the end of its audit chain, as far as nobody else does so at the same time."""
    for start in range(0, len(left), BATCH):
        writes: list[Write] = []
        for token, end in left[start : start + BATCH]:
            over = replace(token, revoked_at=now, revoked_by=principal.id, rev=token.rev + 1)
            writes += [Replace(over, token.rev), *revoked(token, end, principal, now, token_id)]
        try:
            tokens.transact(principal.tenant, writes, now)
        except WriteRefusedError:
            return


def _answer(family: Sequence[Token], token_id: str) -> dict[str, Any]:
    (target,) = (token for token in family if token.id == token_id)
    return {**describe(target), "descendants": [token.id for token in family if token.id != token_id]}

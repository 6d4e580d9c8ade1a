"""The audit trail of a tenant itself: what becomes of its tokens and of its memories as such.

One chain for each: ``token:<id>`` (minted, revoked) and ``memory:<name>`` (created, erased). It outlives the memories,
and holds ids, labels, scopes and names, never a secret, its digest, or a reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from provenloop.domain.audit import ChainEnd, author_of, new_chain
from provenloop.domain.instants import format_instant
from provenloop.domain.principal import Principal
from provenloop.domain.records import Token
from provenloop.services.outbox import chain_step
from provenloop.services.ports import Write

Happening = Literal["minted", "revoked", "created", "erased"]


def token_chain(token_id: str) -> str:
    """The subject of a token's chain."""
    return f"token:{token_id}"


def memory_chain(name: str) -> str:
    """The subject of a memory's chain."""
    return f"memory:{name}"


def step(
    subject: str, end: ChainEnd | None, after: Happening, by: Principal, at: int, effects: Mapping[str, Any]
) -> list[Write]:
    """The writes of one entry, two of them, on the tenant itself.

    Args:
        end: where the chain ends now; None where it begins.
    """
    return chain_step(end or new_chain(subject), after, author_of(by), at, effects).writes


def minted(token: Token, by: Principal) -> list[Write]:
    """What is written of a token that is minted."""
    effects = {
        "label": token.label,
        "kind": token.kind,
        "memories": token.memories,
        "scopes": list(token.scopes),
        "lineage": list(token.lineage),
        "expires_at": None if token.expires_at is None else format_instant(token.expires_at),
    }
    return step(token_chain(token.id), None, "minted", by, token.created_at, effects)


def revoked(token: Token, end: ChainEnd | None, by: Principal, at: int, because_of: str) -> list[Write]:
    """What is written of a token that is revoked, itself or with the one it was minted under."""
    return step(token_chain(token.id), end, "revoked", by, at, {"label": token.label, "with": because_of})

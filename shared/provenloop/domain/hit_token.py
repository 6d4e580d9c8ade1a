"""Hit tokens: what a match gives out, so that what was delivered can be committed and judged later. Nothing is stored.

A token is its payload and a MAC of it under the memory's own key, over tenant and memory as well: it says nothing in
any other memory, and nothing once the memory is erased. It can be read by whoever holds it, and changed by nobody.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Literal, get_args

from provenloop.domain.base64url import decoded, encoded
from provenloop.domain.canonical import canonical_json, sha256_hex
from provenloop.domain.instants import DAY_MS, MINUTE_MS
from provenloop.domain.names import MemoryId
from provenloop.domain.recipe import id_of

Rung = Literal["exact", "semantic", "composed"]
RUNGS: tuple[Rung, ...] = get_args(Rung)
COMMIT_WITHIN_MS = 60 * MINUTE_MS
FEEDBACK_WITHIN_MS = 30 * DAY_MS
MAX_TOKEN_CHARS = 16_384
_VERSION = 1
_ID_CHARS = 32
_PURPOSE = "provenloop.hit_token"


@dataclass(frozen=True, slots=True)
class HitToken:
    """One hit: which recipe in which revision answered by which rung, and what its ledger row is about.

    ``at`` is epoch ms; ``nonce`` tells two hits of one instant apart.
    """

    at: int
    scope_key: str
    signature: str
    revision: int
    rung: Rung
    nonce: str
    session: str = ""
    log_fields: Mapping[str, str] = field(default_factory=dict)

    @property
    def recipe_id(self) -> str:
        """The recipe's id."""
        return id_of(self.scope_key, self.signature)

    @property
    def id(self) -> str:
        """32 hex digits that stand for this hit."""
        return sha256_hex(self.payload)[:_ID_CHARS]

    @property
    def payload(self) -> str:
        """What is signed, as text."""
        parts = [self.at, self.scope_key, self.signature, self.revision, self.rung, self.nonce]
        return canonical_json([_VERSION, *parts, self.session, dict(self.log_fields)])


def signed(token: HitToken, memory: MemoryId, key: bytes) -> str:
    """The token as text."""
    return f"{encoded(token.payload.encode())}.{encoded(_mac(token.payload, memory, key))}"


def read_token(text: str) -> HitToken | None:
    """What a text says, whoever wrote it; None where it has not the form of a token."""
    payload = _payload(text)
    try:
        version, at, scope_key, signature, revision, rung, nonce, session, fields = json.loads(payload or "null")
        token = HitToken(at, scope_key, signature, revision, rung, nonce, session, fields)
        has_form = version == _VERSION and rung in RUNGS and token.payload == payload and _has_form(token)
    except (ValueError, TypeError, RecursionError):
        return None
    return token if has_form else None


def is_genuine(text: str, memory: MemoryId, key: bytes) -> bool:
    """Whether a token was given out in this memory; takes as long whatever is wrong with it."""
    try:
        given = decoded(text.partition(".")[2])
    except ValueError:
        given = b""
    return hmac.compare_digest(given, _mac(_payload(text) or "", memory, key))


def _mac(payload: str, memory: MemoryId, key: bytes) -> bytes:
    told = canonical_json([_PURPOSE, memory.tenant, memory.name, payload])
    return hmac.new(key, told.encode(), sha256).digest()


def _payload(text: str) -> str | None:
    if len(text) > MAX_TOKEN_CHARS:
        return None
    try:
        return decoded(text.partition(".")[0]).decode()
    except ValueError:
        return None


def _has_form(token: HitToken) -> bool:
    numbers: list[Any] = [token.at, token.revision]
    texts: list[Any] = [token.scope_key, token.signature, token.nonce, token.session]
    return (
        all(type(number) is int and number >= 0 for number in numbers)
        and all(isinstance(text, str) for text in texts)
        and all(isinstance(value, str) for value in token.log_fields.values())
    )

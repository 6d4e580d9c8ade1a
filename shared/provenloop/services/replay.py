"""Requests sent again: the answer to an Idempotency-Key is kept for 24 hours, in the transaction of its effect.

A repeated request costs nothing more unless it is refused, as it must be once the first has taken effect.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from provenloop.domain.canonical import canonical_json
from provenloop.domain.errors import IdempotencyMismatchError, LoopError
from provenloop.domain.records import REPLAY_KEPT_MS, Replay
from provenloop.services.call import Call
from provenloop.services.ports import Store


@dataclass
class Earlier:
    """The answer that a repeated request was given before, if it was."""

    reply: dict[str, Any] | None = None


@contextmanager
def answered_before(store: Store, call: Call, route: str) -> Iterator[Earlier]:
    """Turns a refusal into the earlier answer, where this very request was answered before.

    So a repeated request costs nothing more unless it is refused, as it must be once the first has taken effect.

    Raises:
        IdempotencyMismatchError: the Idempotency-Key came with another body before.
        LoopError: the refusal, where there is no earlier answer.
    """
    earlier = Earlier()
    try:
        yield earlier
    except LoopError:
        earlier.reply = earlier_reply(store, call, route)
        if earlier.reply is None:
            raise


def replay_key(call: Call, route: str) -> str:
    """Where the answer to a request with an Idempotency-Key is kept."""
    parts = [call.memory.tenant, call.memory.name, call.principal.id, route, call.idempotency_key or ""]
    return sha256(canonical_json(parts).encode()).hexdigest()


def replay_of(call: Call, route: str, reply: Mapping[str, Any], kept_ms: int = REPLAY_KEPT_MS) -> Replay | None:
    """The record that lets a repeated request be answered for ``kept_ms``; None without an Idempotency-Key."""
    if call.idempotency_key is None:
        return None
    return Replay(replay_key(call, route), call.body_digest, call.now, reply, kept_ms)


def earlier_reply(store: Store, call: Call, route: str) -> dict[str, Any] | None:
    """The answer this very request was given before, if it was."""
    if call.idempotency_key is None:
        return None
    known = store.replay(call.memory, replay_key(call, route), call.now)
    if known is None:
        return None
    require_same_body(call, known)
    return dict(known.reply)


def require_same_body(call: Call, known: Replay) -> None:
    """Refuse a key that comes back with another body.

    Raises:
        IdempotencyMismatchError: it does.
    """
    if known.body_digest != call.body_digest:
        raise IdempotencyMismatchError("this Idempotency-Key was used with another body")

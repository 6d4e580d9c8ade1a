"""Reviewing several recommendations at once: exactly those that are listed, each by a decision of its own.

Every decision has its own checks, transaction and audit entry; one that is refused says why and stops no other. There
is no way to say "all that are pending".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from provenloop.domain.errors import InvalidInputError, LoopError
from provenloop.services.call import Call
from provenloop.services.decision import require_because
from provenloop.services.memories import require_heads
from provenloop.services.ports import Store
from provenloop.services.review import acknowledge, approve, reject

BatchAction = Literal["approve", "reject", "acknowledge"]
MAX_IDS = 50

_DECISIONS: Mapping[BatchAction, Callable[[Store, Call, str, str], dict[str, Any]]] = {
    "approve": approve,
    "reject": reject,
    "acknowledge": acknowledge,
}


def batch_review(store: Store, call: Call, ids: Sequence[str], action: BatchAction, because: str) -> dict[str, Any]:
    """Decide the same about each of the listed recommendations, in the order in which they are listed.

    Args:
        ids: whole ids or prefixes of them, at most 50, none twice.

    Returns:
        ``{action, decided, refused, results: [{id, decision, error}]}``: ``id`` as it was given, and either what the
        decision answers or ``{code, detail, field}``.

    Raises:
        ScopeDeniedError, InvalidInputError, NotFoundError: the whole is refused (no such memory, say); nothing was
            written.
    """
    call.require("review")
    reason = require_because(because)
    if not 1 <= len(ids) <= MAX_IDS:
        raise InvalidInputError(f"1 to {MAX_IDS} ids are needed", field="ids")
    for place, one in enumerate(ids):
        if one.lower() in {earlier.lower() for earlier in ids[:place]}:
            raise InvalidInputError("listed twice", field=f"ids[{place}]")
    require_heads(store, call.memory)
    results = [_decided(store, _apart(call), one, _DECISIONS[action], reason) for one in ids]
    decided = sum(result["error"] is None for result in results)
    return {"action": action, "decided": decided, "refused": len(results) - decided, "results": results}


def _apart(call: Call) -> Call:
    """The call with an Idempotency-Key that no decision made by itself has."""
    return call if call.idempotency_key is None else replace(call, idempotency_key=f"batch {call.idempotency_key}")


def _decided(
    store: Store, call: Call, one: str, decide: Callable[[Store, Call, str, str], dict[str, Any]], because: str
) -> dict[str, Any]:
    try:
        return {"id": one, "decision": decide(store, call, one, because), "error": None}
    except LoopError as error:
        told = {"code": error.code, "detail": error.message, "field": error.field}
        return {"id": one, "decision": None, "error": told}

"""Keeping recipes: a new one, one that was learnt again, and what people decide of it.

A recipe, its vector, its audit entry and what it said before are one transaction; one request has one recipe in one
scope, however often and by however many it is learnt at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from provenloop.domain.address import Addresses
from provenloop.domain.errors import BusyError, InvalidInputError, TooLargeError
from provenloop.domain.instants import DAY_MS
from provenloop.domain.recipe import (
    MAX_REQUEST_BYTES,
    MAX_RESPONSE_BYTES,
    Provenance,
    Recipe,
    RecipeKind,
    RecipeScope,
    RecipeVersion,
)
from provenloop.recipes.normalise import normalise, signature
from provenloop.recipes.scope import require_scope_of, scope_key
from provenloop.services.call import Call
from provenloop.services.memories import require_heads
from provenloop.services.ports import Put, Replace, Write
from provenloop.services.recipe_shelf import (
    MAX_ROUNDS,
    Shelf,
    audited_step,
    committed,
    tidy,
    with_vector,
)

#: What became of a recipe that was learnt. ``stays_retired``: a person retired it, so nothing was written.
Kept = Literal["created", "reinforced", "superseded", "stays_retired"]


@dataclass(frozen=True, slots=True)
class Learnt:
    """A recipe that was learnt. ``ttl_days`` is how long it is valid, 0 for ever."""

    kind: RecipeKind
    scope: RecipeScope
    request: str
    response: str
    category: str = ""
    principles: tuple[str, ...] = ()
    confidence: float | None = None
    provenance: Provenance = field(default_factory=Provenance)
    ttl_days: int = 0


def keep_recipe(shelf: Shelf, call: Call, learnt: Learnt, *, beside: Sequence[Write] = ()) -> tuple[Kept, Recipe]:
    """Keep what was learnt: as a new recipe, or in the one that its request has already.

    The same answer reinforces; another one supersedes, and what was said before is kept. A quarantined recipe stays so,
    whatever is learnt, and a retired one stays as it is: only people change that.

    Args:
        beside: further writes of the same transaction.

    Returns:
        what became of it, and the recipe as it is now.

    Raises:
        ScopeDeniedError, NotFoundError, InvalidInputError, TooLargeError: nothing was written.
        WriteRefusedError: a write of ``beside`` did not hold.
        BusyError: others keep changing the same recipe or index.
    """
    call.require("write")
    _require_sound(learnt)
    sealing = Addresses(require_heads(shelf.store, call.memory).log.key)
    key = scope_key(call.memory, learnt.scope)
    name = signature(learnt.request, key)
    for _ in range(MAX_ROUNDS):
        before = shelf.store.recipe(call.memory, key, name)
        if before is not None and before.status == "retired":
            return "stays_retired", before
        seal = sealing.short("recipe response", learnt.response)
        chain = sealing.short("recipe", key, name)
        kept, after = (
            _learnt_again(before, learnt, seal, call.now)
            if before
            else ("created", _new(key, name, learnt, call, chain=chain, seal=seal))
        )
        after, vectors = with_vector(shelf, call, after)
        change = [_put(before, after), *_version(before, after), *vectors]
        audit = audited_step(shelf.store, call, after, kept)
        if committed(shelf.store, call, [*beside, *change, *audit.writes], len(beside)):
            tidy(shelf, call, after, vectors)
            return kept, after
    raise BusyError("others keep changing this recipe; try again")


def _require_sound(learnt: Learnt) -> None:
    require_scope_of(learnt.kind, learnt.scope)
    if not normalise(learnt.request):
        raise InvalidInputError("say what the request was", field="request")
    if not learnt.response.strip():
        raise InvalidInputError("say what the answer is", field="response")
    for name, most in (("request", MAX_REQUEST_BYTES), ("response", MAX_RESPONSE_BYTES)):
        if len(getattr(learnt, name).encode()) > most:
            raise TooLargeError(f"at most {most} bytes", field=name)


def _new(key: str, name: str, learnt: Learnt, call: Call, *, chain: str, seal: str) -> Recipe:
    return Recipe(
        scope_key=key,
        signature=name,
        scope=learnt.scope,
        kind=learnt.kind,
        request=learnt.request,
        response=learnt.response,
        created_at=call.now,
        changed_at=call.now,
        chain=chain,
        seal=seal,
        category=learnt.category,
        principles=learnt.principles,
        confidence=learnt.confidence,
        provenance=learnt.provenance,
        valid_to=_valid_to(learnt, call.now),
    )


def _learnt_again(before: Recipe, learnt: Learnt, seal: str, now: int) -> tuple[Kept, Recipe]:
    """The request was answered once more: so as before, or otherwise."""
    common = replace(before, changed_at=now, valid_to=_valid_to(learnt, now), rev=before.rev + 1)
    if learnt.response == before.response and learnt.kind == before.kind:
        return "reinforced", replace(common, reinforced=before.reinforced + 1)
    return "superseded", replace(
        common,
        kind=learnt.kind,
        response=learnt.response,
        seal=seal,
        category=learnt.category,
        principles=learnt.principles,
        confidence=learnt.confidence,
        provenance=learnt.provenance,
        reinforced=0,
        hits=0,
        held=0,
        regressed=0,
        strikes=0 if before.status == "live" else before.strikes,
        revision=before.revision + 1,
    )


def _valid_to(learnt: Learnt, now: int) -> int | None:
    return now + learnt.ttl_days * DAY_MS if learnt.ttl_days else None


def _put(before: Recipe | None, after: Recipe) -> Write:
    return Put(after) if before is None else Replace(after, expected=before.rev)


def _version(before: Recipe | None, after: Recipe) -> list[Write]:
    """What was said before, where something else is said now."""
    return [Put(RecipeVersion(before))] if before is not None and before.revision != after.revision else []

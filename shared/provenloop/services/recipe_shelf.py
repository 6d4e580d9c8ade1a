"""Changing a stored recipe: with its vector and its audit entry in one transaction, however many change it at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from provenloop.domain.audit import author_of, new_chain
from provenloop.domain.errors import BusyError, NotFoundError, UnavailableError
from provenloop.domain.recipe import Recipe, facts_of, recipe_subject, split_id
from provenloop.domain.recipe_vectors import Embedded, begun_anew
from provenloop.recipes.decide import wants_vector
from provenloop.services.call import Call
from provenloop.services.outbox import ChainStep, chain_step, reason_on
from provenloop.services.ports import Put, Replace, Store, Write, WriteRefusedError
from provenloop.services.recipe_ports import Embedder, VectorIndex, space_of

MAX_ROUNDS = 6


@dataclass(frozen=True, slots=True)
class Shelf:
    """Where recipes are kept: the store, and the index and embedder of their vectors (None without an embedder)."""

    store: Store
    index: VectorIndex
    embedder: Embedder | None

    def tidy(self, call: Call, scope_key: str, space: str) -> None:
        """Merge small rows of an index, once vectors were put. What was done stands, so this never fails it."""
        with suppress(UnavailableError):
            self.index.tidy(call.memory, scope_key, space, call.now)


def find_recipe(store: Store, call: Call, recipe_id: str) -> Recipe:
    """The recipe of an id.

    Raises:
        NotFoundError: there is none.
    """
    parts = split_id(recipe_id)
    found = store.recipe(call.memory, *parts) if parts else None
    if found is None:
        raise NotFoundError("no such recipe", field="recipe_id")
    return found


def change_recipe(
    shelf: Shelf,
    call: Call,
    recipe_id: str,
    moved: Callable[[Recipe], Recipe],
    step: str,
    *,
    because: str | None = None,
    beside: Sequence[Write] = (),
) -> Recipe:
    """Change a stored recipe, with its audit entry, and its vector where it begins or ceases to be live.

    Args:
        moved: the recipe afterwards, its ``rev`` raised by one; whatever it raises ends the change.
        step: what the audit entry calls it.
        beside: further writes of the same transaction.

    Raises:
        NotFoundError: there is no such recipe.
        WriteRefusedError: a write of ``beside`` did not hold.
        BusyError: others keep changing it.
    """
    for _ in range(MAX_ROUNDS):
        before = find_recipe(shelf.store, call, recipe_id)
        after, vectors = with_vector(shelf, call, moved(before))
        audit = audited_step(shelf.store, call, after, step, because)
        change = [Replace(after, expected=before.rev), *vectors]
        if committed(shelf.store, call, [*beside, *change, *audit.writes], len(beside)):
            tidy(shelf, call, after, vectors)
            return after
    raise BusyError("others keep changing this recipe; try again")


def with_vector(shelf: Shelf, call: Call, recipe: Recipe) -> tuple[Recipe, Sequence[Write]]:
    """The recipe with the spaces that hold its vector: the embedder's while it is live, none else."""
    if recipe.status != "live":
        writes = shelf.index.removing(call.memory, recipe.scope_key, recipe.spaces, recipe.signature)
        return replace(recipe, spaces=()), writes
    space = None if shelf.embedder is None else space_of(shelf.embedder)
    if not wants_vector(recipe, space):
        return recipe, ()
    told = () if recipe.spaces else _telling_others(shelf, call, recipe.scope_key, space)
    put = () if shelf.embedder is None else _putting(shelf, shelf.embedder, call, recipe)
    spaces = (*recipe.spaces, space) if put and space else recipe.spaces
    return replace(recipe, spaces=spaces), [*put, *told]


def _putting(shelf: Shelf, embedder: Embedder, call: Call, recipe: Recipe) -> Sequence[Write]:
    """What puts the recipe's vector; nothing where the embedder has nothing to say of the request."""
    [vector] = embedder.embed([recipe.request])
    if not any(vector):
        return ()
    return shelf.index.putting(call.memory, recipe.scope_key, space_of(embedder), {recipe.signature: vector})


def _telling_others(shelf: Shelf, call: Call, scope_key: str, space: str | None) -> list[Write]:
    """What has the scope looked at again by all embedders but this one, as a recipe becomes live."""
    known = shelf.store.embedded(call.memory, scope_key)
    return [Put(Embedded(scope_key)) if known is None else Replace(begun_anew(known, space), expected=known.rev)]


def audited_step(
    store: Store,
    call: Call,
    recipe: Recipe,
    step: str,
    because: str | None = None,
    *,
    status: str | None = None,
) -> ChainStep:
    """The next step of a recipe's chain; one that was forgotten and is learnt anew goes on where its chain ended.

    Args:
        step: what happened, told among the effects.
        because: the reason, kept apart where there is one.
        status: what the chain says instead of the recipe's status.
    """
    subject = recipe_subject(recipe)
    end = store.chain_end(call.memory, subject) or new_chain(subject)
    note = reason_on(end, because, call.entropy)
    effects = {"step": step, **facts_of(recipe)}
    by = author_of(call.principal)
    return chain_step(end, status or recipe.status, by, call.now, effects, note, about=recipe.id)


def committed(store: Store, call: Call, writes: Sequence[Write], beside: int) -> bool:
    """Whether all was written; False where something moved in between.

    Raises:
        WriteRefusedError: one of the first ``beside`` writes did not hold.
    """
    try:
        store.transact(call.memory, writes, call.now)
    except WriteRefusedError as refused:
        if any(failure.index < beside for failure in refused.failures):
            raise
        return False
    return True


def tidy(shelf: Shelf, call: Call, recipe: Recipe, vectors: Sequence[Write]) -> None:
    """Tidy the recipe's index, where vectors were put."""
    if vectors and recipe.spaces:
        shelf.tidy(call, recipe.scope_key, recipe.spaces[-1])

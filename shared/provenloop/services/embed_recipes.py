"""Vectors for recipes that have none of the present embedder: made when their scope is asked, a page at a time.

An embedder that is changed finds its scopes empty, and fills each while it is used. Vectors of the former stay where
they are, are never compared with, and go with their recipe. Should it come back, it looks at its scopes again where
recipes became live that it has not seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from provenloop.domain.recipe import Recipe
from provenloop.domain.recipe_vectors import Embedded, looked_at
from provenloop.recipes.decide import wants_vector
from provenloop.services.call import Call
from provenloop.services.ports import Put, Replace, Write, WriteRefusedError
from provenloop.services.recipe_ports import Embedder, space_of
from provenloop.services.recipe_shelf import Shelf

#: Recipes looked at in one go; what they hold is written anew, so their size counts as well.
PAGE = 64
_PAGE_BYTES = 1_500_000


def embed_scope(shelf: Shelf, call: Call, scope_key: str) -> bool:
    """Look at the next recipes of a scope, and put vectors of those that have none of the present embedder.

    One read where all have; who asks often remembers that. Losing a race is left to the next who asks.

    Returns:
        whether all recipes have theirs now.

    Raises:
        UnavailableError: the store or the embedder does not answer.
    """
    if shelf.embedder is None:
        return True
    space = space_of(shelf.embedder)
    known = shelf.store.embedded(call.memory, scope_key)
    before = known or Embedded(scope_key, rev=0)
    if space in before.done:
        return True
    first = before.upto.get(space, "")
    found = shelf.store.recipes_in_scope(call.memory, scope_key, first, PAGE)
    page = _affordable(found)
    done = len(found) < PAGE and len(page) == len(found)
    after = looked_at(before, space, page[-1].signature if page else first, done=done)
    put: Write = Replace(after, expected=before.rev) if known else Put(after)
    try:
        shelf.store.transact(call.memory, [put, *_vectors(shelf, shelf.embedder, call, page)], call.now)
    except WriteRefusedError:
        return False
    shelf.tidy(call, scope_key, space)
    return done


def _affordable(recipes: Sequence[Recipe]) -> Sequence[Recipe]:
    """As many of the recipes as one transaction may write anew; at least one."""
    total = 0
    for place, recipe in enumerate(recipes):
        total += 3 * len(recipe.request) + 3 * len(recipe.response)
        if place and total > _PAGE_BYTES:
            return recipes[:place]
    return recipes


def _vectors(shelf: Shelf, embedder: Embedder, call: Call, page: Sequence[Recipe]) -> list[Write]:
    space = space_of(embedder)
    without = [recipe for recipe in page if wants_vector(recipe, space)]
    vectors = {
        recipe.signature: vector
        for recipe, vector in zip(without, embedder.embed([recipe.request for recipe in without]), strict=True)
        if any(vector)
    }
    if not vectors:
        return []
    moved = [recipe for recipe in without if recipe.signature in vectors]
    return [
        *(Replace(replace(each, spaces=(*each.spaces, space), rev=each.rev + 1), expected=each.rev) for each in moved),
        *shelf.index.putting(call.memory, moved[0].scope_key, space, vectors),
    ]

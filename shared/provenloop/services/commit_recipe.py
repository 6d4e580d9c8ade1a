"""Committing a hit: what was delivered counts, once, however often it is said.

Two writes in one transaction: the row of the ledger, put if absent under the token's id, and the recipe's counts.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from provenloop.domain.errors import BusyError, InvalidInputError
from provenloop.domain.hit_token import COMMIT_WITHIN_MS, HitToken, is_genuine, read_token
from provenloop.domain.ledger import COMPOSER_HIT, EXACT_HIT, SEMANTIC_HIT, About, LedgerRow, free_row
from provenloop.domain.recipe import Recipe
from provenloop.services.call import Call
from provenloop.services.memories import require_heads, unknown_memory
from provenloop.services.ports import Put, Replace, Store, Write, WriteRefusedError

COMPONENT_OF = {"exact": EXACT_HIT, "semantic": SEMANTIC_HIT, "composed": COMPOSER_HIT}
#: A recipe that is served often is committed by many at once.
_MAX_ROUNDS = 12


def commit_recipe(store: Store, call: Call, text: str) -> dict[str, Any]:
    """Count one delivered hit.

    Returns:
        ``{recipe, rung, repeated, reinforced}``: whether it was counted before; ``reinforced`` says whether the recipe
        was there, live, and still said what was delivered, when it was counted now.

    Raises:
        ScopeDeniedError, NotFoundError, InvalidInputError: nothing was written.
        BusyError: others keep changing the recipe.
    """
    call.require("write")
    for _ in range(_MAX_ROUNDS):
        token, recipe = find_hit(store, call, text, COMMIT_WITHIN_MS)
        counted = _reinforced(recipe, token)
        # Of a recipe that was forgotten in between only that it served is kept.
        row = _row(token, About() if recipe is None else About(token.session, token.recipe_id, token.log_fields))
        writes: list[Write] = [Put(row)]
        if recipe is not None and counted is not None:
            writes.append(Replace(counted, expected=recipe.rev))
        try:
            store.transact(call.memory, writes, call.now)
        except WriteRefusedError as refused:
            if any(failure.index == 0 for failure in refused.failures):
                return _told(token, repeated=True, reinforced=False)
            continue
        return _told(token, repeated=False, reinforced=counted is not None)
    raise BusyError("others keep changing this recipe; try again")


def find_hit(store: Store, call: Call, text: str, within_ms: int) -> tuple[HitToken, Recipe | None]:
    """The hit that a token stands for, and its recipe as it is now; one read.

    Raises:
        NotFoundError: there is no such memory.
        InvalidInputError: the token was not given out in this memory, or too long ago.
    """
    token = read_token(text)
    if token is None:
        require_heads(store, call.memory)
        raise _no_token()
    asked = store.asked(call.memory, token.scope_key, token.signature)
    if asked.key is None:
        raise unknown_memory()
    if not is_genuine(text, call.memory, asked.key):
        raise _no_token()
    if not token.at <= call.now < token.at + within_ms:
        raise InvalidInputError("the hit is too long ago", field="hit_token")
    return token, asked.recipe


def _no_token() -> InvalidInputError:
    return InvalidInputError("no token of a hit in this memory", field="hit_token")


def _reinforced(recipe: Recipe | None, token: HitToken) -> Recipe | None:
    """The recipe with one more hit; None where it is not what was delivered any more."""
    if recipe is None or recipe.status != "live" or recipe.revision != token.revision:
        return None
    return replace(recipe, hits=recipe.hits + 1, reinforced=recipe.reinforced + 1, rev=recipe.rev + 1)


def _row(token: HitToken, about: About) -> LedgerRow:
    return free_row(f"{token.id}.hit", token.at, COMPONENT_OF[token.rung], about)


def _told(token: HitToken, *, repeated: bool, reinforced: bool) -> dict[str, Any]:
    return {"recipe": token.recipe_id, "rung": token.rung, "repeated": repeated, "reinforced": reinforced}

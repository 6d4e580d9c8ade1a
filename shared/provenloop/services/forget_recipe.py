"""Forgetting a recipe: its texts, vectors, feedback and reasons go, and what the ledger and distillations say of it.

What it cost stays, and so do its audit entries, which name digests only.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from provenloop.domain.errors import BusyError, NotFoundError
from provenloop.domain.recipe import RecipeVersion, recipe_subject
from provenloop.services.call import Call
from provenloop.services.decision import require_because
from provenloop.services.ports import Entity, Put, Remove, Write
from provenloop.services.recipe_shelf import MAX_ROUNDS, Shelf, audited_step, committed, find_recipe
from provenloop.services.recipe_traces import Traces, WholeRecipe, traces_of, whole_recipe
from provenloop.services.replay import answered_before, replay_of

FORGOTTEN = "forgotten"
#: Leaves room for the recipe, its vectors and its audit entry in one transaction.
_ERASED_AT_ONCE = 80


def forget_recipe(shelf: Shelf, call: Call, recipe_id: str, because: str) -> dict[str, object]:
    """Erase a recipe: what it says and said, its vectors, what was said of it, and what was about it elsewhere.

    Its audit entries stay, which name digests only, and rows of the ledger with what was paid.

    Returns:
        ``{forgotten: 1, versions, reasons, ledger, distillations, audit}``.

    Raises:
        ScopeDeniedError, InvalidInputError, NotFoundError, IdempotencyMismatchError: nothing was written.
        BusyError: others keep changing it.
    """
    call.require("admin")
    reason = require_because(because)
    route = f"recipes/{recipe_id}/forget"
    reply: dict[str, object] | None = None
    with answered_before(shelf.store, call, route) as earlier:
        reply = _forgotten(shelf, call, recipe_id, reason, route)
    return reply or earlier.reply or {}


def forget_recipes(shelf: Shelf, call: Call, found: Sequence[WholeRecipe], because: str) -> None:
    """Erase recipes of which all that is said elsewhere is erased.

    Raises:
        InvalidInputError: the reason is none.
        BusyError: others keep changing one of them.
    """
    reason = require_because(because)
    for whole in found:
        if _removed(shelf, call, whole, Traces(), reason, None) is None:
            # Whoever changed it may have said more of it, or forgotten it.
            with suppress(NotFoundError):
                _forgotten(shelf, call, whole.recipe.id, reason, None)


def _forgotten(shelf: Shelf, call: Call, recipe_id: str, because: str, route: str | None) -> dict[str, object]:
    for _ in range(MAX_ROUNDS):
        whole = whole_recipe(shelf.store, call, find_recipe(shelf.store, call, recipe_id))
        traces = traces_of(shelf.store, call, [whole])
        # While the recipe is there, what is left of all this is found again; so it goes first.
        erase_in_stretches(shelf, call, traces.writes)
        reply = _removed(shelf, call, whole, traces, because, route)
        if reply is not None:
            return reply
    raise BusyError("others keep changing this recipe; try again")


def _removed(
    shelf: Shelf, call: Call, whole: WholeRecipe, traces: Traces, because: str, route: str | None
) -> dict[str, object] | None:
    """What was erased with the recipe; None where it was changed meanwhile."""
    recipe = whole.recipe
    notes = [*shelf.store.notes(call.memory, recipe_subject(recipe)).values()]
    said = shelf.store.hit_feedbacks(call.memory, recipe.scope_key, recipe.signature)
    beside = _what_goes_with_it(shelf, call, [*map(RecipeVersion, whole.before), *notes, *said])
    audit = audited_step(shelf.store, call, recipe, FORGOTTEN, because, status=FORGOTTEN)
    reply = {
        "forgotten": 1,
        "versions": len(whole.before),
        "reasons": len(notes),
        "ledger": len(traces.rows),
        "distillations": len(traces.jobs),
        "audit": audit.entry.id,
    }
    replay = replay_of(call, route, reply) if route is not None else None
    vectors = shelf.index.removing(call.memory, recipe.scope_key, recipe.spaces, recipe.signature)
    writes = [Remove(recipe, expected=recipe.rev), *beside, *vectors, *audit.writes, *([Put(replay)] if replay else [])]
    return reply if committed(shelf.store, call, writes, 0) else None


def _what_goes_with_it(shelf: Shelf, call: Call, gone: Sequence[Entity]) -> list[Write]:
    """What there is room for in the recipe's transaction. The rest goes ahead: a crash in between leaves less, never
    more.
    """
    beside: list[Write] = [Remove(entity) for entity in gone]
    erase_in_stretches(shelf, call, beside[_ERASED_AT_ONCE:])
    return beside[:_ERASED_AT_ONCE]


def erase_in_stretches(shelf: Shelf, call: Call, writes: Sequence[Write]) -> None:
    """Carry erasures out, many at once; where something moved in between, doing it again finds it."""
    for start in range(0, len(writes), _ERASED_AT_ONCE):
        committed(shelf.store, call, writes[start : start + _ERASED_AT_ONCE], 0)

"""What people decide about recipes: restore one that is quarantined or retired, retire one. Nobody else does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from provenloop.domain.errors import IllegalTransitionError, PrincipalKindError
from provenloop.domain.recipe import Recipe, RecipeStatus
from provenloop.services.call import Call
from provenloop.services.decision import Decision, decide, require_because
from provenloop.services.ports import Replace, Write
from provenloop.services.recipe_shelf import Shelf, audited_step, find_recipe, tidy, with_vector

RecipeAction = Literal["restore", "retire"]
_BECOMES: Mapping[RecipeAction, RecipeStatus] = {"restore": "live", "retire": "retired"}
ACTIONS_OF: Mapping[RecipeStatus, tuple[RecipeAction, ...]] = {
    "live": ("retire",),
    "quarantined": ("restore", "retire"),
    "retired": ("restore",),
}


def decide_recipe(shelf: Shelf, call: Call, recipe_id: str, action: RecipeAction, because: str) -> dict[str, Any]:
    """Carry a person's decision out, with its audit entry; its strikes are gone once it is restored.

    Returns:
        ``{id, action, status}``.

    Raises:
        ScopeDeniedError, PrincipalKindError, InvalidInputError, NotFoundError, IllegalTransitionError: refused.
        ConflictError: it was changed at the same time.
    """
    call.require("review")
    if call.principal.kind != "human":
        raise PrincipalKindError("only a person decides about recipes")
    reason = require_because(because)
    moved: list[tuple[Recipe, Sequence[Write]]] = []

    def build() -> Decision:
        before = find_recipe(shelf.store, call, recipe_id)
        if action not in ACTIONS_OF[before.status]:
            raise IllegalTransitionError(f"the recipe is {before.status}", field="id")
        status = _BECOMES[action]
        strikes = 0 if status == "live" else before.strikes
        decided = replace(before, status=status, strikes=strikes, changed_at=call.now, rev=before.rev + 1)
        after, vectors = with_vector(shelf, call, decided)
        moved[:] = [(after, vectors)]
        audit = audited_step(shelf.store, call, after, action, reason)
        reply = {"id": after.id, "action": action, "status": after.status}
        return Decision([Replace(after, expected=before.rev), *vectors, *audit.writes], reply)

    reply = decide(shelf.store, call, f"recipes/{recipe_id}/{action}", build)
    for after, vectors in moved:
        tidy(shelf, call, after, vectors)
    return reply

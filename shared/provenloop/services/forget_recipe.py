"""Forgetting a recipe: its texts, vectors and reasons go; its audit entries stay, which name digests only."""

from __future__ import annotations

from provenloop.domain.audit import AuditEntry, author_of
from provenloop.domain.errors import BusyError
from provenloop.domain.recipe import RecipeVersion, recipe_subject
from provenloop.services.call import Call
from provenloop.services.decision import require_because
from provenloop.services.ports import Entity, Put, Remove
from provenloop.services.recipe_shelf import MAX_ROUNDS, Shelf, audited_step, committed, find_recipe

FORGOTTEN = "forgotten"
#: Leaves room for the recipe, its vectors and its audit entry in one transaction.
_ERASED_AT_ONCE = 80


def forget_recipe(shelf: Shelf, call: Call, recipe_id: str, because: str) -> dict[str, object]:
    """Erase a recipe: what it says and said, its vectors, and the reasons given about it.

    Its audit entries stay, which name digests only.

    Returns:
        ``{forgotten: 1, versions, reasons, audit}``.

    Raises:
        ScopeDeniedError, InvalidInputError, NotFoundError: nothing was written.
        BusyError: others keep changing it.
    """
    call.require("admin")
    reason = require_because(because)
    for _ in range(MAX_ROUNDS):
        before = find_recipe(shelf.store, call, recipe_id)
        versions = shelf.store.recipe_versions(call.memory, before.scope_key, before.signature)
        notes = shelf.store.notes(call.memory, recipe_subject(before.id)).values()
        gone: list[Entity] = [*map(RecipeVersion, versions), *notes]
        beside = [Remove(entity) for entity in gone]
        while len(beside) > _ERASED_AT_ONCE:
            # What cannot go with the recipe goes ahead of it: a crash in between leaves less, never more.
            committed(shelf.store, call, [beside.pop() for _ in range(_ERASED_AT_ONCE)], 0)
        vectors = shelf.index.removing(call.memory, before.scope_key, before.spaces, before.signature)
        author = author_of(call.principal)
        audit = audited_step(shelf.store, call, before, before.status, FORGOTTEN, author, reason, status=FORGOTTEN)
        if committed(shelf.store, call, [Remove(before, expected=before.rev), *beside, *vectors, *audit], 0):
            entry = next(
                write.entity for write in audit if isinstance(write, Put) and isinstance(write.entity, AuditEntry)
            )
            return {"forgotten": 1, "versions": len(versions), "reasons": len(notes), "audit": entry.id}
    raise BusyError("others keep changing this recipe; try again")

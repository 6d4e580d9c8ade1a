"""What was distilled is kept as a recipe: a new one, or what it says to the one that its request has already."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from provenloop.domain.recipe import Provenance, id_of
from provenloop.recipes.normalise import signature
from provenloop.recipes.scope import scope_key
from provenloop.services.call import Call
from provenloop.services.decision import lost_race
from provenloop.services.distil_port import Draft
from provenloop.services.keep_recipe import Learnt, keep_recipe
from provenloop.services.ports import Write, WriteRefusedError
from provenloop.services.recipe_settings import InstalledSettings
from provenloop.services.recipe_shelf import Shelf


@dataclass(frozen=True, slots=True)
class ShelfKeeper:
    """Implements ``services.distil_port.RecipeKeeper``; a recipe is valid for as long as the memory's settings say."""

    shelf: Shelf
    installed: InstalledSettings = field(default_factory=InstalledSettings)

    def __call__(self, call: Call, draft: Draft, beside: Callable[[str], Sequence[Write]]) -> None:
        """See ``RecipeKeeper``. A recipe that a person retired stays as it is, and is what was learnt all the same."""
        key = scope_key(call.memory, draft.scope)
        writes = beside(id_of(key, signature(draft.request, key)))
        try:
            kept, _ = keep_recipe(self.shelf, call, self._learnt(call, draft), beside=writes)
            if kept == "stays_retired":
                self.shelf.store.transact(call.memory, writes, call.now)
        except WriteRefusedError as refused:
            raise lost_race() from refused

    def _learnt(self, call: Call, draft: Draft) -> Learnt:
        return Learnt(
            kind=draft.kind,
            scope=draft.scope,
            request=draft.request,
            response=draft.response,
            category=draft.category,
            principles=draft.principles,
            confidence=draft.confidence,
            provenance=Provenance(run=draft.job, session=draft.session or None, model=draft.model),
            ttl_days=self.installed.of(self.shelf.store, call.memory).recipe_ttl_days,
        )

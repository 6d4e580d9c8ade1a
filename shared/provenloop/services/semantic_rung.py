"""The semantic rung: recipes whose requests are near, as an embedder sees it, and what is to become of them.

The embedder is tried once a process before it is trusted: one that does not tell texts apart would serve anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from provenloop.domain.canonical import sha256_hex
from provenloop.domain.instants import MINUTE_MS
from provenloop.domain.recipe import Recipe
from provenloop.recipes.decide import MAX_SEMANTIC_CHARS, Candidate, Decision, decide
from provenloop.recipes.embedding_check import PROBES, embedding_fault
from provenloop.recipes.settings import RecipeSettings
from provenloop.services.call import Call
from provenloop.services.embed_recipes import embed_scope
from provenloop.services.recipe_ports import Embedder, space_of
from provenloop.services.recipe_shelf import Shelf

#: Scopes of which a process remembers that all recipes have vectors, and for how long: another embedder may be in use
#: elsewhere while one takes the other's place.
_REMEMBERED = 10_000
REMEMBERED_MS = 10 * MINUTE_MS


@dataclass(frozen=True, slots=True)
class Nearest:
    """What was decided of a request, and the recipes that it is about, by id."""

    decision: Decision
    recipes: Mapping[str, Recipe] = field(default_factory=dict)


_MISS = Nearest(Decision("miss"))


class SemanticRung:
    """The rung of one process.

    Args:
        shelf: where recipes are; without an embedder the rung is off.
    """

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self._checked: str | None = None
        self._embedded: dict[tuple[str, str], int] = {}

    @property
    def embedder(self) -> Embedder | None:
        """What makes the vectors."""
        return self._shelf.embedder

    def fault(self) -> str | None:
        """Why the rung is off; None where it is not. The embedder is tried at the first call.

        Raises:
            LoopError: the embedder does not answer; it is tried again at the next call.
        """
        if self._checked is None:
            embedder = self._shelf.embedder
            if embedder is None:
                return "there is no embedder"
            self._checked = embedding_fault(embedder.embed(PROBES), embedder.dimensions) or ""
        return self._checked or None

    def nearest(
        self, call: Call, scope_key: str, request: str, settings: RecipeSettings, threshold: float | None = None
    ) -> Nearest | None:
        """What becomes of a request; None where the rung is off.

        Args:
            threshold: the caller's own, where it is higher than that of the settings.

        Raises:
            LoopError: the store or the embedder does not answer.
        """
        embedder = self._shelf.embedder
        if embedder is None or self.fault() is not None:
            return None
        if len(request) > MAX_SEMANTIC_CHARS or not self._has_recipes(call, scope_key, embedder):
            return _MISS
        [vector] = embedder.embed([request])
        if not any(vector):
            return _MISS
        near = self._shelf.index.query(call.memory, scope_key, space_of(embedder), vector, settings.k)
        found = self._shelf.store.recipes(call.memory, scope_key, [each.name for each in near])
        live = {name: recipe for name, recipe in found.items() if recipe.answers_at(call.now)}
        candidates = [_candidate(live[each.name], each.similarity) for each in near if each.name in live]
        band = settings.band(embedder.tag)
        decision = decide(request, candidates, replace(band, threshold=max(band.threshold, threshold or 0)))
        return Nearest(decision, {recipe.id: recipe for recipe in live.values()})

    def _has_recipes(self, call: Call, scope_key: str, embedder: Embedder) -> bool:
        """Whether the scope has any; some more of them get vectors, where they had none of this embedder."""
        place = (scope_key, space_of(embedder))
        looked_at = self._embedded.get(place)
        if looked_at is not None and call.now - looked_at < REMEMBERED_MS:
            return True
        if not self._shelf.store.recipes_in_scope(call.memory, scope_key, "", 1):
            # Asking in a scope that holds nothing is to leave nothing behind.
            return False
        if embed_scope(self._shelf, call, scope_key):
            if len(self._embedded) >= _REMEMBERED:
                self._embedded.clear()
            self._embedded[place] = call.now
        return True


def _candidate(recipe: Recipe, similarity: float) -> Candidate:
    return Candidate(recipe.id, recipe.request, sha256_hex(recipe.response), similarity)

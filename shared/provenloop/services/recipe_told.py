"""A recipe as it is shown, and what became of its hits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from provenloop.domain.checkpoint import Verdict
from provenloop.domain.instants import format_instant
from provenloop.domain.recipe import STRIKES_TO_QUARANTINE, Recipe
from provenloop.domain.visible import visible
from provenloop.recipes.scope import PARTS
from provenloop.services.call import Call
from provenloop.services.ports import Store

_AT_ONCE = 50


def every_recipe(store: Store, call: Call, after: str = "") -> Iterator[Recipe]:
    """All recipes of a memory behind an id, a page at a time."""
    while True:
        page = store.recipes_after(call.memory, after, _AT_ONCE)
        yield from page
        if len(page) < _AT_ONCE:
            return
        after = page[-1].id


def recipe_told(recipe: Recipe, now: int) -> dict[str, Any]:
    """A recipe as a reviewer sees it at ``now``: ``served`` says whether it may answer."""
    return {**recipe_fields(recipe), "served": recipe.answers_at(now)}


def recipe_fields(recipe: Recipe) -> dict[str, Any]:
    """What is stored of it; its texts are from outside, and hidden characters show."""
    texts = {name: visible(getattr(recipe, name)) for name in ("request", "response", "category")}
    return {
        "id": recipe.id,
        "status": recipe.status,
        "kind": recipe.kind,
        "scope": {part: visible(getattr(recipe.scope, part)) for part in PARTS},
        **texts,
        "principles": visible(list(recipe.principles)),
        "confidence": recipe.confidence,
        "provenance": {
            "run": recipe.provenance.run,
            "session": visible(recipe.provenance.session),
            "model": recipe.provenance.model,
        },
        "revision": recipe.revision,
        "reinforced": recipe.reinforced,
        "strikes": recipe.strikes,
        **outcome_of(recipe),
        "valid_to": None if recipe.valid_to is None else format_instant(recipe.valid_to),
        "created_at": format_instant(recipe.created_at),
        "changed_at": format_instant(recipe.changed_at),
    }


def outcome_of(recipe: Recipe) -> dict[str, Any]:
    """What became of the hits of what it says now: exposure, what callers said, and what that comes to."""
    return {"hits": recipe.hits, "held": recipe.held, "regressed": recipe.regressed, "verdict": _verdict(recipe)}


def _verdict(recipe: Recipe) -> Verdict:
    if recipe.regressed >= STRIKES_TO_QUARANTINE or recipe.regressed > recipe.held:
        return "regressed"
    return "held" if recipe.held else "inconclusive"

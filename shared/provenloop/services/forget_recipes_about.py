"""Forgetting a subject in recipes: those that name it, distillations on their way, and what the ledger says of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from provenloop.domain.distillation import Distillation, EnvelopeText
from provenloop.domain.ledger import LedgerRow, without_text
from provenloop.domain.mentions import MIN_CHARS, mentions
from provenloop.domain.recipe import Recipe
from provenloop.domain.text import normalise
from provenloop.services.call import Call
from provenloop.services.forget_recipe import erase_in_stretches, forget_recipe
from provenloop.services.ports import Erase, Remove, Store, Write
from provenloop.services.recipe_shelf import Shelf
from provenloop.services.recipe_told import every_recipe


def recipes_about(store: Store, call: Call, subject: str) -> list[str]:
    """Ids of the recipes that name a subject, now or in what they said before, or are for it alone."""
    folded = _folded(subject)
    return [recipe.id for recipe in every_recipe(store, call) if _names(store, call, recipe, folded)]


def forget_recipes_about(shelf: Shelf, call: Call, subject: str, because: str) -> int:
    """Forget them for good, and take the subject out of what is on its way; how many recipes there were.

    Doing it again finishes what was interrupted.

    Raises:
        ScopeDeniedError, InvalidInputError, BusyError.
    """
    call.require("admin")
    found = recipes_about(shelf.store, call, subject)
    for recipe_id in found:
        forget_recipe(shelf, call, recipe_id, because)
    erase_in_stretches(shelf, call, list(_traces(shelf.store, call, _folded(subject))))
    return len(found)


def _folded(subject: str) -> frozenset[str]:
    folded = normalise(subject)
    return frozenset({folded}) if len(folded) >= MIN_CHARS else frozenset()


def _names(store: Store, call: Call, recipe: Recipe, folded: frozenset[str]) -> bool:
    if recipe.scope.user is not None and normalise(recipe.scope.user) in folded:
        return True
    versions = store.recipe_versions(call.memory, recipe.scope_key, recipe.signature) if recipe.revision > 1 else ()
    return any(_says(each, folded) for each in (recipe, *versions))


def _says(recipe: Recipe, folded: frozenset[str]) -> bool:
    texts = [recipe.request, recipe.response, recipe.category, *recipe.principles, recipe.provenance.session or ""]
    return any(mentions(text, folded) for text in texts)


def _traces(store: Store, call: Call, folded: frozenset[str]) -> Iterator[Write]:
    for _, entity in store.walk(call.memory, "distillations", "", call.now):
        if isinstance(entity, Distillation) and _is_about(store, call, entity, folded):
            yield Remove(EnvelopeText(entity.id, ""))
            yield Remove(entity)
    for _, entity in store.walk(call.memory, "ledger", "", call.now):
        if isinstance(entity, LedgerRow) and _any([entity.session, *entity.log_fields.values()], folded):
            yield Erase(without_text(entity))


def _is_about(store: Store, call: Call, job: Distillation, folded: frozenset[str]) -> bool:
    envelope = None if job.is_over else store.envelope(call.memory, job.id)
    texts = [job.session, job.answer, job.scope.user or "", *job.log_fields.values()]
    return _any([*texts, envelope.text if envelope else ""], folded)


def _any(texts: Sequence[str], folded: frozenset[str]) -> bool:
    return any(mentions(text, folded) for text in texts if text)

"""Forgetting a grain, or a subject with all that names it: grains, recipes, distillations, what the ledger says.

Grains go first, and with them people's reasons and remarks that name the subject; where no grain is held, these go with
the rest.
Forgetting again finishes what was interrupted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from provenloop.domain.address import Addresses
from provenloop.domain.audit import Note, new_chain
from provenloop.domain.errors import NotFoundError
from provenloop.domain.mentions import names
from provenloop.domain.recipe import Recipe
from provenloop.domain.text import normalise
from provenloop.services.call import Call
from provenloop.services.erasing import Erasures, remarks_on, repeating_notes
from provenloop.services.forget import ROUTE, would_forget
from provenloop.services.forget_plan import Plan, Wanted
from provenloop.services.forget_recipe import FORGOTTEN, erase_in_stretches, forget_recipes
from provenloop.services.forgetting import reply_of
from provenloop.services.job_port import JobQueue
from provenloop.services.jobs import forget_or_begin
from provenloop.services.memories import require_heads
from provenloop.services.ports import Put, Store
from provenloop.services.recipe_shelf import Shelf, committed
from provenloop.services.recipe_told import every_recipe
from provenloop.services.recipe_traces import Traces, WholeRecipe, traces_of, whole_recipe
from provenloop.services.remark_index import drop_words
from provenloop.services.replay import earlier_reply, replay_of


@dataclass(frozen=True, slots=True)
class _Held:
    """What is held about a subject besides grains."""

    recipes: tuple[WholeRecipe, ...] = ()
    traces: Traces = field(default_factory=Traces)
    repeating: Erasures = field(default_factory=lambda: Erasures(0))

    @property
    def is_empty(self) -> bool:
        return not (self.recipes or self.traces.writes or self.repeating.writes)


def forget_subject(
    shelf: Shelf, jobs: JobQueue, call: Call, wanted: Wanted, because: str
) -> tuple[bool, dict[str, Any]]:
    """Forget one grain, or everything held about a subject; many grains in a job.

    Returns:
        whether it is done, and the answer: as :func:`~provenloop.services.forget.forget`, with the number of
        ``recipes``; or the job, which goes on with the grains.

    Raises:
        ScopeDeniedError, InvalidInputError, NotFoundError: nothing was erased.
        ConflictError, BusyError: others keep changing the same; forgetting again goes on.
    """
    try:
        is_done, answer = forget_or_begin(shelf.store, jobs, call, wanted, because)
    except NotFoundError as unknown:
        if unknown.field != "subject":
            raise
        return True, _forget_without_grains(shelf, call, wanted, because, unknown)
    held = _held(shelf.store, call, wanted)
    _forget(shelf, call, held, because)
    return is_done, {**answer, "recipes": len(held.recipes)} if is_done else answer


def would_forget_subject(store: Store, call: Call, wanted: Wanted) -> dict[str, Any]:
    """What forgetting would erase now; nothing is written.

    Returns:
        as :func:`forget_subject`, with ``dry_run``.

    Raises:
        ScopeDeniedError, InvalidInputError, NotFoundError.
    """
    try:
        answer = would_forget(store, call, wanted)
        held = _held(store, call, wanted)
    except NotFoundError as unknown:
        if unknown.field != "subject":
            raise
        held = _held_without_grains(store, call, wanted, unknown)
        answer = _nothing_but(held)
    return {**answer, "recipes": len(held.recipes), "dry_run": True}


def _forget_without_grains(
    shelf: Shelf, call: Call, wanted: Wanted, because: str, unknown: NotFoundError
) -> dict[str, Any]:
    earlier = earlier_reply(shelf.store, call, ROUTE)
    if earlier is not None:
        return earlier
    held = _held_without_grains(shelf.store, call, wanted, unknown)
    _forget(shelf, call, held, because)
    reply = {**_nothing_but(held), "recipes": len(held.recipes)}
    replay = replay_of(call, ROUTE, reply)
    if replay is not None:
        committed(shelf.store, call, [Put(replay)], 0)
    return reply


def _held_without_grains(store: Store, call: Call, wanted: Wanted, unknown: NotFoundError) -> _Held:
    """What is held besides; the error that there is no grain, where nothing is."""
    held = _held(store, call, wanted, has_grains=False)
    if held.is_empty:
        raise unknown
    return held


def _held(store: Store, call: Call, wanted: Wanted, *, has_grains: bool = True) -> _Held:
    """All recipes are read once, and so are all distillations and the ledger."""
    subject = normalise(wanted.subject or "")
    if not subject:
        return _Held()
    is_named = partial(names, subject)
    recipes = tuple(
        whole
        for whole in (whole_recipe(store, call, recipe) for recipe in every_recipe(store, call))
        if any(is_named(text) for one in (whole.recipe, *whole.before) for text in _texts_of(one))
    )
    held = _Held(recipes, traces_of(store, call, recipes, is_named))
    return held if has_grains else replace(held, repeating=_repeating(store, call, subject, is_named))


def _texts_of(recipe: Recipe) -> Iterator[str]:
    yield from (recipe.request, recipe.response, recipe.category, *recipe.principles)
    yield from (recipe.provenance.session or "", recipe.scope.user or "")


def _repeating(store: Store, call: Call, subject: str, is_named: Callable[[str], bool]) -> Erasures:
    remarks, closing = remarks_on(store, call, frozenset(), frozenset({subject}), is_named)
    notes = tuple(_reasons(store, call, is_named))
    return Erasures(call.now, notes=notes, remarks=remarks, closing=closing)


def _reasons(store: Store, call: Call, is_named: Callable[[str], bool]) -> Iterator[Note]:
    """Reasons that name the subject, but for those that say why something was forgotten."""
    for note in repeating_notes(store, call, is_named):
        end = store.chain_end(call.memory, note.subject)
        if end is None or end.status != FORGOTTEN:
            yield note


def _forget(shelf: Shelf, call: Call, held: _Held, because: str) -> None:
    # While a recipe is there, what is left of the rest is found again by it.
    erase_in_stretches(shelf, call, [*held.repeating.writes, *held.traces.writes])
    if held.repeating.remarks:
        addresses = Addresses(require_heads(shelf.store, call.memory).log.key)
        drop_words(shelf.store, call.memory, addresses, held.repeating.remarks, call.now)
    forget_recipes(shelf, call, held.recipes, because)


def _nothing_but(held: _Held) -> dict[str, Any]:
    """The answer where no grain was held."""
    return reply_of(Plan(new_chain(""), (), held.repeating), None, None)

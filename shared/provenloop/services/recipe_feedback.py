"""Feedback on a hit: whether what was delivered held. What did not is a strike, and two strikes quarantine a recipe."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from provenloop.domain.errors import IllegalTransitionError, NotFoundError
from provenloop.domain.hit_token import FEEDBACK_WITHIN_MS, HitToken
from provenloop.domain.recipe import STRIKES_TO_QUARANTINE, FeedbackVerdict, HitFeedback, Recipe
from provenloop.services.call import Call
from provenloop.services.commit_recipe import find_hit
from provenloop.services.decision import require_because
from provenloop.services.ports import Put, WriteRefusedError
from provenloop.services.recipe_shelf import Shelf, change_recipe

#: What audit entries call it.
STEP_OF: dict[FeedbackVerdict, str] = {"held": "held", "regressed": "strike"}


def give_feedback(shelf: Shelf, call: Call, text: str, verdict: FeedbackVerdict, because: str) -> dict[str, Any]:
    """Take in what became of one hit, once.

    Where the recipe has said something new since, or is not live, it is kept and counts for nothing.

    Returns:
        ``{recipe, verdict, repeated, counted, status, strikes}``, the last two as they are now.

    Raises:
        ScopeDeniedError, InvalidInputError, NotFoundError: nothing was written.
        IllegalTransitionError: the opposite was said of that hit before.
        BusyError: others keep changing the recipe.
    """
    call.require("write")
    reason = require_because(because)
    token, recipe = find_hit(shelf.store, call, text, FEEDBACK_WITHIN_MS)
    if recipe is None:
        raise NotFoundError("the recipe was forgotten", field="hit_token")
    said = HitFeedback(token.scope_key, token.signature, token.id, verdict, call.now, call.principal.id)
    known = shelf.store.hit_feedback(call.memory, token.scope_key, token.signature, token.id)
    if known is not None:
        return _repeated(known, recipe, verdict)
    counted = False

    def moved(before: Recipe) -> Recipe:
        nonlocal counted
        counted = before.status == "live" and before.revision == token.revision
        return _after(before, verdict, call.now, counted=counted)

    try:
        after = change_recipe(shelf, call, token.recipe_id, moved, STEP_OF[verdict], because=reason, beside=[Put(said)])
    except WriteRefusedError:
        return _said_before(shelf, call, token, recipe, verdict)
    return {**_told(after, verdict), "repeated": False, "counted": counted}


def _after(before: Recipe, verdict: FeedbackVerdict, now: int, *, counted: bool) -> Recipe:
    after = replace(before, rev=before.rev + 1)
    if not counted:
        return after
    if verdict == "held":
        return replace(after, held=before.held + 1)
    strikes = before.strikes + 1
    struck = replace(after, strikes=strikes, regressed=before.regressed + 1)
    return struck if strikes < STRIKES_TO_QUARANTINE else replace(struck, status="quarantined", changed_at=now)


def _said_before(shelf: Shelf, call: Call, token: HitToken, recipe: Recipe, verdict: FeedbackVerdict) -> dict[str, Any]:
    """Somebody said it at the same time, or this very request came twice."""
    known = shelf.store.hit_feedback(call.memory, token.scope_key, token.signature, token.id)
    now = shelf.store.recipe(call.memory, token.scope_key, token.signature)
    return _repeated(known, now or recipe, verdict)


def _repeated(known: HitFeedback | None, recipe: Recipe, verdict: FeedbackVerdict) -> dict[str, Any]:
    if known is not None and known.verdict != verdict:
        raise IllegalTransitionError(f"it was said of this hit that it {known.verdict}", field="verdict")
    return {**_told(recipe, verdict), "repeated": True, "counted": False}


def _told(recipe: Recipe, verdict: FeedbackVerdict) -> dict[str, Any]:
    return {"recipe": recipe.id, "verdict": verdict, "status": recipe.status, "strikes": recipe.strikes}

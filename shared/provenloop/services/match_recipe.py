"""Matching: whether a stored answer serves a request, asked rung by rung, the cheapest first.

It never fails the caller's turn: whatever goes wrong inside, or takes too long, is a miss with a reason, and the caller
runs its own agent. A hit writes nothing: what was delivered is counted by its commit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, TypeVar

from provenloop.domain.errors import InvalidInputError, TooLargeError
from provenloop.domain.hit_token import HitToken, Rung, signed
from provenloop.domain.ledger import About
from provenloop.domain.recipe import MAX_REQUEST_BYTES, Recipe, RecipeScope
from provenloop.recipes.composer import Chosen, Offered
from provenloop.recipes.normalise import normalise, signature
from provenloop.recipes.scope import scope_key
from provenloop.recipes.settings import RecipeSettings
from provenloop.services.call import Call
from provenloop.services.compose_recipe import compose_recipe
from provenloop.services.memories import unknown_memory
from provenloop.services.model_port import ModelAccess
from provenloop.services.ports import Store
from provenloop.services.recipe_ports import Asked
from provenloop.services.recipe_settings import InstalledSettings
from provenloop.services.semantic_rung import Nearest, SemanticRung

#: All rungs together, but for the first import of a model's SDK.
IN_ALL_MS = 6_000
#: What is left of that after the composer's call: its rows are still to be written.
_TO_COUNT_MS = 500
_NONCE_BYTES = 8
T = TypeVar("T")

#: Why nothing is served: recipes are switched off; nothing is near; something is, but not the same; the composer said
#: no; the embedder is of no use; the time was over; something failed.
MissReason = Literal["disabled", "no_match", "near_miss", "escalated", "semantic_off", "timeout", "error"]


class TimeLimit(Protocol):
    """Does a piece of work within so many milliseconds."""

    def __call__(self, work: Callable[[], T], at_most_ms: int) -> T:
        """What the work gives.

        Raises:
            TimeoutError: it takes longer; its result is dropped, and it may go on for a while.
        """


@dataclass(frozen=True, slots=True)
class WantedMatch:
    """A request as its caller puts it. ``threshold`` raises that of the settings, and never lowers it."""

    request: str
    scope: RecipeScope
    threshold: float | None = None
    session: str = ""
    log_fields: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rungs:
    """What matching works with. ``elapsed`` gives the milliseconds since the request began."""

    store: Store
    semantic: SemanticRung
    models: ModelAccess
    installed: InstalledSettings
    within: TimeLimit
    elapsed: Callable[[], int]


@dataclass(frozen=True, slots=True)
class Matched:
    """What came of it: a hit and its token, or a reason.

    ``near`` are the ids, similarities and reason codes of what was near, where that is to be logged; ``error`` is what
    went wrong inside, for the log of whoever runs this.
    """

    hit: Mapping[str, Any] | None = None
    token: str | None = None
    reason: MissReason | None = None
    escalation: str | None = None
    near: tuple[Mapping[str, Any], ...] = ()
    error: Exception | None = None


def match_recipe(rungs: Rungs, call: Call, wanted: WantedMatch) -> Matched:
    """Ask the rungs. Only what is wrong with the request itself is raised.

    Raises:
        ScopeDeniedError, InvalidInputError, TooLargeError: the request can never succeed.
        NotFoundError: there is no such memory.
    """
    call.require("write")
    if len(wanted.request.encode("utf-8", "surrogatepass")) > MAX_REQUEST_BYTES:
        raise TooLargeError(f"at most {MAX_REQUEST_BYTES} bytes", field="request")
    if not normalise(wanted.request):
        raise InvalidInputError("say what the request is", field="request")
    try:
        asked = _Asking(rungs, call, wanted, scope_key(call.memory, wanted.scope)).read()
    except TimeoutError:
        return Matched(reason="timeout")
    except Exception as error:  # noqa: BLE001 - whatever it is, the caller goes on without a recipe
        return Matched(reason="error", error=error)
    if asked.found.key is None:
        raise unknown_memory()
    try:
        return asked.answer()
    except TimeoutError:
        return Matched(reason="timeout")
    except Exception as error:  # noqa: BLE001 - as above
        return Matched(reason="error", error=error)


@dataclass
class _Asking:
    """One request on its way through the rungs."""

    rungs: Rungs
    call: Call
    wanted: WantedMatch
    scope_key: str
    found: Asked = field(init=False)

    def read(self) -> _Asking:
        """The recipe of this very request and what says whether it may be served: the one read of an exact hit."""
        store, call = self.rungs.store, self.call
        name = signature(self.wanted.request, self.scope_key)
        self.found = self._within(
            lambda: store.asked(call.memory, self.scope_key, name), self.rungs.installed.timeout_ms
        )
        return self

    def answer(self) -> Matched:
        """The first rung that answers does."""
        settings, recipe = self.rungs.installed.in_force(self.found.config), self.found.recipe
        if not settings.recipes_enabled:
            return Matched(reason="disabled")
        if recipe is not None and recipe.answers_at(self.call.now):
            return self._hit("exact", recipe, _whole(recipe))
        wanted = self.wanted
        nearest = self._within(
            lambda: self.rungs.semantic.nearest(self.call, self.scope_key, wanted.request, settings, wanted.threshold),
            settings.timeout_ms,
        )
        if nearest is None:
            return Matched(reason="semantic_off")
        served = nearest.decision.served
        if served is not None:
            recipe = nearest.recipes[served.recipe_id]
            return self._hit("semantic", recipe, {**_whole(recipe), "similarity": round(served.similarity, 4)})
        return self._composed(settings, nearest)

    def _composed(self, settings: RecipeSettings, nearest: Nearest) -> Matched:
        if nearest.decision.outcome == "miss":
            return Matched(reason="no_match")
        near = _told_near(nearest) if settings.near_miss_logging else ()
        time_left = IN_ALL_MS - _TO_COUNT_MS - self.rungs.elapsed()
        if settings.composer_disabled:
            return Matched(reason="near_miss", near=near)
        if time_left <= 0:
            return Matched(reason="timeout", near=near)
        how = replace(settings.composer, timeout_ms=min(settings.composer_timeout_ms, time_left))
        about = About(self.wanted.session, "", self.wanted.log_fields)
        composed = compose_recipe(
            self.rungs.store, self.call, self.rungs.models, self.wanted.request, _offered(nearest),
            settings=how, about=about,
        )  # fmt: skip
        if composed.chosen is not None:
            recipe = nearest.recipes[composed.chosen.recipe_id]
            return replace(self._hit("composed", recipe, _told_choice(composed.chosen)), near=near)
        if composed.is_off:
            return Matched(reason="near_miss", near=near)
        return Matched(reason="escalated", escalation=composed.reason, near=near)

    def _hit(self, rung: Rung, recipe: Recipe, told: Mapping[str, Any]) -> Matched:
        token = HitToken(
            self.call.now,
            recipe.scope_key,
            recipe.signature,
            recipe.revision,
            rung,
            self.call.entropy(_NONCE_BYTES).hex(),
            self.wanted.session,
            self.wanted.log_fields,
        )
        hit = {
            "kind": rung,
            "recipe_id": recipe.id,
            "recipe_kind": recipe.kind,
            "state_hash": recipe.scope.state_hash,
            **told,
        }
        return Matched(hit, signed(token, self.call.memory, self.found.key or b""))

    def _within(self, work: Callable[[], T], at_most_ms: int) -> T:
        time_left = at_most_ms - self.rungs.elapsed()
        if time_left <= 0:
            raise TimeoutError
        return self.rungs.within(work, time_left)


def _whole(recipe: Recipe) -> dict[str, Any]:
    return {
        "response": recipe.response,
        "category": recipe.category,
        "principles": list(recipe.principles),
    }


def _told_choice(chosen: Chosen) -> dict[str, Any]:
    return {
        "reasoning": chosen.reasoning,
        "confidence": chosen.confidence,
        "adaptations": dict(chosen.adaptations),
    }


def _offered(nearest: Nearest) -> list[Offered]:
    recipes = nearest.recipes
    return [
        Offered(
            each.candidate.recipe_id, each.candidate.request, recipes[each.candidate.recipe_id].response, each.reasons
        )
        for each in nearest.decision.offered
    ]


def _told_near(nearest: Nearest) -> tuple[Mapping[str, Any], ...]:
    return tuple(
        {
            "recipe_id": each.candidate.recipe_id,
            "similarity": round(each.candidate.similarity, 4),
            "reasons": list(each.reasons),
        }
        for each in nearest.decision.offered
    )

"""Recipes: whether a stored answer serves, what became of hits, learning new ones, and what people decide."""

from __future__ import annotations

import time
from typing import Any

from provenloop.domain.errors import InvalidInputError, LoopError
from provenloop.domain.secrets import redact_json
from provenloop.entry.models.recipes import (
    CommitRequest,
    DistilRequest,
    FeedbackRequest,
    LedgerQuery,
    LedgerRowsQuery,
    MatchRequest,
    RecipeDecisionRequest,
    RecipesQuery,
)
from provenloop.entry.reply import Reply, json_reply
from provenloop.entry.request import Request
from provenloop.entry.telemetry import count, log_error, log_gate, log_outcome
from provenloop.entry.time_limit import within
from provenloop.recipes.scope import parse_scope
from provenloop.services import commit_recipe as committing
from provenloop.services import distil_now as distilling
from provenloop.services import distil_recipe as distillations
from provenloop.services import forget_recipe as forgetting
from provenloop.services import ledger_summary as summaries
from provenloop.services import match_recipe as matching
from provenloop.services import recipe_decisions, recipe_feedback, recipes_read
from provenloop.services.ledger_summary import LedgerSpan
from provenloop.services.match_recipe import Matched, Rungs, WantedMatch
from provenloop.services.recipe_decisions import RecipeAction

_NS_PER_MS = 1_000_000


def match_recipe(request: Request) -> Reply:
    """A hit, or the reason why there is none; a failure inside is a reason too."""
    begun = time.monotonic_ns()
    body, current = request.body_as(MatchRequest), request.wiring
    rungs = Rungs(
        store=current.store,
        semantic=current.semantic,
        models=current.models(current.composer_model, request.model_key),
        installed=current.recipe_settings,
        within=within,
        elapsed=lambda: (time.monotonic_ns() - begun) // _NS_PER_MS,
    )
    wanted = WantedMatch(
        request=body.request,
        scope=parse_scope(body.scope),
        threshold=body.threshold,
        session=body.session or "",
        log_fields=redact_json(dict(body.log_fields))[0],
    )
    matched = matching.match_recipe(rungs, request.call, wanted)
    _tell(request, wanted, matched)
    answer: dict[str, Any] = {"hit": matched.hit, "hit_token": matched.token}
    return json_reply({**answer, "reason": matched.reason, "escalation": matched.escalation})


def _tell(request: Request, wanted: WantedMatch, matched: Matched) -> None:
    """The lines of one match: ids, codes and figures, and the caller's own fields."""
    about = {"correlation_id": request.request_id, "tenant": request.caller.tenant, "memory": request.need("memory")}
    if matched.error is not None:
        log_error("match_recipe", matched.error, **about)
    if matched.near:
        log_outcome("match_recipe", "near_miss", candidates=matched.near, **about)
    if matched.hit is not None:
        count("RecipeHits", 1)
        told = {name: matched.hit[name] for name in ("recipe_id", "similarity", "confidence") if name in matched.hit}
        log_gate("hit", wanted.log_fields, rung=matched.hit["kind"], **told, **about)
    elif matched.reason == "escalated":
        count("RecipeEscalations", 1)
        log_gate("escalate", wanted.log_fields, reason=matched.escalation, **about)


def commit_recipe(request: Request) -> Reply:
    """Count a delivered hit, once."""
    body = request.body_as(CommitRequest)
    answer = committing.commit_recipe(request.wiring.store, request.call, body.hit_token)
    count("RecipeCommits", int(not answer["repeated"]))
    return json_reply(answer)


def give_feedback(request: Request) -> Reply:
    """Take in what became of a hit, once."""
    body = request.body_as(FeedbackRequest)
    answer = recipe_feedback.give_feedback(
        request.wiring.shelf, request.call, body.hit_token, body.verdict, body.because
    )
    count("RecipesQuarantined", int(answer["counted"] and answer["status"] == "quarantined"))
    return json_reply(answer)


def distil_recipe(request: Request) -> Reply:
    """Begin to distil: 202, or 200 where it is over."""
    body, current, own_key = request.body_as(DistilRequest), request.wiring, request.model_key
    if own_key is not None and not body.wait:
        raise InvalidInputError("a key of your own serves this request only: wait for it", field="wait")
    wanted = distillations.Wanted(
        envelope=body.envelope,
        scope=parse_scope(body.scope),
        kind=body.kind,
        waits=body.wait,
        own_key=own_key is not None,
        log_fields=redact_json(dict(body.log_fields))[0],
    )
    has_model = _has_model(request)
    if body.wait:
        distiller = current.distiller(own_key, waits=True)
        job = distilling.distil_now(distiller, current.distillations, request.call, wanted, has_model=has_model)
    else:
        job = distillations.begin_distillation(
            current.store, current.distillations, request.call, wanted, has_model=has_model
        )
    return json_reply(distillations.told(job), status=200 if job.is_over else 202)


def _has_model(request: Request) -> bool:
    """Whether models are switched on. A key that cannot be read now may be read when one is asked."""
    current = request.wiring
    try:
        return bool(current.models(current.settings.distil_model, request.model_key).key())
    except LoopError:
        return True


def show_distillation(request: Request) -> Reply:
    """How far a distillation is."""
    return json_reply(distillations.show_distillation(request.wiring.store, request.call, request.need("job")))


def list_recipes(request: Request) -> Reply:
    """One page of recipes."""
    query = request.query_as(RecipesQuery)
    answer = recipes_read.list_recipes(
        request.wiring.store, request.call, status=query.status, limit=query.limit, cursor=query.cursor
    )
    return json_reply(answer)


def recipes_health(request: Request) -> Reply:
    """How the ladder stands."""
    current = request.wiring
    answer = recipes_read.recipes_health(
        current.store,
        request.call,
        current.recipe_settings,
        current.semantic,
        current.models(current.composer_model),
    )
    return json_reply(answer)


def show_recipe(request: Request) -> Reply:
    """One recipe in full."""
    return json_reply(recipes_read.show_recipe(request.wiring.store, request.call, request.need("id")))


def restore_recipe(request: Request) -> Reply:
    """Serve a recipe again."""
    return _decided(request, "restore")


def retire_recipe(request: Request) -> Reply:
    """Serve a recipe no more."""
    return _decided(request, "retire")


def _decided(request: Request, action: RecipeAction) -> Reply:
    because = request.body_as(RecipeDecisionRequest).because
    answer = recipe_decisions.decide_recipe(request.wiring.shelf, request.call, request.need("id"), action, because)
    count("RecipeDecisions", 1)
    return json_reply(answer)


def forget_recipe(request: Request) -> Reply:
    """Erase a recipe for good."""
    because = request.body_as(RecipeDecisionRequest).because
    answer = forgetting.forget_recipe(request.wiring.shelf, request.call, request.need("id"), because)
    return json_reply(answer)


def list_ledger(request: Request) -> Reply:
    """One page of the ledger."""
    query = request.query_as(LedgerRowsQuery)
    answer = recipes_read.list_ledger(
        request.wiring.store, request.call, _span(request, query), limit=query.limit, cursor=query.cursor
    )
    return json_reply(answer)


def summarise_ledger(request: Request) -> Reply:
    """What models cost and recipes saved."""
    query = request.query_as(LedgerQuery)
    answer = summaries.summarise_ledger(request.wiring.store, request.call, _span(request, query), query.cursor)
    return json_reply(answer)


def _span(request: Request, query: LedgerQuery) -> LedgerSpan:
    return LedgerSpan(query.since, request.now if query.until is None else query.until)

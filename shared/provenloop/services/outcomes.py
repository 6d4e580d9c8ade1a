"""What became of applied changes: the series of each, and how every analyzer's recommendations fared.

Only what happened inside the memory is told, and nothing of why. Of fewer than ten cases a rate is not told either.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import islice
from typing import Any

from provenloop.domain.checkpoint import Checkpoint, last_verdict
from provenloop.domain.instants import format_instant
from provenloop.domain.recommendation import Recommendation
from provenloop.domain.visible import visible
from provenloop.lessons.card import Card
from provenloop.lessons.outcome import outcome_of
from provenloop.services.analyzer_counts import approval_rate, decisions_of, rate
from provenloop.services.call import Call
from provenloop.services.checkpoint_told import checkpoint_told, metric_told
from provenloop.services.lesson_settings import settings_if_readable
from provenloop.services.memories import require_heads
from provenloop.services.ports import Store
from provenloop.services.recipe_told import every_recipe
from provenloop.services.recipe_told import outcome_of as outcome_of_recipe
from provenloop.services.revert import REVERTED
from provenloop.services.texts import Texts, refs_within, target_text

MAX_SERIES = 200
#: So many recipes are looked at.
MAX_RECIPES = 1_000
_COUNTED = (
    "proposed", "approved", "acknowledged", "rejected", "applied", "held", "regressed", "inconclusive", "rolled_back",
    "reverted",
)  # fmt: skip

Series = Mapping[str, Sequence[Checkpoint]]


def outcomes(store: Store, call: Call) -> dict[str, Any]:
    """The report of one memory.

    Returns:
        ``{recommendations: [{id, analyzer, status, namespace, target, applied_at, metric, verdict, series}], cut,
        recipes: [{id, kind, status, revision, hits, held, regressed, verdict}], analyzers: [{analyzer, ...counts,
        approval_rate, held_rate}], rules: [...], rules_cut}``: applied
        recommendations that are measured, those applied last first, at most 200 (``cut`` tells that there are more),
        each with its checkpoints by horizon and the verdict of the longest that tells something; recipes with what
        became of their hits, those delivered most first; counts of recommendations by analyzer, and rates (0..1) of at
        least ten cases, else None; and of cards that were armed, those armed last first, at most 200, what was
        reported before and after.

    Raises:
        ScopeDeniedError, NotFoundError.
    """
    call.require("read")
    require_heads(store, call.memory)
    recs = list(store.all_recommendations(call.memory))
    series: dict[str, list[Checkpoint]] = {}
    for checkpoint in store.all_checkpoints(call.memory):
        series.setdefault(checkpoint.recommendation, []).append(checkpoint)
    measured = sorted((rec for rec in recs if rec.id in series), key=lambda rec: (-(rec.applied_at or 0), rec.id))
    shown = measured[:MAX_SERIES]
    texts = Texts(store, call.memory, (ref for rec in shown for ref in refs_within(rec.target.parts)), call.now)
    return {
        "recommendations": [_told(rec, series[rec.id], texts) for rec in shown],
        "cut": len(measured) > MAX_SERIES,
        "recipes": _of_recipes(store, call),
        "analyzers": list(_by_analyzer(recs, series)),
        **_rules(store, call),
    }


def _rules(store: Store, call: Call) -> dict[str, Any]:
    """What became of rules; of no card where the settings of lessons cannot be read."""
    if settings_if_readable(store, call.memory) is None:
        return {"rules": [], "rules_cut": False}
    # What a merged card counted is counted by the one that it became.
    of_their_own = (card for card in store.all_cards(call.memory) if card.merged_into is None)
    armed = (card for card in of_their_own if card.armed_at is not None)
    cards = sorted(armed, key=lambda card: (-(card.armed_at or 0), card.id))
    return {"rules": [_rule(card, call.now) for card in cards[:MAX_SERIES]], "rules_cut": len(cards) > MAX_SERIES}


def _rule(card: Card, now: int) -> dict[str, Any]:
    outcome = outcome_of(card, now)
    return {
        "id": card.id,
        "project": visible(card.project),
        "status": card.status,
        "armed_at": None if card.armed_at is None else format_instant(card.armed_at),
        **(asdict(outcome) if outcome is not None else {}),
    }


def _told(rec: Recommendation, checkpoints: Sequence[Checkpoint], texts: Texts) -> dict[str, Any]:
    target = {"scheme": rec.target.scheme, "parts": texts.joined(rec.target.parts)}
    return {
        "id": rec.id,
        "analyzer": rec.analyzer,
        "status": rec.status,
        "namespace": rec.namespace,
        "target": target_text(target),
        "applied_at": None if rec.applied_at is None else format_instant(rec.applied_at),
        "metric": metric_told(rec.metric),
        "verdict": _verdict(checkpoints),
        "series": [checkpoint_told(row) for row in sorted(checkpoints, key=lambda row: row.horizon_ms)],
    }


def _of_recipes(store: Store, call: Call) -> list[dict[str, Any]]:
    """Recipes whose hits were committed or judged, the most delivered first."""
    looked_at = islice(every_recipe(store, call), MAX_RECIPES)
    used = (recipe for recipe in looked_at if recipe.hits or recipe.held or recipe.regressed)
    shown = sorted(used, key=lambda recipe: (-recipe.hits, recipe.id))[:MAX_SERIES]
    return [
        {"id": recipe.id, "kind": recipe.kind, "status": recipe.status, "revision": recipe.revision}
        | outcome_of_recipe(recipe)
        for recipe in shown
    ]


def _verdict(checkpoints: Sequence[Checkpoint]) -> str | None:
    last = last_verdict(checkpoints)
    return last.verdict if last is not None else None


def _by_analyzer(recs: Sequence[Recommendation], series: Series) -> Iterator[dict[str, Any]]:
    counts: dict[str, Counter[str]] = {}
    for rec in recs:
        counts.setdefault(rec.analyzer, Counter()).update(_cases(rec, series.get(rec.id, ())))
    for analyzer, found in sorted(counts.items()):
        yield {
            "analyzer": analyzer,
            **{name: found[name] for name in _COUNTED},
            "approval_rate": approval_rate(found),
            "held_rate": rate(found["held"], found["held"] + found["regressed"]),
        }


def _cases(rec: Recommendation, checkpoints: Sequence[Checkpoint]) -> Iterator[str]:
    """What one recommendation counts as."""
    yield from decisions_of(rec)
    if rec.applied_at is not None:
        yield "applied"
    if rec.status == "rolled_back":
        yield "reverted" if rec.reason == REVERTED else "rolled_back"
    verdict = _verdict(checkpoints)
    if verdict is not None:
        yield verdict

"""Matching, committing and judging under every fault, and for any text: nobody's turn fails, nothing counts twice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from provenloop.adapters.anthropic_model import AnthropicModel
from provenloop.adapters.dynamodb import table
from provenloop.adapters.dynamodb.packed_vectors import PackedVectorIndex
from provenloop.adapters.wordllama_embedder import WordllamaEmbedder
from provenloop.domain.errors import InvalidInputError, LoopError
from provenloop.domain.recipe import Recipe, RecipeScope, recipe_subject
from provenloop.recipes.normalise import normalise
from provenloop.services.commit_recipe import commit_recipe
from provenloop.services.keep_recipe import Learnt, keep_recipe
from provenloop.services.match_recipe import Matched, Rungs, WantedMatch, match_recipe
from provenloop.services.model_port import ModelAccess
from provenloop.services.recipe_feedback import give_feedback
from provenloop.services.recipe_settings import InstalledSettings
from provenloop.services.recipe_shelf import Shelf
from provenloop.services.semantic_rung import REMEMBERED_MS, SemanticRung
from tests.builders import MEMORY, NOW, Desk
from tests.faults import Crash, Fault, FaultLayer, Kind, SavedTable, single_faults
from tests.faults.tables import TABLE

EMBEDDER = WordllamaEmbedder()
SCOPE = RecipeScope(agent="helpdesk")
REQUEST, NEAR = "How do I reset my password?", "how can I reset my password"
KINDS = [Kind.LOST_REQUEST, Kind.LOST_REPLY, Kind.THROTTLE, Kind.CRASH_BEFORE, Kind.CRASH_AFTER]
T = TypeVar("T")


class NoKey:
    """Models are off."""

    def current(self) -> str:
        return ""


def at_once(work: Callable[[], T], at_most_ms: int) -> T:
    assert at_most_ms > 0
    return work()


@pytest.fixture
def shelf(desk: Desk) -> Shelf:
    return Shelf(desk.store, PackedVectorIndex(pause=lambda _attempt: None), EMBEDDER)


def learn(shelf: Shelf, desk: Desk, request: str = REQUEST, **more: Any) -> Recipe:
    return keep_recipe(shelf, desk.call(), Learnt("answer", SCOPE, request, "Open settings.", **more))[1]


def rungs(shelf: Shelf) -> Rungs:
    models = ModelAccess(AnthropicModel(), NoKey())
    return Rungs(shelf.store, SemanticRung(shelf), models, InstalledSettings(), at_once, lambda: 0)


def match(shelf: Shelf, desk: Desk, request: str = REQUEST, **more: Any) -> Matched:
    return match_recipe(rungs(shelf), desk.call(), WantedMatch(request, more.pop("scope", SCOPE), **more))


def test_an_exact_hit_is_one_read_and_its_commit_one_read_and_two_writes(desk: Desk, shelf: Shelf) -> None:
    """With the heads that say whether it may be served: three small items in one round trip."""
    learn(shelf, desk)
    with table.metered() as used:
        found = match(shelf, desk)
    assert found.token is not None
    assert (used.round_trips, used.reads, used.writes) == (1, 3, 0)
    with table.metered() as used:
        commit_recipe(desk.store, desk.call(), found.token)
    # Twice one unit for each of the two items, for they are one transaction.
    assert (used.round_trips, used.reads, used.writes) == (2, 3, 4)


@pytest.mark.parametrize("request_text", [REQUEST, NEAR, "where is my order"])
def test_no_fault_of_the_store_fails_a_turn_or_writes_a_hit(desk: Desk, shelf: Shelf, request_text: str) -> None:
    learn(shelf, desk)
    with FaultLayer(desk.client) as layer:
        calls = layer.count(lambda: match(shelf, desk, request_text))
        for fault in single_faults(calls, KINDS[:3]):
            with layer.faults(replace(fault, times=None)):
                found = match(shelf, desk, request_text)
            assert found.hit is None or found.token is not None
            assert found.hit is not None or found.reason in ("error", "no_match")
    assert desk.store.ledger(MEMORY, 0, desk.now + 1, after=None, limit=9) == ()


def test_a_crash_or_lost_reply_anywhere_in_a_commit_counts_it_once(desk: Desk, shelf: Shelf) -> None:
    recipe = learn(shelf, desk)
    token = match(shelf, desk).token or ""
    saved = SavedTable(desk.client, TABLE)
    with FaultLayer(desk.client) as layer:
        calls = layer.count(lambda: commit_recipe(desk.store, desk.call(), token))
        for fault in single_faults(calls, KINDS):
            saved.restore()
            until_done(layer, fault, lambda: commit_recipe(desk.store, desk.call(), token))
            for _ in range(2):
                assert commit_recipe(desk.store, desk.call(), token)["repeated"]
            [row] = desk.store.ledger(MEMORY, 0, desk.now + 1, after=None, limit=9)
            assert (row.component, row.cost_nano_usd) == ("titw.recipe_hit.exact", 0)
            assert stored(desk, recipe).hits == 1


def test_a_crash_or_lost_reply_anywhere_in_a_second_strike_is_one_strike(desk: Desk, shelf: Shelf) -> None:
    recipe = learn(shelf, desk)
    first, second = (match(shelf, desk).token or "" for _ in range(2))
    give_feedback(shelf, desk.call(), first, "regressed", "wrong")
    saved = SavedTable(desk.client, TABLE)
    with FaultLayer(desk.client) as layer:
        calls = layer.count(lambda: give_feedback(shelf, desk.call(), second, "regressed", "wrong"))
        for fault in single_faults(calls, KINDS):
            saved.restore()
            until_done(layer, fault, lambda: give_feedback(shelf, desk.call(), second, "regressed", "wrong"))
            after = stored(desk, recipe)
            assert (after.status, after.strikes, after.spaces) == ("quarantined", 2, ())
            assert len(list(desk.store.audit_entries(MEMORY, recipe_subject(recipe)))) == 3
            desk.verify()


def until_done(layer: FaultLayer, fault: Fault, work: Callable[[], object]) -> None:
    """What a client does: again, until there is an answer."""
    with layer.faults(fault):
        for _ in range(3):
            try:
                work()
            except (Crash, LoopError):
                layer.restart()
            else:
                return
    work()


def stored(desk: Desk, recipe: Recipe) -> Recipe:
    found = desk.store.recipe(MEMORY, recipe.scope_key, recipe.signature)
    assert found is not None
    return found


def test_hits_committed_by_many_at_once_count_each(desk: Desk, shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = learn(shelf, desk)
    tokens = [match(shelf, desk).token or "" for _ in range(4)]
    asked = desk.store.asked
    others = iter(tokens[1:])

    def overtaken(*where: Any) -> Any:
        found = asked(*where)
        other = next(others, None)
        if other is not None:
            commit_recipe(desk.store, desk.call(), other)
        return found

    monkeypatch.setattr(desk.store, "asked", overtaken)
    commit_recipe(desk.store, desk.call(), tokens[0])
    assert stored(desk, recipe).hits == 4
    assert len(desk.store.ledger(MEMORY, NOW, desk.now + 1, after=None, limit=9)) == 4


def test_a_process_looks_again_for_recipes_that_another_embedder_saw(desk: Desk, shelf: Shelf) -> None:
    """As while one deployment takes the other's place: an old function learns, a new one serves."""
    learn(shelf, desk)
    asking = rungs(shelf)
    assert match_recipe(asking, desk.call(), WantedMatch(NEAR, SCOPE)).hit is not None
    learn(replace(shelf, embedder=None), desk, "where is my order")
    wanted = WantedMatch("where is my own order", SCOPE)
    assert match_recipe(asking, desk.call(), wanted).reason == "no_match"
    desk.now += REMEMBERED_MS
    assert match_recipe(asking, desk.call(), wanted).reason != "no_match"


PARTS = st.none() | st.text(st.characters(codec="utf-8"), max_size=20)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(text=st.text(max_size=200), agent=PARTS, user=PARTS, threshold=st.none() | st.floats(0, 1))
def test_no_text_and_no_scope_makes_a_match_raise_or_write(
    desk: Desk, shelf: Shelf, text: str, agent: str | None, user: str | None, threshold: float | None
) -> None:
    before = desk.snapshot()
    scope = RecipeScope(agent=agent, user=user)
    if normalise(text):
        found = match(shelf, desk, text, scope=scope, threshold=threshold)
        assert (found.hit, found.error, found.reason) == (None, None, "no_match")
    else:
        with pytest.raises(InvalidInputError):
            match(shelf, desk, text, scope=scope, threshold=threshold)
    assert desk.snapshot() == before


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(text=st.text(max_size=600))
def test_no_text_passes_for_a_token(desk: Desk, text: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        commit_recipe(desk.store, desk.call(), text)
    assert refused.value.field == "hit_token"


def test_a_caller_who_waits_too_long_or_is_told_an_error_goes_on(desk: Desk, shelf: Shelf) -> None:
    learn(shelf, desk)

    def too_late(work: Callable[[], T], at_most_ms: int) -> T:
        raise TimeoutError(work, at_most_ms)

    late = replace(rungs(shelf), within=too_late)
    assert match_recipe(late, desk.call(), WantedMatch(REQUEST, SCOPE)).reason == "timeout"
    slow = replace(rungs(shelf), elapsed=lambda: 2_001)
    assert match_recipe(slow, desk.call(), WantedMatch(REQUEST, SCOPE)).reason == "timeout"

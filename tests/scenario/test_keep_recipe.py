"""Recipes are kept once, inside their scope, with their vector and their audit entry, and leave nothing behind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from provenloop.adapters.dynamodb import table
from provenloop.adapters.dynamodb.packed_vectors import PackedVectorIndex
from provenloop.adapters.dynamodb.rows import unpack
from provenloop.adapters.wordllama_embedder import WordllamaEmbedder
from provenloop.domain.audit import ChainEnd, ChainHead
from provenloop.domain.canonical import sha256_hex
from provenloop.domain.errors import (
    IllegalTransitionError,
    InvalidInputError,
    LoopError,
    NotFoundError,
    ScopeDeniedError,
    TooLargeError,
)
from provenloop.domain.names import MemoryId
from provenloop.domain.recipe import MAX_RESPONSE_BYTES, Recipe, RecipeScope, RecipeVersion
from provenloop.recipes.normalise import signature
from provenloop.recipes.scope import scope_key
from provenloop.services import erase_memory
from provenloop.services.embed_recipes import PAGE, embed_scope
from provenloop.services.forget_recipe import forget_recipe
from provenloop.services.keep_recipe import Learnt, keep_recipe
from provenloop.services.memories import create_memory
from provenloop.services.ports import Put, Replace, WriteRefusedError
from provenloop.services.recipe_decisions import decide_recipe
from provenloop.services.recipe_ports import space_of
from provenloop.services.recipe_shelf import Shelf, change_recipe, find_recipe
from tests.builders import DAY_MS, MEMORY, Desk, make_principal
from tests.faults import FaultLayer, throttle

EMBEDDER = WordllamaEmbedder()
SCOPE = RecipeScope(agent="helpdesk")
REQUEST, RESPONSE = "How do I reset my password?", "Follow the link on the sign-in page."


class Renamed:
    """The same vectors under another name, as another embedder would give others."""

    tag, version, dimensions = "renamed", 1, EMBEDDER.dimensions

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return EMBEDDER.embed(texts)


def learnt(request: str = REQUEST, response: str = RESPONSE, **more: Any) -> Learnt:
    return Learnt("answer", more.pop("scope", SCOPE), request, response, **more)


@pytest.fixture
def shelf(desk: Desk) -> Shelf:
    return Shelf(desk.store, PackedVectorIndex(pause=lambda _attempt: None), EMBEDDER)


def nearest(shelf: Shelf, text: str, *, memory: MemoryId = MEMORY, scope: RecipeScope = SCOPE) -> list[str]:
    """The requests of the recipes that the index finds."""
    assert shelf.embedder is not None
    [vector] = shelf.embedder.embed([text])
    key = scope_key(memory, scope)
    found = shelf.index.query(memory, key, space_of(shelf.embedder), vector, 5)
    recipes = shelf.store.recipes(memory, key, [near.name for near in found])
    return [recipes[near.name].request for near in found]


def test_a_new_recipe_is_found_by_its_exact_request_in_one_read_and_by_its_vector(desk: Desk, shelf: Shelf) -> None:
    kept, recipe = keep_recipe(shelf, desk.call(), learnt(category="accounts", principles=("be brief",)))

    assert kept == "created"
    key = scope_key(MEMORY, SCOPE)
    with desk.counted() as calls:
        found = desk.store.recipe(MEMORY, key, signature(" how do I RESET my password", key))
    assert calls == ["GetItem"]
    assert found == recipe
    assert (recipe.status, recipe.revision, recipe.reinforced, recipe.principles) == ("live", 1, 0, ("be brief",))
    assert nearest(shelf, "reset the password, how?") == [REQUEST]
    desk.verify()


def test_learnt_again_it_is_reinforced_and_learnt_otherwise_it_is_superseded_never_doubled(
    desk: Desk, shelf: Shelf
) -> None:
    _, first = keep_recipe(shelf, desk.call(), learnt())
    kept, second = keep_recipe(shelf, desk.call(), learnt(f"  {REQUEST.upper()} "))
    assert (kept, second.id, second.reinforced, second.revision) == ("reinforced", first.id, 1, 1)

    kept, third = keep_recipe(shelf, desk.call(), learnt(response="Ask your admin."))
    assert (kept, third.id, third.revision, third.reinforced) == ("superseded", first.id, 2, 0)
    assert third.request == REQUEST

    assert desk.store.recipes_after(MEMORY, "", 10) == (third,)
    assert desk.store.recipe_versions(MEMORY, first.scope_key, first.signature) == (second,)
    assert nearest(shelf, REQUEST) == [REQUEST]
    desk.verify()


def test_two_who_learn_at_once_make_one_recipe(desk: Desk, shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupted(desk, monkeypatch, lambda: keep_recipe(shelf, desk.call(), learnt()))
    kept, recipe = keep_recipe(shelf, desk.call(), learnt())
    assert (kept, recipe.reinforced) == ("reinforced", 1)

    interrupted(desk, monkeypatch, lambda: keep_recipe(shelf, desk.call(), learnt("where is my order")))
    kept, _ = keep_recipe(shelf, desk.call(), learnt("cancel my subscription"))
    assert kept == "created"
    assert set(nearest(shelf, "where is my order")) == {REQUEST, "where is my order", "cancel my subscription"}
    desk.verify()


def interrupted(desk: Desk, monkeypatch: pytest.MonkeyPatch, by: Callable[[], object]) -> None:
    """Somebody else does something just before the next transaction."""
    transact = desk.store.transact

    def late(*arguments: Any, **more: Any) -> None:
        monkeypatch.setattr(desk.store, "transact", transact)
        by()
        transact(*arguments, **more)

    monkeypatch.setattr(desk.store, "transact", late)


def quarantined(desk: Desk, shelf: Shelf, recipe_id: str, because: str = "two complaints") -> Recipe:
    """The recipe as it is once it was refused too often."""

    def moved(recipe: Recipe) -> Recipe:
        return replace(recipe, status="quarantined", strikes=2, rev=recipe.rev + 1)

    return change_recipe(shelf, desk.call(), recipe_id, moved, "regressed", because=because)


def test_a_quarantined_recipe_has_no_vector_and_only_a_person_brings_it_back(desk: Desk, shelf: Shelf) -> None:
    _, recipe = keep_recipe(shelf, desk.call(), learnt())
    stopped = quarantined(desk, shelf, recipe.id)
    assert (stopped.status, stopped.answers_at(desk.now), nearest(shelf, REQUEST)) == ("quarantined", False, [])

    kept, again = keep_recipe(shelf, desk.call(), learnt(response="Another way."))
    assert (kept, again.status, nearest(shelf, REQUEST)) == ("superseded", "quarantined", [])

    decide_recipe(shelf, desk.call(), recipe.id, "restore", "it is right now")
    live = find_recipe(desk.store, desk.call(), recipe.id)
    assert (live.status, live.strikes, nearest(shelf, REQUEST)) == ("live", 0, [REQUEST])
    with pytest.raises(IllegalTransitionError):
        decide_recipe(shelf, desk.call(), recipe.id, "restore", "once more")
    desk.verify()


def test_a_retired_recipe_stays_as_it_is(desk: Desk, shelf: Shelf) -> None:
    _, recipe = keep_recipe(shelf, desk.call(), learnt())
    decide_recipe(shelf, desk.call(), recipe.id, "retire", "not for a recipe")
    retired = find_recipe(desk.store, desk.call(), recipe.id)
    before = desk.snapshot()
    assert keep_recipe(shelf, desk.call(), learnt(response="Another way.")) == ("stays_retired", retired)
    assert desk.snapshot() == before


def test_a_recipe_is_valid_for_as_long_as_it_was_given_and_learning_it_again_begins_anew(
    desk: Desk, shelf: Shelf
) -> None:
    _, recipe = keep_recipe(shelf, desk.call(), learnt(ttl_days=1))
    assert recipe.answers_at(recipe.created_at + DAY_MS - 1)
    assert not recipe.answers_at(recipe.created_at + DAY_MS)
    desk.now += 2 * DAY_MS
    _, again = keep_recipe(shelf, desk.call(), learnt(ttl_days=1))
    assert again.answers_at(desk.now)


def test_equal_requests_of_three_tenants_memories_and_users_are_recipes_of_their_own(desk: Desk, shelf: Shelf) -> None:
    places = [
        (MEMORY, SCOPE),
        (MEMORY, replace(SCOPE, user="ann")),
        (MEMORY, replace(SCOPE, agent="sales")),
        (MemoryId("acme", "other"), SCOPE),
        (MemoryId("globex", "demo"), SCOPE),
    ]
    for number, (memory, scope) in enumerate(places):
        call = replace(desk.call(), memory=memory)
        create_memory(desk.store, call)
        kept, _ = keep_recipe(shelf, call, learnt(response=f"answer {number}", scope=scope))
        assert kept == "created"
    for number, (memory, scope) in enumerate(places):
        key = scope_key(memory, scope)
        found = desk.store.recipe(memory, key, signature(REQUEST, key))
        assert found is not None
        assert found.response == f"answer {number}"
        assert nearest(shelf, REQUEST, memory=memory, scope=scope) == [REQUEST]


def test_forgetting_a_recipe_leaves_neither_text_nor_vector_anywhere(desk: Desk, shelf: Shelf) -> None:
    _, recipe = keep_recipe(shelf, desk.call(), learnt("reset the zebra password", "Ask the okapi."))
    keep_recipe(shelf, desk.call(), learnt())
    keep_recipe(shelf, desk.call(), learnt("reset the zebra password", "Ask the quokka."))
    quarantined(desk, shelf, recipe.id, "the zebra complained")
    decide_recipe(shelf, desk.call(), recipe.id, "restore", "the zebra withdrew it")

    forgotten = forget_recipe(shelf, desk.call(key="f"), recipe.id, "asked for by its author")

    assert {name: forgotten[name] for name in ("forgotten", "versions", "reasons")} == {
        "forgotten": 1, "versions": 1, "reasons": 2,
    }  # fmt: skip
    assert nearest(shelf, "reset the zebra password") == [REQUEST]
    for row in table.query("T#acme#M#demo#RECIPE"):
        assert recipe.signature not in f"{row.sk} {table_text(row)}"
    left = " ".join(table_text(row) for cls in ("NOTE", "AUDIT", "LOOP") for row in table.query(f"T#acme#M#demo#{cls}"))
    assert [word for word in ("zebra", "okapi", "quokka") if word in left] == []
    # Nor anything by which a guess could be told from others: what stands for the texts is made with the memory's key.
    guesses = (recipe.signature, sha256_hex("Ask the okapi."), sha256_hex("Ask the quokka."))
    assert [guess for guess in guesses if guess in left] == []
    desk.verify()

    with pytest.raises(NotFoundError):
        forget_recipe(shelf, desk.call(), recipe.id, "once more")
    assert forget_recipe(shelf, desk.call(key="f"), recipe.id, "asked for by its author") == forgotten
    assert keep_recipe(shelf, desk.call(), learnt("reset the zebra password", "Anew."))[0] == "created"
    desk.verify()


def table_text(row: Any) -> str:
    return f"{row.text} {unpack(row.doc) if row.doc else ''}"


def test_a_recipe_changed_very_often_is_forgotten_as_well(desk: Desk, shelf: Shelf) -> None:
    _, recipe = keep_recipe(shelf, desk.call(), learnt())
    desk.plant(*(RecipeVersion(replace(recipe, revision=number)) for number in range(1, 120)))
    often = replace(recipe, revision=120, rev=recipe.rev + 1)
    desk.store.transact(MEMORY, [Replace(often, expected=recipe.rev)], desk.now)
    assert forget_recipe(shelf, desk.call(), recipe.id, "asked for")["forgotten"] == 1
    assert desk.store.recipe_versions(MEMORY, recipe.scope_key, recipe.signature) == ()


def test_a_memory_that_was_never_made_keeps_no_recipe(desk: Desk, shelf: Shelf) -> None:
    call = replace(desk.call(), memory=MemoryId("acme", "unmade"))
    with pytest.raises(NotFoundError):
        keep_recipe(shelf, call, learnt())
    assert desk.store.recipes_after(call.memory, "", 1) == ()


def test_an_erased_memory_keeps_no_recipe(desk: Desk, shelf: Shelf) -> None:
    assert "RECIPE" in erase_memory.CLASSES
    keep_recipe(shelf, desk.call(), learnt())
    assert len(desk.store.items_of(MEMORY, "RECIPE", 90)) == 4


@pytest.mark.parametrize(
    ("wrong", "error", "field"),
    [
        (learnt("  "), InvalidInputError, "request"),
        (learnt(response="\n"), InvalidInputError, "response"),
        (learnt("x" * 100_001), TooLargeError, "request"),
        (learnt(response="é" * (MAX_RESPONSE_BYTES // 2 + 1)), TooLargeError, "response"),
        (learnt(scope=RecipeScope(state_hash="5f")), InvalidInputError, "scope.agent"),
        (replace(learnt(), kind="procedure"), InvalidInputError, "scope.state_hash"),
    ],
)
def test_a_recipe_that_is_not_sound_is_refused_and_nothing_is_written(
    desk: Desk, shelf: Shelf, wrong: Learnt, error: type[LoopError], field: str
) -> None:
    before = desk.snapshot()
    with pytest.raises(error) as refused:
        keep_recipe(shelf, desk.call(), wrong)
    assert refused.value.field == field
    assert desk.snapshot() == before


def test_who_may_only_read_keeps_nothing_and_only_reviewers_decide(desk: Desk, shelf: Shelf) -> None:
    _, recipe = keep_recipe(shelf, desk.call(by=make_principal("bot", "write")), learnt())
    with pytest.raises(ScopeDeniedError):
        keep_recipe(shelf, desk.call(by=make_principal("eve", "read")), learnt())
    with pytest.raises(ScopeDeniedError):
        decide_recipe(shelf, desk.call(by=make_principal("bot", "write")), recipe.id, "retire", "no")
    with pytest.raises(ScopeDeniedError):
        forget_recipe(shelf, desk.call(by=make_principal("rev", "review")), recipe.id, "no")


@pytest.mark.parametrize("wrong", ["", "x", "-", "a" * 65, f"{'A' * 32}-{'b' * 32}", f"{'a' * 32}-{'b' * 32}"])
def test_an_id_of_no_recipe_is_not_found(desk: Desk, shelf: Shelf, wrong: str) -> None:
    with pytest.raises(NotFoundError):
        decide_recipe(shelf, desk.call(), wrong, "retire", "no such thing")


def test_what_is_written_beside_decides_over_all_of_it(desk: Desk, shelf: Shelf) -> None:
    marker = ChainEnd("distil:job-1", ChainHead(), "kept")
    keep_recipe(shelf, desk.call(), learnt(), beside=[Put(marker)])
    before = desk.snapshot()
    with pytest.raises(WriteRefusedError):
        keep_recipe(shelf, desk.call(), learnt(), beside=[Put(marker)])
    with pytest.raises(WriteRefusedError):
        keep_recipe(shelf, desk.call(), learnt("x"), beside=[Replace(replace(marker, rev=3), expected=2)])
    assert desk.snapshot() == before


def test_a_text_too_long_to_compare_is_kept_for_exact_requests_only(desk: Desk, shelf: Shelf) -> None:
    text = "reset my password " * 400
    _, recipe = keep_recipe(shelf, desk.call(), learnt(text))
    assert recipe.spaces == ()
    assert nearest(shelf, text) == []


def test_another_embedder_finds_the_scope_empty_and_fills_it_while_it_is_used(desk: Desk, shelf: Shelf) -> None:
    _, first = keep_recipe(shelf, desk.call(), learnt())
    assert embed_scope(shelf, desk.call(), first.scope_key)
    with desk.counted() as calls:
        assert embed_scope(shelf, desk.call(), first.scope_key)
    assert calls == ["GetItem"]

    other = replace(shelf, embedder=Renamed())
    assert nearest(other, REQUEST) == []
    assert embed_scope(other, desk.call(), first.scope_key)
    assert nearest(other, REQUEST) == nearest(shelf, REQUEST) == [REQUEST]

    forget_recipe(other, desk.call(), first.id, "asked for")
    assert nearest(shelf, REQUEST) == nearest(other, REQUEST) == []


def test_an_embedder_that_comes_back_finds_what_became_live_without_it(desk: Desk, shelf: Shelf) -> None:
    other = replace(shelf, embedder=Renamed())
    texts = ["where is my order", "cancel my subscription", "change the billing address", "delete my account"]
    _, first = keep_recipe(shelf, desk.call(), learnt())
    _, retired = keep_recipe(shelf, desk.call(), learnt(texts[0]))
    decide_recipe(shelf, desk.call(), retired.id, "retire", "out of date")
    assert embed_scope(shelf, desk.call(), first.scope_key)

    keep_recipe(other, desk.call(), learnt(texts[1]))
    decide_recipe(other, desk.call(), retired.id, "restore", "it is right again")
    keep_recipe(replace(shelf, embedder=None), desk.call(), learnt(texts[2]))
    assert embed_scope(other, desk.call(), first.scope_key)
    keep_recipe(shelf, desk.call(), learnt(texts[3]))

    for each in (shelf, other):
        while not embed_scope(each, desk.call(), first.scope_key):
            pass
        assert [nearest(each, text)[0] for text in (REQUEST, *texts)] == [REQUEST, *texts]
        with desk.counted() as calls:
            embed_scope(each, desk.call(), first.scope_key)
        assert calls == ["GetItem"]


@pytest.mark.parametrize("is_kept_first", [False, True])
def test_a_recipe_kept_while_another_embedder_looks_is_not_missed(
    desk: Desk, shelf: Shelf, monkeypatch: pytest.MonkeyPatch, is_kept_first: bool
) -> None:
    other = replace(shelf, embedder=Renamed())
    key = keep_recipe(shelf, desk.call(), learnt())[1].scope_key

    def look() -> object:
        return embed_scope(other, desk.call(), key)

    def keep() -> object:
        return keep_recipe(shelf, desk.call(), learnt("where is my order"))

    first, then = (keep, look) if is_kept_first else (look, keep)
    interrupted(desk, monkeypatch, first)
    then()
    while not look():
        pass
    assert nearest(other, "where is my order")[0] == "where is my order"


def test_an_index_of_many_restored_recipes_is_tidied(desk: Desk) -> None:
    shelf = Shelf(desk.store, PackedVectorIndex(pause=lambda _attempt: None, gather=3), EMBEDDER)
    recipes = [keep_recipe(shelf, desk.call(), learnt(f"question number {number}"))[1] for number in range(3)]
    for act in ("retire", "restore"):
        for recipe in recipes:
            decide_recipe(shelf, desk.call(), recipe.id, act, "looked into it")
    assert len([row for row in table.query("T#acme#M#demo#RECIPE") if row.type == "vector_row"]) == 1
    assert sorted(nearest(shelf, "question number 1")) == sorted(recipe.request for recipe in recipes)


def test_an_index_that_cannot_be_tidied_fails_nothing_that_was_done(desk: Desk) -> None:
    shelf = Shelf(desk.store, PackedVectorIndex(pause=lambda _attempt: None, gather=1), EMBEDDER)
    with FaultLayer(desk.client) as layer:
        layer.arm(throttle(2, "TransactWriteItems", times=None))
        assert keep_recipe(shelf, desk.call(), learnt())[0] == "created"
    assert nearest(shelf, REQUEST) == [REQUEST]


def test_a_large_scope_is_filled_a_page_at_a_time(desk: Desk, shelf: Shelf) -> None:
    key = scope_key(MEMORY, SCOPE)
    texts = [f"question number {number}" for number in range(PAGE + 10)]
    template = Recipe(key, "", SCOPE, "answer", "", RESPONSE, desk.now, desk.now, "", "")
    desk.plant(*(replace(template, signature=signature(text, key), request=text) for text in texts))
    desk.plant(replace(template, signature=signature("old", key), request="old", status="retired"))

    assert [embed_scope(shelf, desk.call(), key) for _ in range(3)] == [False, True, True]
    recipes = desk.store.recipes_in_scope(MEMORY, key, "", 200)
    assert {recipe.request for recipe in recipes if recipe.spaces} == set(texts)
    assert texts[3] in nearest(shelf, texts[3])

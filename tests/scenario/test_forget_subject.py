"""Forgetting a subject beyond its grains: recipes, distillations, the ledger and reasons, each looked through once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest

from provenloop.adapters.dynamodb.packed_vectors import PackedVectorIndex
from provenloop.adapters.dynamodb.rows import unpack
from provenloop.adapters.wordllama_embedder import WordllamaEmbedder
from provenloop.domain.distillation import Distillation, answered
from provenloop.domain.errors import NotFoundError, ScopeDeniedError
from provenloop.domain.ledger import EXACT_HIT, About, LedgerRow, free_row
from provenloop.domain.names import MemoryId
from provenloop.domain.recipe import Recipe, RecipeScope
from provenloop.domain.remark import Remark
from provenloop.services.distil_recipe import Wanted as WantedDistillation
from provenloop.services.distil_recipe import begin_distillation
from provenloop.services.forget_plan import Wanted
from provenloop.services.forget_subject import forget_subject, would_forget_subject
from provenloop.services.keep_recipe import Learnt, keep_recipe
from provenloop.services.ports import Put, Replace
from provenloop.services.recipe_shelf import Shelf, change_recipe
from tests.builders import MEMORY, Desk, make_fact, make_principal
from tests.faults import FaultLayer, Kind, SavedTable, single_faults
from tests.faults.tables import TABLE

SCOPE = RecipeScope(agent="helpdesk")
REQUEST = "How do I reset my password?"


class NoQueue:
    """Takes messages that nobody reads."""

    def send(self, memory: MemoryId, job_id: str, delay_s: int) -> None:
        """Nothing comes of it."""


@dataclass(frozen=True)
class Shelves:
    """A memory with recipes, and what is done to it here."""

    desk: Desk
    shelf: Shelf

    def learn(self, request: str = REQUEST, response: str = "Open settings.", **scope: str) -> Recipe:
        learnt = Learnt("answer", replace(SCOPE, **scope), request, response)
        return keep_recipe(self.shelf, self.desk.call(), learnt)[1]

    def distil(self, problem: str = REQUEST, *, user: str | None = None, **more: Any) -> Distillation:
        envelope = {"problem": problem, "final_message": "Done.", "signals": ["thumbs_up"], **more}
        wanted = WantedDistillation(envelope, replace(SCOPE, user=user))
        return begin_distillation(self.desk.store, NoQueue(), self.desk.call(), wanted, has_model=True)

    def row(self, row_id: str, about: About) -> None:
        self.desk.store.transact(MEMORY, [Put(free_row(row_id, self.desk.now, EXACT_HIT, about))], self.desk.now)

    def strike(self, recipe: Recipe, because: str) -> None:
        def moved(before: Recipe) -> Recipe:
            return replace(before, strikes=1, rev=before.rev + 1)

        change_recipe(self.shelf, self.desk.call(), recipe.id, moved, "strike", because=because)

    def forget(self, subject: str, *, key: str | None = None) -> dict[str, Any]:
        call = self.desk.call(key=key, body=subject)
        is_done, answer = forget_subject(self.shelf, NoQueue(), call, Wanted(None, "shared", subject), "asked for")
        assert is_done
        return answer

    def would_forget(self, subject: str) -> dict[str, Any]:
        before = self.desk.snapshot()
        told = would_forget_subject(self.desk.store, self.desk.call(), Wanted(None, "shared", subject))
        assert self.desk.snapshot() == before
        return told

    def saying(self, word: str) -> list[str]:
        """The stored texts that hold a word."""
        items = self.desk.snapshot().values()
        texts = (" ".join(unpack(v) if k == "doc" else str(v) for k, v in item.items()) for item in items)
        return [text for text in texts if word.casefold() in text.casefold()]

    def jobs(self) -> set[str]:
        walked = self.desk.store.walk(MEMORY, "distillations", "", self.desk.now)
        return {job.id for _, job in walked if isinstance(job, Distillation)}

    def rows(self) -> list[LedgerRow]:
        return list(self.desk.store.ledger(MEMORY, 0, self.desk.now + 1, after=None, limit=100))


@pytest.fixture
def shelves(desk: Desk) -> Shelves:
    return Shelves(desk, Shelf(desk.store, PackedVectorIndex(pause=lambda _attempt: None), WordllamaEmbedder()))


def test_a_user_whose_name_is_too_short_to_tell_in_a_text_is_forgotten_by_it(shelves: Shelves) -> None:
    other = shelves.learn("who is al", "Al is in sales.")
    mine = shelves.learn(user="AL")
    open_one, left = shelves.distil("Is al there?", user="Al"), shelves.distil("Is al there?")
    shelves.distil(session="al")
    for number, about in enumerate([About("al"), About("", "", {"user": "Al"}), About("s-1", "", {"user": "albert"})]):
        shelves.row(f"r{number}", about)

    assert shelves.would_forget("al")["recipes"] == 1
    assert shelves.forget("al")["recipes"] == 1

    assert shelves.desk.store.recipes_after(MEMORY, "", 9) == (other,)
    assert shelves.jobs() == {left.id}
    assert shelves.desk.store.envelope(MEMORY, open_one.id) is None
    assert mine.id not in " ".join(shelves.saying(mine.scope_key))
    assert [row.log_fields for row in shelves.rows()] == [{}, {}, {"user": "albert"}]
    with pytest.raises(NotFoundError):
        shelves.forget("al")
    shelves.desk.verify()


@pytest.mark.parametrize("has_grain", [False, True])
def test_reasons_and_remarks_that_name_the_subject_go_from_what_does_not(shelves: Shelves, has_grain: bool) -> None:
    recipe = shelves.learn()
    shelves.strike(recipe, "The okapi told me so.")
    shelves.strike(recipe, "It is out of date.")
    remark = Remark("r1", shelves.desk.now, "ext.x", "group", "key", "a-recommendation", (), "target")
    shelves.desk.say(replace(remark, summary="The okapi waits long."), replace(remark, name="r2", summary="Fine."))
    if has_grain:
        shelves.desk.record(make_fact(subject="okapi"))

    told = shelves.would_forget("Okapi")
    assert (told["reasons"], told["recipes"], told["forgotten"]) == (1, 0, int(has_grain))
    told = shelves.forget("Okapi")
    assert (told["reasons"], told["recipes"], told["forgotten"]) == (1, 0, int(has_grain))

    assert shelves.saying("okapi") == []
    assert len(shelves.saying("out of date")) == 1
    assert [each.name for each in shelves.desk.remarks() if not each.is_erased] == ["r2"]
    shelves.desk.verify()


def test_the_reason_why_a_recipe_was_forgotten_is_kept(shelves: Shelves) -> None:
    shelves.learn("where does the okapi graze", "In a forest.")
    wanted = Wanted(None, "shared", "okapi")
    forget_subject(shelves.shelf, NoQueue(), shelves.desk.call(), wanted, "The okapi asked for it.")
    with pytest.raises(NotFoundError):
        shelves.forget("okapi")
    assert len(shelves.saying("The okapi asked for it.")) == 1


@pytest.mark.parametrize("problem", ["Hello.\nokapi is my name", 'Say "okapi"', "Is the okapi shy?"])
def test_a_distillation_on_its_way_is_forgotten_also_where_nothing_else_is_held(shelves: Shelves, problem: str) -> None:
    job = shelves.distil(problem)
    assert shelves.forget("okapi")["recipes"] == 0
    assert (shelves.jobs(), shelves.saying("okapi"), shelves.desk.store.envelope(MEMORY, job.id)) == (set(), [], None)


@pytest.mark.parametrize("answer", ['{"problem": "x", "principles": ["first\\nokapi"]}', '{"problem": "the okapi'])
def test_an_answer_of_the_model_that_names_the_subject_is_forgotten(shelves: Shelves, answer: str) -> None:
    job = shelves.distil("Who lives here?")
    after = answered(job, shelves.desk.now, answer, "claude-opus-5-5")
    shelves.desk.store.transact(MEMORY, [Replace(after, expected=job.rev)], shelves.desk.now)
    shelves.forget("okapi")
    assert shelves.saying("okapi") == []


def test_a_subject_of_nothing_but_blanks_is_nobody(shelves: Shelves) -> None:
    shelves.learn()
    shelves.row("r1", About())
    with pytest.raises(NotFoundError):
        shelves.forget("\u200b")
    assert len(shelves.desk.store.recipes_after(MEMORY, "", 9)) == 1


def test_however_many_recipes_name_it_all_is_looked_through_once(
    shelves: Shelves, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        shelves.learn(f"does the okapi {number} sleep", "Rarely.")
        shelves.row(f"r{number}", About("s-1", "", {"animal": "okapi"}))
    walked: list[str] = []
    store = shelves.desk.store
    walk, pages = store.walk, store.recipes_after

    def walking(memory: MemoryId, part: Any, *rest: Any) -> Iterator[Any]:
        walked.append(part)
        return walk(memory, part, *rest)

    def paging(*where: Any) -> Any:
        walked.append("recipes")
        return pages(*where)

    monkeypatch.setattr(store, "walk", walking)
    monkeypatch.setattr(store, "recipes_after", paging)
    assert shelves.forget("okapi")["recipes"] == 3
    assert sorted(walked) == ["distillations", "ledger", "recipes"]
    assert shelves.saying("okapi") == []


def test_what_is_said_of_a_recipe_while_it_is_forgotten_goes_as_well(
    shelves: Shelves, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = shelves.learn("does the okapi sleep", "Rarely.")
    store = shelves.desk.store
    removing = shelves.shelf.index.removing

    def overtaken(*where: Any) -> Any:
        monkeypatch.setattr(shelves.shelf.index, "removing", removing)
        shelves.row("late", About("s-okapi", recipe.id))
        shelves.strike(recipe, "The okapi moved.")
        return removing(*where)

    monkeypatch.setattr(shelves.shelf.index, "removing", overtaken)
    assert shelves.forget("okapi")["recipes"] == 1
    assert (shelves.saying("okapi"), store.recipes_after(MEMORY, "", 9)) == ([], ())


def test_a_request_sent_again_is_answered_again_where_no_grain_was_held(shelves: Shelves) -> None:
    shelves.learn("does the okapi sleep", "Rarely.")
    first = shelves.forget("okapi", key="k")
    assert first["recipes"] == 1
    assert shelves.forget("okapi", key="k") == first
    with pytest.raises(NotFoundError):
        shelves.forget("okapi", key="another")


def test_forgetting_again_finishes_what_a_crash_left(shelves: Shelves) -> None:
    shelves.learn("does the okapi sleep", "Rarely.")
    shelves.distil("Is the okapi shy?")
    shelves.row("r1", About("s-okapi"))
    shelves.strike(shelves.learn(), "The okapi told me so.")
    saved = SavedTable(shelves.desk.client, TABLE)
    with FaultLayer(shelves.desk.client) as layer:
        calls = layer.count(lambda: shelves.forget("okapi"))
        for fault in single_faults(calls, [Kind.CRASH_BEFORE, Kind.CRASH_AFTER]):
            saved.restore()
            survived = layer.survives(lambda: shelves.forget("okapi"), fault)
            layer.restart()
            if not survived:
                until_nothing_is_left(lambda: shelves.forget("okapi"))
            assert shelves.saying("okapi") == []
            shelves.desk.verify()


def until_nothing_is_left(forget: Callable[[], object]) -> None:
    try:
        forget()
    except NotFoundError:
        # It was done before the crash.
        return


def test_only_who_may_forget_learns_whether_anything_is_held(shelves: Shelves) -> None:
    shelves.learn("does the okapi sleep", "Rarely.")
    before = shelves.desk.snapshot()
    wanted, call = Wanted(None, "shared", "okapi"), shelves.desk.call(by=make_principal("bot", "write"))
    with pytest.raises(ScopeDeniedError):
        forget_subject(shelves.shelf, NoQueue(), call, wanted, "please")
    with pytest.raises(ScopeDeniedError):
        would_forget_subject(shelves.desk.store, call, wanted)
    assert shelves.desk.snapshot() == before

"""Lasting answers kept as configuration: what is no rule here, and folds, after which a pass merges cards by itself."""

from __future__ import annotations

import pytest

from provenloop.domain.errors import IllegalTransitionError, InvalidInputError
from provenloop.lessons.card import MAX_NOT_RULES
from provenloop.services.cards_read import list_cards, show_card
from provenloop.services.configure import CHAIN, ConfigChange, configure
from tests.builders import Desk, make_fact
from tests.faults import assert_unchanged
from tests.lessons import STATEMENT, Guards


@pytest.fixture
def guards(desk: Desk) -> Guards:
    return Guards(desk)


def say(guards: Guards, *cards: str) -> None:
    change = ConfigChange(lesson_not_rules=cards)
    answer = configure(guards.desk.store, guards.desk.call(), change, "several on purpose")
    assert answer["lesson_not_rules"] == sorted(set(cards))


def fold(guards: Guards, **folds: str) -> None:
    configure(guards.desk.store, guards.desk.call(), ConfigChange(lesson_folds=folds), "one lesson")


# cards


@pytest.mark.parametrize("threshold", [1, 3])
def test_a_card_that_is_no_rule_here_is_counted_and_never_becomes_ready(guards: Guards, threshold: int) -> None:
    configure(guards.desk.store, guards.desk.call(), ConfigChange(lessons={"promote_threshold": 20}))
    card = guards.report()["card"]
    say(guards, card)
    configure(guards.desk.store, guards.desk.call(), ConfigChange(lessons={"promote_threshold": threshold}))
    answers = [guards.report() for _ in range(4)]
    assert [(answer["ready"], answer["just_ready"]) for answer in answers] == [(False, False)] * 4
    shown = show_card(guards.desk.store, guards.desk.call(), card)
    assert (shown["reports"], shown["ready"], shown["not_a_rule"], shown["ready_at"]) == (5, False, True, None)
    with pytest.raises(IllegalTransitionError):
        guards.act(card, "arm", STATEMENT)
    assert guards.chain(card) == []
    assert [entry.subject for entry in guards.desk.store.audit_entries(guards.desk.memory, CHAIN)] == [CHAIN] * 3


def test_a_rejected_card_that_is_no_rule_here_does_not_come_back(guards: Guards) -> None:
    card = guards.report()["card"]
    guards.act(card, "reject")
    say(guards, card)
    assert [guards.report()["candidate"] for _ in range(5)] == [False] * 5


def test_the_answer_can_be_taken_back(guards: Guards) -> None:
    card = guards.reports(2)["card"]
    say(guards, card)
    guards.reports(2)
    say(guards)
    guards.desk.run(min_new=1000)
    [row] = list_cards(guards.desk.store, guards.desk.call())["cards"]
    assert (row["ready"], row["not_a_rule"]) == (True, False)
    assert guards.act(card, "arm", STATEMENT)["status"] == "armed"


@pytest.mark.parametrize("given", [["short"], ["A" * 26], ["a" * 26] * (MAX_NOT_RULES + 1)])
def test_what_is_no_id_of_a_card_is_refused(guards: Guards, given: list[str]) -> None:
    before = guards.desk.snapshot()
    with pytest.raises(InvalidInputError) as caught:
        configure(guards.desk.store, guards.desk.call(), ConfigChange(lesson_not_rules=given))
    assert caught.value.field == "lesson_not_rules"
    assert_unchanged(before, guards.desk.snapshot())


# relations


def test_a_relation_that_holds_several_on_purpose_contradicts_no_more(desk: Desk) -> None:
    tiers = (make_fact(value, relation="tier") for value in ("gold", "red"))
    desk.record(make_fact("Berlin"), make_fact("Tokyo"), *tiers)
    desk.run()
    assert len(desk.queue(analyzer="loop.contradiction_sweep")) == 2
    change = ConfigChange(analyzer="loop.contradiction_sweep", parameters={"many_valued": "livesIn, other"})
    configure(desk.store, desk.call(), change, "people move between two flats")
    desk.run()
    [left] = desk.queue(analyzer="loop.contradiction_sweep")
    assert left["details"]["relation"] == "tier"


# folds


def test_the_next_pass_merges_cards_whose_keys_have_become_one(guards: Guards) -> None:
    one, other = (guards.reports(2, category=name)["card"] for name in ("deploys", "releases"))
    fold(guards, deploys="shipping", releases="shipping")
    guards.desk.run(min_new=1000)
    [merged] = [card for card in guards.desk.store.all_cards(guards.desk.memory) if card.merged_into is None]
    assert (merged.category, merged.reports, merged.status) == ("shipping", 4, "candidate")
    assert {guards.card(card).merged_into for card in (one, other)} == {merged.id}
    assert guards.desk.run(min_new=1000)["outcome"] == "skipped"
    guards.desk.verify()


@pytest.mark.parametrize(
    ("source", "target", "is_merged"),
    [("candidate", "arm", True), ("arm", None, False), ("arm", "reject", False), ("candidate", "reject", False),
     ("arm", "arm", True), ("reject", "demote", True)],
)  # fmt: skip
def test_a_pass_leaves_to_people_what_would_move_a_status(
    guards: Guards, source: str, target: str | None, *, is_merged: bool
) -> None:
    def bring(category: str, status: str) -> str:
        card = str(guards.report(category=category, signature=category)["card"])
        for action in {"candidate": (), "demote": ("arm", "demote")}.get(status, (status,)):
            guards.act(card, action, STATEMENT)
        return card

    card = bring("deploys", source)
    kept = bring("shipping", target) if target is not None else None
    before = guards.card(kept).status if kept is not None else None
    fold(guards, deploys="shipping")
    guards.desk.run(min_new=1000)
    assert (guards.card(card).merged_into is not None) == is_merged
    if kept is not None:
        assert guards.card(kept).status == before
    guards.desk.verify()

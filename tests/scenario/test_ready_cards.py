"""Settings that change, and cards that become one, make cards ready: at the next pass or report, told of once."""

from __future__ import annotations

from typing import Any

import pytest

from provenloop.services.cards_read import show_card
from provenloop.services.configure import ConfigChange, configure
from provenloop.services.migrate_cards import migrate_cards
from tests.builders import Desk
from tests.faults import Fault, FaultLayer, Kind
from tests.lessons import REVIEWER, STATEMENT, Guards

FOLDS = {"deploys": "shipping", "releases": "shipping"}


@pytest.fixture
def guards(desk: Desk) -> Guards:
    return Guards(desk)


def set_up(guards: Guards, **change: Any) -> None:
    configure(guards.desk.store, guards.desk.call(), ConfigChange(**change))


def lower(guards: Guards, **thresholds: int) -> None:
    set_up(guards, lessons=thresholds)


def look(guards: Guards) -> None:
    """A pass, which runs only where something is due."""
    guards.desk.run(min_new=1000)


def told(guards: Guards) -> list[tuple[str, int, str]]:
    """The card, the reports and the reason of every event that tells of a card that is ready."""
    events = [each for each in guards.items("OUTBOX") if each.kind == "RuleReady"]
    return [(each.detail["card"], each.detail["reports"], each.detail["reason"]) for each in events]


def is_ready(guards: Guards, card: str) -> bool:
    return bool(show_card(guards.desk.store, guards.desk.call(), card)["ready"])


def test_a_lowered_threshold_makes_a_card_ready_at_the_next_pass_with_its_event_and_once(guards: Guards) -> None:
    card = guards.reports(2)["card"]
    guards.report(category="other")
    lower(guards, promote_threshold=2)
    assert (is_ready(guards, card), told(guards)) == (False, [])
    for _ in range(2):
        look(guards)
        assert (is_ready(guards, card), told(guards)) == (True, [(card, 2, "ready")])
    assert guards.report()["just_ready"] is False
    lower(guards, promote_threshold=1)
    look(guards)
    assert [each for each in told(guards) if each[0] == card] == [(card, 2, "ready")]
    assert len(told(guards)) == 2
    guards.desk.verify()


def test_a_report_before_that_pass_makes_it_ready_itself(guards: Guards) -> None:
    lower(guards, promote_threshold=9)
    card = guards.reports(4, category="deploys")["card"]
    lower(guards, promote_threshold=2)
    answers = [guards.report(category="deploys") for _ in range(2)]
    assert [(answer["ready"], answer["just_ready"]) for answer in answers] == [(True, True), (True, False)]
    look(guards)
    assert told(guards) == [(card, 5, "ready")]
    guards.desk.verify()


def test_a_raised_threshold_takes_back_nothing_that_was_told(guards: Guards) -> None:
    card = guards.reports(3)["card"]
    lower(guards, promote_threshold=9)
    look(guards)
    assert (is_ready(guards, card), told(guards)) == (True, [(card, 3, "ready")])


def test_a_rejected_card_comes_back_where_fewer_reports_are_enough_now(guards: Guards) -> None:
    card = guards.report()["card"]
    guards.act(card, "reject")
    guards.reports(2)
    lower(guards, revive_threshold=2)
    look(guards)
    assert (guards.card(card).status, is_ready(guards, card)) == ("candidate", True)
    assert told(guards) == [(card, 3, "return")]
    guards.desk.verify()


def test_what_may_be_a_rule_again_is_told_and_what_is_none_is_not(guards: Guards) -> None:
    cards = [guards.reports(2, category=name)["card"] for name in ("deploys", "releases")]
    set_up(guards, lesson_not_rules=cards)
    lower(guards, promote_threshold=2)
    look(guards)
    assert told(guards) == []
    set_up(guards, lesson_not_rules=cards[1:])
    look(guards)
    assert told(guards) == [(cards[0], 2, "ready")]


def test_where_lessons_are_switched_off_nothing_is_ready_until_they_are_on_again(guards: Guards) -> None:
    card = guards.reports(2)["card"]
    set_up(guards, lessons={"promote_threshold": 2, "enabled": False})
    look(guards)
    assert told(guards) == []
    set_up(guards, lessons={"enabled": True})
    look(guards)
    assert told(guards) == [(card, 2, "ready")]


@pytest.mark.parametrize("by", ["person", "pass"])
def test_cards_that_together_have_enough_reports_are_ready_as_one(guards: Guards, by: str) -> None:
    for category in ("deploys", "releases"):
        guards.reports(2, category=category)
    if by == "pass":
        set_up(guards, lesson_folds=FOLDS)
    else:
        guards.set(folds=FOLDS)
        migrate_cards(guards.desk.store, guards.desk.call(by=REVIEWER), "one lesson")
    look(guards)
    [one] = [card for card in guards.desk.store.all_cards(guards.desk.memory) if card.merged_into is None]
    assert told(guards) == [(one.id, 4, "ready")]
    assert guards.report(category="deploys")["just_ready"] is False
    guards.desk.verify()


@pytest.mark.parametrize("first", ["deploys", "releases"])
def test_of_cards_that_become_one_a_ready_one_stays_told(guards: Guards, first: str) -> None:
    card = guards.reports(3, category=first)["card"]
    for category in FOLDS:
        guards.report(category=category)
    set_up(guards, lesson_folds=FOLDS)
    look(guards)
    [one] = [card for card in guards.desk.store.all_cards(guards.desk.memory) if card.merged_into is None]
    assert (is_ready(guards, one.id), told(guards)) == (True, [(card, 3, "ready")])


def test_a_card_that_a_person_brings_back_with_enough_reports_is_ready_and_nobody_is_told(guards: Guards) -> None:
    few, many = guards.report(category="few")["card"], guards.armed(category="many").id
    guards.reports(3, category="many")
    for card, action in ((few, "archive"), (many, "demote")):
        guards.act(card, action, STATEMENT)
        guards.act(card, "revive")
    assert [is_ready(guards, card) for card in (few, many)] == [False, True]
    assert guards.report(category="many")["just_ready"] is False
    assert told(guards) == []


@pytest.mark.parametrize("nth", range(1, 4))
def test_a_pass_that_dies_on_the_way_tells_of_each_card_once_when_the_next_one_looks(guards: Guards, nth: int) -> None:
    cards = {guards.reports(2, category=name)["card"] for name in ("deploys", "releases", "few")}
    lower(guards, promote_threshold=2)
    with FaultLayer(guards.desk.client) as layer:
        layer.survives(lambda: look(guards), Fault(Kind.CRASH_AFTER, nth, "TransactWriteItems"))
    guards.desk.now += 3_600_000
    look(guards)
    assert sorted(told(guards)) == sorted((card, 2, "ready") for card in cards)
    guards.desk.verify()


def test_settings_that_cannot_be_read_make_nothing_ready(guards: Guards) -> None:
    guards.reports(2)
    lower(guards, promote_threshold=2)
    guards.set(promote_threshold=0)
    look(guards)
    assert told(guards) == []

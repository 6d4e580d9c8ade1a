"""Lessons and rules: one lesson is one card, a rule goes before memory, and what helps nobody leaves."""

from __future__ import annotations

import pytest

from provenloop.services.cards_read import show_card
from provenloop.services.outcomes import outcomes
from tests.builders import DAY_MS, Desk, make_fact
from tests.injected_block import rules_in
from tests.lessons import Guards
from tests.scenario.reported.steps import families, recalled

RULE = "Never deploy on a Friday."
SPELLINGS = ("Deploys", "deploys", " DEPLOYS ", "\uff24\uff45\uff50\uff4c\uff4f\uff59\uff53", "deploys", "DePloys")


@pytest.fixture
def guards(desk: Desk) -> Guards:
    return Guards(desk)


def shown(guards: Guards, session: str) -> list[list[str]]:
    """The rules that a session starts with."""
    return rules_in(str(guards.start(session)["block"]))


def test_an_armed_rule_stands_whatever_is_remembered_and_agents_are_told_that_it_goes_first(guards: Guards) -> None:
    desk = guards.desk
    desk.record(make_fact("on Fridays", subject="deploys", relation="status", valid_to=desk.now + DAY_MS))
    rule = guards.armed(RULE)
    assert shown(guards, "s1") == [[RULE]]
    desk.now += 2 * DAY_MS
    desk.record(*(make_fact(value, subject="deploys", relation="status") for value in ("on Fridays only", "at noon")))
    desk.run()
    assert families(desk) == ["contradiction_sweep", "staleness"]
    desk.approve_and_apply(desk.finding("contradiction_sweep"))
    assert recalled(desk, subject="deploys") != []
    for session in ("s1", "s2"):
        assert shown(guards, session) == [[RULE]]
    assert guards.card(rule.id).statement == RULE
    assert "a rule goes before what is remembered, and that before a stored answer" in guards.start("s3")["section"]


def test_a_lesson_reported_six_times_is_one_card_of_six_and_one_rule_that_shows_that_it_did_not_help(
    guards: Guards,
) -> None:
    cards = {guards.report(category=spelling, detail=f"time {spelling}")["card"] for spelling in SPELLINGS[:3]}
    [card] = cards
    guards.act(card, "arm", RULE)
    assert shown(guards, "s1") == [[RULE]]
    answers = [guards.report(category=spelling, session="s1") for spelling in SPELLINGS[3:]]
    assert [answer["violation_of"] for answer in answers] == [card] * 3
    guards.end("s1")
    told = show_card(guards.desk.store, guards.desk.call(), card)
    assert (told["reports"], told["violations"], len(told["evidence"])) == (6, 3, 6)
    [outcome] = outcomes(guards.desk.store, guards.desk.call())["rules"]
    assert (outcome["verdict"], outcome["reports_before"], outcome["violations"]) == ("regressed", 3, 3)
    assert len(list(guards.desk.store.all_cards(guards.desk.memory))) == 1


def test_of_many_rules_the_newest_are_shown_and_it_is_said_how_many_are_not(guards: Guards) -> None:
    guards.set(max_injected_rules=2)
    ids = [guards.armed(f"Mind {name}.", category=name).id for name in ("locks", "moves", "ports", "tides")]
    started = guards.start()
    assert rules_in(started["block"]) == [["Mind tides."], ["Mind ports."]]
    assert (started["rules"], started["left_out"]) == (ids[:1:-1], 2)


def test_a_rule_that_is_broken_more_than_followed_leaves_and_one_that_nobody_follows_is_shown_to_people(
    guards: Guards,
) -> None:
    broken, idle = (guards.armed(category=name, statement=name).id for name in ("broken", "idle"))
    for number in range(5):
        session = f"s{number}"
        guards.start(session)
        if number < 2:
            guards.passes(session, category="broken")
        else:
            guards.report(category="broken", session=session)
        guards.end(session)
    assert shown(guards, "before") == [["idle"], ["broken"]]
    guards.desk.run(at=guards.desk.now + 31 * DAY_MS)
    assert (guards.card(broken).status, guards.card(idle).status) == ("demoted", "armed")
    assert shown(guards, "after") == [["idle"]]
    assert show_card(guards.desk.store, guards.desk.call(), idle)["undeterminable"] is True
    guards.desk.verify()

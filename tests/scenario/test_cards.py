"""What people do with cards, what of it is audited and told, and what nobody else can do."""

from __future__ import annotations

from typing import Any

import pytest

from provenloop.domain.errors import (
    AmbiguousPrefixError,
    IllegalTransitionError,
    IntegrityError,
    InvalidInputError,
    LoopError,
    NotFoundError,
    PrincipalKindError,
    ScopeDeniedError,
)
from provenloop.domain.principal import KINDS, PrincipalKind
from provenloop.lessons.actions import ACTIONS
from provenloop.lessons.card import Rule
from provenloop.services import audit_trail, cards_read, forget
from provenloop.services.card_actions import act_on_card
from provenloop.services.forget_plan import Wanted
from tests.builders import DAY_MS, Desk, make_principal
from tests.faults import FaultLayer, Interleaving, assert_unchanged, lost_reply, throttle
from tests.lessons import REVIEWER, STATEMENT, Guards, make_card


@pytest.fixture
def guards(desk: Desk) -> Guards:
    return Guards(desk)


def shown(guards: Guards, card: str) -> dict[str, Any]:
    return cards_read.show_card(guards.desk.store, guards.desk.call(by=REVIEWER), card)


def test_a_life_of_a_card_is_on_its_chain_in_the_rules_and_on_the_bus(guards: Guards) -> None:
    card = guards.reports(3)["card"]
    key = guards.card(card).project_key
    steps = ["arm", "edit", "demote", "revive", "arm", "archive", "revive", "arm", "reject", "revive"]
    rules = []
    for action in steps:
        guards.act(card, action, f"{STATEMENT} {action}")
        rules.append([rule.statement for rule in guards.desk.store.rules(guards.desk.memory, key)])
    armed, edited = [f"{STATEMENT} arm"], [f"{STATEMENT} edit"]
    assert rules == [armed, edited, [], [], armed, [], [], armed, [], []]
    assert [after for _, after in guards.chain(card)] == [
        "candidate", "armed", "armed", "demoted", "candidate", "armed", "archived", "candidate", "armed", "rejected",
        "candidate",
    ]  # fmt: skip
    told = sorted((event.detail["n"], event.kind) for event in guards.items("OUTBOX"))
    assert told == [
        (1, "RuleReady"), (2, "RuleArmed"), (3, "RuleArmed"), (4, "RuleDemoted"), (6, "RuleArmed"), (9, "RuleArmed"),
    ]  # fmt: skip
    assert STATEMENT not in str([event.detail for event in guards.items("OUTBOX")])
    guards.desk.verify()
    answer = shown(guards, card)
    assert (answer["verified"], answer["audit"][-1]["because"]) == (True, "seen it happen")
    assert answer["next"] == ["arm", "reject", "archive", "edit"]
    assert audit_trail.verify(guards.desk.store, guards.desk.call(), subject=f"card:{card}")["ok"] is True


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "human"])
@pytest.mark.parametrize("action", ACTIONS)
def test_no_machine_decides_about_a_card_with_whatever_scopes(guards: Guards, kind: PrincipalKind, action: str) -> None:
    for scopes in (("admin",), ("read", "write", "review", "apply", "admin")):
        robot = make_principal("robot", *scopes, kind=kind)
        with pytest.raises(PrincipalKindError):
            guards.act("a" * 26, action, STATEMENT, by=robot)


def test_a_person_needs_review_and_a_reason(guards: Guards) -> None:
    card = guards.report()["card"]
    before = guards.desk.snapshot()
    with pytest.raises(ScopeDeniedError):
        guards.act(card, "arm", STATEMENT, by=make_principal("ed", "read", "write", "apply"))
    for because in ("", "  ", "x" * 501):
        call = guards.desk.call(by=REVIEWER)
        with pytest.raises(InvalidInputError) as caught:
            act_on_card(guards.desk.store, call, card, "arm", because, STATEMENT)
        assert caught.value.field == "because"
    assert_unchanged(before, guards.desk.snapshot())


@pytest.mark.parametrize(
    ("card", "action", "statement", "error", "field"),
    [
        ("known", "approve", STATEMENT, InvalidInputError, "action"),
        ("known", "Arm", STATEMENT, InvalidInputError, "action"),
        ("known", "arm", None, InvalidInputError, "statement"),
        ("known", "arm", "  \n ", InvalidInputError, "statement"),
        ("known", "edit", None, InvalidInputError, "statement"),
        ("known", "arm", "x" * 2001, InvalidInputError, "statement"),
        ("known", "demote", None, IllegalTransitionError, None),
        ("known", "revive", None, IllegalTransitionError, None),
        ("zzzz", "arm", STATEMENT, NotFoundError, "id"),
        ("", "arm", STATEMENT, NotFoundError, "id"),
        ("not an id", "arm", STATEMENT, NotFoundError, "id"),
    ],
)
def test_a_refused_action_names_the_field_and_writes_nothing(
    guards: Guards, card: str, action: str, statement: str | None, error: type[LoopError], field: str | None
) -> None:
    known = guards.report()["card"]
    before = guards.desk.snapshot()
    with pytest.raises(error) as caught:
        guards.act(known if card == "known" else card, action, statement)
    assert caught.value.field == field
    assert_unchanged(before, guards.desk.snapshot())


def test_a_card_is_named_by_any_unique_prefix_of_its_id(guards: Guards) -> None:
    guards.desk.plant(make_card(id="ab" + "a" * 24), make_card(id="ab" + "b" * 24))
    with pytest.raises(AmbiguousPrefixError, match="2 cards"):
        guards.act("ab", "reject")
    assert guards.act("ABB", "reject")["status"] == "rejected"


def test_the_same_action_sent_again_is_answered_as_before(guards: Guards) -> None:
    card = guards.report()["card"]
    first = guards.act(card, "arm", STATEMENT, key="k")
    assert guards.act(card, "arm", STATEMENT, key="k") == first
    assert len(guards.chain(card)) == 1
    # What is kept for that holds ids alone: forgetting and editing reach every copy of a text.
    assert STATEMENT not in str(guards.items("REPLAY"))


def test_an_action_that_could_not_be_stored_changed_nothing(guards: Guards) -> None:
    card = guards.report()["card"]
    with FaultLayer(guards.desk.client) as layer:
        layer.arm(throttle(operation="TransactWriteItems", times=None))
        with pytest.raises(LoopError):
            guards.act(card, "arm", STATEMENT, key="k")
        layer.arm(lost_reply(operation="TransactWriteItems"))
        assert guards.act(card, "arm", STATEMENT, key="k")["status"] == "armed"
    assert guards.act(card, "arm", STATEMENT, key="k")["status"] == "armed"
    assert guards.chain(card) == [("", "armed")]
    guards.desk.verify()


def test_of_two_people_who_decide_at_once_one_is_told_to_look_again(guards: Guards) -> None:
    card = guards.report()["card"]
    with Interleaving(guards.desk.client) as people:
        people.actor("ann", lambda: guards.act(card, "arm", STATEMENT))
        people.actor("bob", lambda: guards.act(card, "reject"))
        outcomes = people.run()
    assert sorted(outcome.state for outcome in outcomes.values()) == ["done", "raised"]
    assert len(guards.chain(card)) == 1
    assert len(guards.desk.store.rules(guards.desk.memory, guards.card(card).project_key)) == int(
        guards.card(card).status == "armed"
    )
    guards.desk.verify()


def test_where_settings_cannot_be_read_nobody_overwrites_anything(guards: Guards) -> None:
    card = guards.report()["card"]
    guards.set(decay_days=0)
    before = guards.desk.snapshot()
    with pytest.raises(IntegrityError):
        guards.act(card, "arm", STATEMENT)
    assert_unchanged(before, guards.desk.snapshot())


def test_two_hundred_rules_of_long_statements_are_one_query_and_the_newest_come_first(guards: Guards) -> None:
    key, text = "0" * 32, "x" * 2000
    guards.desk.plant(*(Rule(key, f"{n:026d}", n, text, "c") for n in range(200)))
    with guards.desk.counted() as calls:
        rules = guards.desk.store.rules(guards.desk.memory, key)
    assert (calls, [rule.armed_at for rule in rules]) == (["Query"], list(range(199, -1, -1)))


def test_a_rule_shows_what_was_counted_since_it_was_armed_and_whether_a_person_has_to_judge_it(guards: Guards) -> None:
    rule = guards.armed()
    guards.reports(2)
    guards.count(rule, suppressed=1, samples=3)
    answer = shown(guards, rule.id)
    assert answer["since_armed"] == {"violations": 2, "suppressed": 1, "samples": 3, "ratio": 2 / 3}
    assert answer["undeterminable"] is False
    for action in ("demote", "revive", "arm"):
        guards.act(rule.id, action)
    again = shown(guards, rule.id)
    assert again["since_armed"] == {"violations": 0, "suppressed": 0, "samples": 0, "ratio": None}
    assert (again["violations"], again["suppressed"], again["samples"]) == (2, 1, 3)
    guards.desk.now += 31 * DAY_MS
    assert shown(guards, rule.id)["undeterminable"] is True


def test_forgetting_a_lesson_takes_its_text_out_of_its_card_and_leaves_the_figures(guards: Guards) -> None:
    first = guards.report(detail="ann lives in Berlin", statement="never tell where ann lives")
    guards.report(detail="something else")
    card = first["card"]
    wanted = Wanted(address=first["lesson"])
    assert forget.forget(guards.desk.store, guards.desk.call(), wanted, "asked to")["forgotten"] == 1
    left = guards.card(card)
    assert (left.reports, left.suggestion, left.suggested_by) == (2, None, None)
    [row] = guards.desk.store.card_evidence(guards.desk.memory, card)
    assert row.detail == "something else"
    assert "Berlin" not in str(guards.items())
    assert "Berlin" not in str(guards.desk.grains())
    assert guards.report(statement="look first")["ok"]
    assert guards.card(card).suggestion == "look first"
    assert guards.desk.run()["outcome"] == "ran"
    guards.desk.verify()

"""The table of what may become of a card: every status with every action, and nothing of the engine's arms."""

from __future__ import annotations

from itertools import product

import pytest

from provenloop.domain.errors import IllegalTransitionError, InvalidInputError
from provenloop.lessons.actions import (
    ACTIONS,
    ENGINE_STEPS,
    STEPS,
    Action,
    EngineStep,
    acted_on,
    action_named,
    moved_by_engine,
)
from provenloop.lessons.card import CARD_STATUSES, CardStatus, counters_of
from tests.builders import NOW
from tests.lessons import make_card

LATER = NOW + 1000
#: (status, action) -> status. What is not here is refused.
TABLE: dict[tuple[str, str], str] = {
    ("candidate", "arm"): "armed",
    ("candidate", "reject"): "rejected",
    ("candidate", "archive"): "archived",
    ("armed", "demote"): "demoted",
    ("armed", "archive"): "archived",
    ("armed", "reject"): "rejected",
    ("rejected", "revive"): "candidate",
    ("demoted", "revive"): "candidate",
    ("archived", "revive"): "candidate",
    **{(status, "edit"): status for status in CARD_STATUSES},
}


@pytest.mark.parametrize(("status", "action"), list(product(CARD_STATUSES, ACTIONS)))
def test_an_action_leads_where_the_table_says_or_is_refused(status: CardStatus, action: Action) -> None:
    card = make_card(status=status, statement="look first", rev=4)
    if (status, action) in TABLE:
        after = acted_on(card, action, "look twice", LATER)
        assert (after.status, after.rev, after.changed_at) == (TABLE[status, action], 5, LATER)
    else:
        with pytest.raises(IllegalTransitionError):
            acted_on(card, action, "look twice", LATER)


@pytest.mark.parametrize(
    ("step", "status", "target"),
    [("ready", "candidate", "candidate"), ("return", "rejected", "candidate"), ("demote", "armed", "demoted")],
)
def test_the_engine_takes_three_steps_and_no_other(step: EngineStep, status: CardStatus, target: str) -> None:
    assert moved_by_engine(make_card(status=status), step, LATER).status == target
    for other in set(CARD_STATUSES) - {status}:
        with pytest.raises(IllegalTransitionError):
            moved_by_engine(make_card(status=other), step, LATER)


def test_only_a_persons_arm_leads_to_armed() -> None:
    assert [name for name, step in STEPS.items() if step.target == "armed"] == ["arm"]
    assert [name for name, step in ENGINE_STEPS.items() if step.target == "armed"] == []


@pytest.mark.parametrize(
    ("action", "given_", "stored", "suggested", "wording"),
    [
        ("arm", "mine", "theirs", "guard's", "mine"),
        ("arm", None, "theirs", "guard's", "theirs"),
        ("arm", None, None, "guard's", "guard's"),
        ("arm", None, None, None, None),
        ("edit", "mine", "theirs", None, "mine"),
        ("edit", None, "theirs", "guard's", None),
    ],
)
def test_a_rule_says_what_a_person_gives_or_takes_over(
    action: Action, given_: str | None, stored: str | None, suggested: str | None, wording: str | None
) -> None:
    card = make_card(statement=stored, suggestion=suggested)
    if wording is None:
        with pytest.raises(InvalidInputError) as caught:
            acted_on(card, action, given_, LATER)
        assert caught.value.field == "statement"
    else:
        assert acted_on(card, action, given_, LATER).statement == wording


@pytest.mark.parametrize("action", ["reject", "demote", "archive", "revive"])
def test_no_other_action_reads_a_statement(action: Action) -> None:
    status = next(iter(STEPS[action].sources))
    assert not STEPS[action].reads_statement
    assert acted_on(make_card(status=status, statement="kept"), action, "ignored", LATER).statement == "kept"


@pytest.mark.parametrize(("status", "action"), list(TABLE))
def test_no_action_moves_a_counter_but_rejecting_which_begins_the_count_towards_revival_anew(
    status: CardStatus, action: Action
) -> None:
    card = make_card(status=status, statement="s", reports=9, violations=5, suppressed=2, samples=7, since_rejection=2)
    after = counters_of(acted_on(card, action, "s", LATER))
    expected = dict(counters_of(card))
    if action == "reject":
        expected["since_rejection"] = 0
    assert after == expected


def test_arming_again_counts_from_what_was_counted_before() -> None:
    card = make_card(statement="s", violations=5, suppressed=2, samples=7)
    armed = acted_on(card, "arm", None, LATER)
    assert (armed.violations_before, armed.suppressed_before, armed.samples_before) == (5, 2, 7)
    assert armed.armed_at == LATER


@pytest.mark.parametrize("name", ["", "ARM", "disarm", "arm ", "approve"])
def test_an_unknown_action_is_named(name: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        action_named(name)
    assert caught.value.field == "action"

"""Cards that fold to one key become one: nothing that was counted or shown is lost, and only a person does it."""

from __future__ import annotations

from typing import Any

import pytest

from provenloop.domain.errors import PrincipalKindError
from provenloop.services import forget
from provenloop.services.forget_plan import Wanted
from provenloop.services.migrate_cards import migrate_cards
from tests.builders import Desk, make_principal
from tests.lessons import REVIEWER, STATEMENT, Guards

STEPS: dict[str, list[str]] = {
    "candidate": [], "armed": ["arm"], "rejected": ["reject"], "demoted": ["arm", "demote"], "archived": ["archive"],
}  # fmt: skip
FOLDS = {"deploys": "shipping", "releases": "shipping"}


@pytest.fixture
def guards(desk: Desk) -> Guards:
    return Guards(desk)


def migrate(guards: Guards) -> dict[str, Any]:
    return migrate_cards(guards.desk.store, guards.desk.call(by=REVIEWER), "one lesson")


def bring(guards: Guards, category: str, status: str, reports: int) -> str:
    """A card of a category in a status."""
    card = guards.reports(reports, category=category)["card"]
    for action in STEPS[status]:
        guards.act(card, action, f"{STATEMENT} {category}")
    return str(card)


@pytest.mark.parametrize(
    ("one", "other", "joined"),
    [
        ("candidate", "candidate", "candidate"),
        ("armed", "candidate", "armed"),
        ("candidate", "armed", "armed"),
        ("armed", "armed", "armed"),
        ("rejected", "candidate", "candidate"),
        ("rejected", "archived", "rejected"),
        ("demoted", "rejected", "demoted"),
        ("armed", "rejected", "armed"),
    ],
)
def test_counters_add_evidence_joins_and_an_armed_state_is_carried_over(
    guards: Guards, one: str, other: str, joined: str
) -> None:
    cards = [bring(guards, "deploys", one, 2), bring(guards, "shipping", other, 3)]
    guards.set(folds={**FOLDS, "shipping": "shipping"})
    before = [guards.card(card) for card in cards]
    answer = migrate(guards)
    assert {row["from"] for row in answer["merged"]} == set(cards)
    [target] = {row["into"] for row in answer["merged"]}
    card = guards.card(target)
    assert card.status == joined
    assert (card.reports, card.violations) == (5, sum(each.violations for each in before))
    assert len(guards.desk.store.card_evidence(guards.desk.memory, target)) == 5
    rules = guards.desk.store.rules(guards.desk.memory, card.project_key)
    assert [rule.card for rule in rules] == ([target] if joined == "armed" else [])
    for gone in cards:
        left = guards.card(gone)
        assert (left.status, left.merged_into) == ("archived", target)
        assert guards.chain(gone)[-1][1] == "archived"
        assert guards.desk.store.card_evidence(guards.desk.memory, gone) == ()
    guards.desk.verify()
    assert migrate(guards) == {"merged": [], "left": [], "more": False}


def test_a_card_moves_to_a_key_that_nothing_had_yet_with_all_it_has(guards: Guards) -> None:
    rule = bring(guards, "deploys", "armed", 2)
    guards.reports(2, category="deploys")
    guards.set(folds=FOLDS)
    [merged] = migrate(guards)["merged"]
    card = guards.card(merged["into"])
    assert (merged["from"], card.status, card.reports, card.violations) == (rule, "armed", 4, 2)
    assert (card.category, card.signature, card.statement) == ("shipping", "shipping", f"{STATEMENT} deploys")
    assert guards.report(category="deploys")["violation_of"] == card.id
    assert [event.kind for event in guards.items("OUTBOX")].count("RuleArmed") == 2
    guards.desk.verify()


def test_a_merged_card_can_be_brought_back(guards: Guards) -> None:
    gone = bring(guards, "deploys", "candidate", 1)
    guards.set(folds=FOLDS)
    migrate(guards)
    assert guards.act(gone, "revive")["status"] == "candidate"
    assert guards.card(gone).merged_into is None


def test_forgetting_finds_the_evidence_of_a_lesson_where_it_was_moved(guards: Guards) -> None:
    lesson = guards.report(category="deploys", detail="ann lives in Berlin")["lesson"]
    guards.set(folds=FOLDS)
    migrate(guards)
    forget.forget(guards.desk.store, guards.desk.call(), Wanted(address=lesson), "asked to")
    assert "Berlin" not in str(guards.items())


def test_no_machine_merges_cards_since_an_armed_state_moves_with_them(guards: Guards) -> None:
    robot = make_principal("robot", "admin", kind="agent")
    with pytest.raises(PrincipalKindError):
        migrate_cards(guards.desk.store, guards.desk.call(by=robot), "one lesson")

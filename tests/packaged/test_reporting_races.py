"""Twenty guards report the same at once, in threads: every line counts, one card comes of it, one is told it is ready.

All of them have read before the first writes, so each would be the one who makes the card.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from provenloop.services.report_lesson import report_lesson
from tests.builders import make_principal
from tests.lessons import STATEMENT, Guards, make_line
from tests.packaged.emulator import Emulator
from tests.packaged.racing import act_as_root, at_once, raced_memory

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

REPORTERS = 20


@pytest.fixture
def guards(emulator: Emulator, monkeypatch: pytest.MonkeyPatch) -> Iterator[Guards]:
    """A memory in which nothing was reported yet."""
    act_as_root(emulator, monkeypatch)
    with raced_memory(emulator) as desk:
        yield Guards(desk)


def all_report(guards: Guards) -> list[dict[str, Any]]:
    """What twenty guards are told who report the same line at once."""
    desk = guards.desk
    calls = [desk.call(by=make_principal(f"g{n}", "write", kind="agent")) for n in range(REPORTERS)]
    return at_once(desk, REPORTERS, lambda n: report_lesson(desk.store, calls[n], make_line()))


def require_every_line(guards: Guards, answers: list[dict[str, Any]], before: int = 0) -> None:
    """One card counts all lines, each line has a number of its own, and the card shows as many as it may."""
    store, memory = guards.desk.store, guards.desk.memory
    [card] = store.all_cards(memory)
    assert {answer["card"] for answer in answers} == {card.id}
    assert len({answer["seq"] for answer in answers}) == REPORTERS
    assert card.reports == before + REPORTERS
    assert len(store.lesson_places(memory, None, limit=100)) == before + REPORTERS
    assert len(store.card_evidence(memory, card.id, 100)) >= REPORTERS
    guards.desk.verify()


def test_of_twenty_who_report_first_each_is_counted_and_one_makes_the_card_ready(guards: Guards) -> None:
    answers = all_report(guards)
    require_every_line(guards, answers)
    assert sum(answer["just_ready"] for answer in answers) == 1
    assert [event.kind for event in guards.items("OUTBOX")] == ["RuleReady"]


def test_of_twenty_who_break_a_rule_at_once_each_is_a_violation(guards: Guards) -> None:
    rule = guards.armed(STATEMENT)
    answers = all_report(guards)
    require_every_line(guards, answers, before=1)
    assert {answer["violation_of"] for answer in answers} == {rule.id}
    assert guards.card(rule.id).violations == REPORTERS


def test_of_twenty_who_report_what_was_rejected_one_brings_it_back(guards: Guards) -> None:
    guards.act(guards.report()["card"], "reject")
    answers = all_report(guards)
    require_every_line(guards, answers, before=1)
    assert sum(answer["just_ready"] for answer in answers) == 1
    [card] = guards.desk.store.all_cards(guards.desk.memory)
    assert card.status == "candidate"
    assert [step for step in guards.chain(card.id) if step == ("rejected", "candidate")] == [("rejected", "candidate")]

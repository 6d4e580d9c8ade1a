"""The judgement of rules by the memory's timer: what it demotes and what it leaves, when, and how much at once."""

from __future__ import annotations

import json
from typing import Any

import pytest

from provenloop.domain.records import Due
from provenloop.lessons.card import Card, Rule
from provenloop.services import judge_cards
from provenloop.services.cards_read import show_card
from provenloop.services.judge_cards import TICK_MS
from provenloop.services.lease import LEASE_MS
from tests.builders import DAY_MS, Desk
from tests.faults import Crash, FaultLayer, crash_after, crash_before
from tests.lessons import Guards

BROKEN = {"violations": 3, "suppressed": 2}


@pytest.fixture
def guards(desk: Desk) -> Guards:
    return Guards(desk)


def timer(guards: Guards) -> int | None:
    heads = guards.desk.store.heads(guards.desk.memory)
    assert heads is not None
    return heads.timer.due_at


def judgements(guards: Guards) -> list[Due]:
    return [row for row in guards.items("INDEX") if isinstance(row, Due) and row.what == "judgement"]


def judged(guards: Guards, **counters: int) -> Card:
    """A rule with these counters, once a session was settled and the time of judgement has come."""
    rule = guards.armed()
    guards.count(rule, **counters)
    guards.start("other", "elsewhere-with-no-rules")
    guards.start("s1")
    guards.end("s1")
    [due] = judgements(guards)
    guards.desk.run(at=due.due_at)
    return guards.card(rule.id)


@pytest.mark.parametrize(
    ("settings", "violations", "suppressed", "is_demoted"),
    [
        # Followed once at least.
        ({}, 5, 0, False),
        ({}, 5, 1, True),
        # Broken three times.
        ({"demote_ratio": 0.05}, 2, 3, False),
        ({"demote_ratio": 0.05}, 3, 2, True),
        ({"demote_ratio": 0.05}, 4, 1, True),
        # It fired five times.
        ({}, 3, 1, False),
        ({}, 3, 2, True),
        ({}, 4, 2, True),
        # Broken in half of the cases.
        ({}, 4, 5, False),
        ({}, 4, 4, True),
        ({}, 5, 4, True),
    ],
)
def test_a_rule_is_demoted_when_all_four_conditions_hold(
    guards: Guards, settings: dict[str, Any], violations: int, suppressed: int, *, is_demoted: bool
) -> None:
    guards.set(**settings)
    card = judged(guards, violations=violations, suppressed=suppressed)
    assert card.status == ("demoted" if is_demoted else "armed")


def test_the_machine_demotes_with_an_entry_an_event_and_the_rule_gone_in_one_step(guards: Guards) -> None:
    card = judged(guards, **BROKEN)
    assert guards.chain(card.id)[-1] == ("armed", "demoted")
    last = list(guards.desk.store.audit_entries(guards.desk.memory, card.chain))[-1]
    body = json.loads(last.text)
    assert body["by"]["id"] == "engine:lessons"
    assert (body["effects"]["violations"], body["effects"]["suppressed"]) == (3, 2)
    [event] = [row for row in guards.items("OUTBOX") if row.kind == "RuleDemoted"]
    assert (event.id, event.detail["card"], event.detail["violations"]) == (last.id, card.id, 3)
    assert not [row for row in guards.items() if isinstance(row, Rule)]
    assert guards.start("later")["block"] is None
    guards.desk.verify()


@pytest.mark.parametrize(("interval", "grid"), [(86_400_000, 86_400_000), (1000, TICK_MS), (TICK_MS + 1, TICK_MS + 1)])
def test_judgement_comes_at_the_set_interval_and_not_more_often_than_the_tick(
    guards: Guards, interval: int, grid: int
) -> None:
    guards.set(decay_interval_ms=interval)
    rule = guards.armed()
    guards.start()
    guards.end()
    guards.count(rule, **BROKEN)
    due = (guards.desk.now // grid + 1) * grid
    assert [row.due_at for row in judgements(guards)] == [due]
    assert (timer(guards) or 0) <= due
    guards.desk.run(at=due - 2)
    assert guards.card(rule.id).status == "armed"
    guards.desk.run(at=due, min_new=1000)
    assert guards.card(rule.id).status == "demoted"


def test_judgement_goes_on_as_long_as_there_are_rules(guards: Guards) -> None:
    rule = guards.armed()
    guards.start()
    guards.end()
    for _ in range(2):
        [due] = judgements(guards)
        guards.desk.run(at=due.due_at)
        assert [row.due_at for row in judgements(guards)] == [due.due_at + DAY_MS]
    guards.act(rule.id, "archive")
    [due] = judgements(guards)
    guards.desk.run(at=due.due_at)
    assert judgements(guards) == []


def test_many_rules_are_judged_in_stretches(guards: Guards, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge_cards, "MAX_JUDGED", 2)
    rules = [guards.armed(category=f"c{n}", project=f"p{n % 2}") for n in range(5)]
    for rule in rules:
        guards.count(rule, **BROKEN)
    guards.start("s1", "p0")
    guards.end("s1")
    [due] = judgements(guards)
    demoted = []
    for _ in range(4):
        guards.desk.run(at=max(due.due_at, guards.desk.now), min_new=1000)
        demoted.append(sum(guards.card(rule.id).status == "demoted" for rule in rules))
    assert demoted == [2, 4, 5, 5]


def test_nothing_is_demoted_while_lessons_are_off_or_settings_cannot_be_read(guards: Guards) -> None:
    rule = guards.armed()
    guards.start()
    guards.end()
    guards.count(rule, **BROKEN)
    for settings in ({"enabled": False}, {"promote_threshold": 0}):
        guards.set(**settings)
        [due] = judgements(guards)
        guards.desk.run(at=due.due_at)
        assert guards.card(rule.id).status == "armed"
    guards.set()
    [due] = judgements(guards)
    guards.desk.run(at=due.due_at)
    assert guards.card(rule.id).status == "demoted"


def test_one_that_nobody_was_seen_to_follow_stays_armed_and_is_shown_to_a_person(guards: Guards) -> None:
    card = judged(guards, violations=9)
    assert card.status == "armed"
    shown = show_card(guards.desk.store, guards.desk.call(), card.id)
    assert (shown["undeterminable"], shown["status"]) == (True, "armed")
    guards.start("s2")
    guards.passes("s2")
    guards.end("s2")
    assert show_card(guards.desk.store, guards.desk.call(), card.id)["undeterminable"] is False


def test_a_judgement_rests_on_what_is_counted_when_it_is_written(guards: Guards) -> None:
    rule = guards.armed()
    guards.start()
    guards.end()
    guards.count(rule, **BROKEN)
    [due] = judgements(guards)
    real = guards.desk.store.cards

    def cards(*arguments: Any) -> Any:
        found = real(*arguments)
        guards.count(rule, suppressed=9)
        return found

    guards.desk.store.cards = cards  # type: ignore[method-assign,assignment]
    guards.desk.run(at=due.due_at)
    assert guards.card(rule.id).status == "armed"


@pytest.mark.parametrize("make", [crash_before, crash_after])
def test_a_pass_that_dies_while_it_demotes_demotes_once(guards: Guards, make: Any) -> None:
    rule = guards.armed()
    guards.start()
    guards.end()
    guards.count(rule, **BROKEN)
    [due] = judgements(guards)
    with FaultLayer(guards.desk.client) as layer:
        # Lease, then the demotion.
        layer.arm(make(operation="TransactWriteItems", nth=2))
        with pytest.raises(Crash):
            guards.desk.run(at=due.due_at)
    guards.desk.run(at=due.due_at + LEASE_MS + 1)
    assert guards.chain(rule.id).count(("armed", "demoted")) == 1
    assert guards.card(rule.id).status == "demoted"
    guards.desk.verify()

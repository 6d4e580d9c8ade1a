"""Sessions: what is put before an agent, what is counted of it, and that nothing is counted twice."""

from __future__ import annotations

from collections import Counter as Tallies
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings

from provenloop.adapters.dynamodb.store import DynamoStore
from provenloop.domain.address import Addresses
from provenloop.domain.errors import (
    IllegalTransitionError,
    InvalidInputError,
    LoopError,
    NotFoundError,
    ScopeDeniedError,
)
from provenloop.domain.injected import RULES_TITLE
from provenloop.domain.records import Due
from provenloop.lessons.block import SECTION
from provenloop.lessons.card import Rule, project_key
from provenloop.lessons.session import SESSION_KEPT_MS, Session, SessionRules
from provenloop.services import settle_session
from provenloop.services.migrate_cards import migrate_cards
from provenloop.services.start_session import start_session
from tests.builders import DAY_MS, Desk, make_free_event, make_principal
from tests.examples import examples
from tests.faults import Crash, Fault, FaultLayer, Interleaving, assert_unchanged, single_faults
from tests.faults.schedules import schedules
from tests.lessons import GUARD, REVIEWER, Guards, make_card
from tests.scenario.world import quietly
from tests.store_fixture import fresh_store

READS = {"Query", "GetItem", "BatchGetItem"}


@pytest.fixture
def guards(desk: Desk) -> Guards:
    return Guards(desk)


def rules_of(block: str) -> list[str]:
    """The statements of a block, each in one line."""
    return [line.removeprefix("- ") for line in block.split("\n") if line.startswith("- ")]


def arm(guards: Guards, *names: str, project: str = "shop") -> list[str]:
    """Rules of these names, armed in this order; their ids."""
    return [guards.armed(f"Mind {name}.", category=name, project=project).id for name in names]


def cards_in_force(guards: Guards, count: int, *, rules_only: bool = False) -> list[str]:
    """Armed cards with their rules, planted; their ids, newest first."""
    heads = guards.desk.store.heads(guards.desk.memory)
    assert heads is not None
    key = project_key(Addresses(heads.log.key), "shop")
    letters = "abcdefghijklmnopqrstuvwxyz234567"
    ids = ["a" * 22 + "".join(letters[n // 32**place % 32] for place in (3, 2, 1, 0)) for n in range(count)]
    at = guards.desk.now
    cards = [
        make_card(id=name, project_key=key, status="armed", statement="Look.", armed_at=at + n, signature=name)
        for n, name in enumerate(ids)
    ]
    guards.desk.plant(
        *(() if rules_only else cards),
        *(Rule(key, card.id, card.armed_at or 0, "Look.", "migrations") for card in cards),
    )
    return ids[::-1]


# start


def test_a_session_gets_the_section_and_the_rules_of_its_project_newest_first(guards: Guards) -> None:
    first, second = arm(guards, "locks", "moves")
    arm(guards, "ports", project="harbour")
    guards.report(category="candidates")
    started = guards.start()
    assert started["section"] == SECTION
    assert started["block"].split("\n")[0] == RULES_TITLE == "[lesson-loop] Experience rules for this project"
    assert rules_of(started["block"]) == ["Mind moves.", "Mind locks."]
    assert (started["rules"], started["left_out"], started["resumed"]) == ([second, first], 0, False)


def test_a_project_without_rules_has_the_section_alone(guards: Guards) -> None:
    started = guards.start()
    assert (started["section"], started["block"], started["rules"]) == (SECTION, None, [])


@pytest.mark.parametrize(
    ("chosen", "section", "rules"),
    [
        ({}, True, 3),
        ({"max_injected_rules": 0}, True, 3),
        ({"max_injected_rules": 2}, True, 2),
        ({"inject_enabled": False}, True, 0),
        ({"section_enabled": False}, False, 3),
        ({"report_enabled": False}, True, 3),
        ({"enabled": False}, False, 0),
    ],
)
def test_what_is_shown_follows_the_settings(guards: Guards, chosen: dict[str, Any], section: bool, rules: int) -> None:
    ids = arm(guards, "a", "b", "c")
    guards.set(**chosen)
    started = guards.start()
    assert (started["section"] is not None, started["rules"]) == (section, ids[::-1][:rules])
    assert (started["block"] is not None) == bool(rules)


def test_where_settings_cannot_be_read_nothing_is_shown_and_nothing_stored(guards: Guards) -> None:
    arm(guards, "a")
    guards.set(promote_threshold=0)
    before = guards.desk.snapshot()
    assert guards.start()["block"] is None
    assert_unchanged(before, guards.desk.snapshot())


def test_a_subagent_gets_nothing_and_is_no_exposure(guards: Guards) -> None:
    [rule] = arm(guards, "a")
    guards.start("main")
    for _ in range(2):
        started = guards.start("helper", parent="main")
        assert (started["section"], started["block"], started["rules"]) == (None, None, [])
    assert guards.start("helper")["block"] is None
    assert guards.end("helper")["samples"] == 0
    assert guards.counts(rule) == (0, 0, 0)


def test_starting_is_three_reads_and_one_transaction_and_resuming_three_reads(guards: Guards) -> None:
    arm(guards, "a", "b")
    with guards.desk.counted() as calls:
        guards.start()
    assert Tallies(calls) == {"Query": 3, "TransactWriteItems": 1}
    with guards.desk.counted() as calls:
        guards.start()
    assert Tallies(calls) == {"Query": 3}


def test_a_resume_shows_the_same_rules_as_they_are_worded_now(guards: Guards) -> None:
    old, gone = arm(guards, "old", "gone")
    guards.start()
    arm(guards, "new")
    guards.act(old, "edit", "Mind the old, always.")
    guards.act(gone, "demote")
    resumed = guards.start()
    assert (resumed["resumed"], resumed["rules"]) == (True, [old])
    assert rules_of(resumed["block"]) == ["Mind the old, always."]
    assert guards.end()["samples"] == 2
    assert guards.start()["rules"] == [old]
    assert guards.end() == {"ok": True, "suppressed": 0, "samples": 2, "repeated": True}
    assert guards.counts(old) == (0, 0, 1)


def test_a_session_belongs_to_one_project(guards: Guards) -> None:
    guards.start("s1", "shop")
    with pytest.raises(InvalidInputError) as caught:
        guards.start("s1", "harbour")
    assert caught.value.field == "project"


def test_a_thousand_rules_are_shown_and_their_ids_kept(guards: Guards) -> None:
    guards.set(max_injected_rules=1000)
    ids = cards_in_force(guards, 1001, rules_only=True)
    assert guards.start()["rules"] == ids[:1000]
    rows = [row for row in guards.items() if isinstance(row, SessionRules)]
    assert [len(row.cards) for row in rows] == [450, 450, 100]
    assert guards.start()["rules"] == ids[:1000]


def test_an_end_counts_45_rules_in_a_transaction(guards: Guards) -> None:
    ids = cards_in_force(guards, 46)
    guards.start()
    with FaultLayer(guards.desk.client) as layer:
        calls = layer.count(guards.end)
    written = [call for call in calls if call.operation == "TransactWriteItems"]
    # The session is over; 45 cards with the session; the last card with the session and what is due.
    assert len(written) == 3
    assert [guards.counts(card)[2] for card in (ids[0], ids[44], ids[45])] == [1, 1, 1]


@pytest.mark.parametrize(
    ("session", "project", "field"),
    [(" ", "shop", "id"), ("x" * 513, "shop", "id"), ("s1", "\t ", "project"), ("s1", "p" * 513, "project")],
)
def test_a_wrong_field_is_named_and_nothing_is_stored(guards: Guards, session: str, project: str, field: str) -> None:
    before = guards.desk.snapshot()
    with pytest.raises(InvalidInputError) as caught:
        guards.start(session, project)
    assert caught.value.field == field
    assert_unchanged(before, guards.desk.snapshot())


def test_sessions_need_write_and_a_memory(guards: Guards, store: DynamoStore) -> None:
    with pytest.raises(ScopeDeniedError):
        start_session(store, guards.desk.call(by=make_principal("eve", "read", "review")), "s1", "shop")
    elsewhere = Desk(store, memory=guards.desk.memory._replace(name="nowhere"))
    with pytest.raises(NotFoundError):
        start_session(store, elsewhere.call(by=GUARD), "s1", "shop")


def test_the_block_that_comes_back_as_an_event_is_ignored(guards: Guards) -> None:
    arm(guards, "a")
    block = guards.start()["block"]
    assert guards.desk.statuses(make_free_event({"messages": [block]}), make_free_event(SECTION)) == ["ignored"] * 2


# passes and ends


@pytest.mark.parametrize(
    ("followed", "broken", "counts"),
    [
        (0, 0, (0, 0, 1)),
        (1, 0, (0, 1, 1)),
        (3, 0, (0, 1, 1)),
        (0, 1, (1, 0, 0)),
        (0, 3, (3, 0, 0)),
        (1, 1, (1, 1, 0)),
    ],
)
def test_what_a_session_counts_of_a_rule(
    guards: Guards, followed: int, broken: int, counts: tuple[int, int, int]
) -> None:
    rule = guards.armed().id
    guards.start()
    for _ in range(followed):
        assert guards.passes() == {"ok": True, "pass_of": rule}
    for _ in range(broken):
        guards.report(session="s1")
    assert guards.counts(rule)[1:] == (0, 0)
    answer = guards.end()
    assert guards.counts(rule) == counts
    assert answer == {"ok": True, "suppressed": counts[1], "samples": counts[2], "repeated": False}
    assert guards.end() == {**answer, "repeated": True}
    assert guards.counts(rule) == counts


@pytest.mark.parametrize("evidence", [{"needs_user_confirmation": True}, {}])
def test_only_a_violation_of_this_session_takes_the_sample_away(guards: Guards, evidence: dict[str, Any]) -> None:
    rule = guards.armed().id
    guards.start()
    guards.report(session="s1" if evidence else "another", evidence=evidence)
    guards.report(session="s1", kind="gate_not_run")
    guards.end()
    assert guards.counts(rule)[2] == 1


def merged(guards: Guards, *names: str) -> str:
    """The id of the card that rules of these categories are merged into by a person."""
    guards.set(folds=dict.fromkeys(names, "one-lesson"))
    answer = migrate_cards(guards.desk.store, guards.desk.call(by=REVIEWER), "one lesson")
    [target] = {row["into"] for row in answer["merged"]}
    return str(target)


@pytest.mark.parametrize(
    ("before", "after", "counts"),
    [("", "", (0, 0, 1)), ("a", "", (1, 0, 0)), ("b", "", (1, 0, 0)), ("", "a", (1, 0, 0)), ("a", "b", (2, 0, 0))],
)
def test_rules_that_become_one_while_they_are_there_count_as_one(
    guards: Guards, before: str, after: str, counts: tuple[int, int, int]
) -> None:
    arm(guards, "a", "b")
    guards.start()
    if before:
        guards.report(session="s1", category=before)
    rule = merged(guards, "a", "b")
    if after:
        guards.report(session="s1", category=after)
    guards.end()
    assert guards.counts(rule) == counts


@pytest.mark.parametrize("calls", range(14))
def test_rules_that_become_one_while_their_session_is_settled_count_it_once(
    guards: Guards, calls: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are settled in two transactions; the merging comes after so many calls of that."""
    monkeypatch.setattr(settle_session, "SETTLED_AT_ONCE", 1)
    arm(guards, "a", "b")
    guards.start()
    for name in ("a", "b"):
        guards.passes(category=name)
    found: list[str] = []
    with Interleaving(guards.desk.client, schedule=[0] * calls + [1] * 60 + [0] * 90) as race:
        race.actor("agent", guards.end)
        race.actor("reviewer", lambda: found.append(merged(guards, "a", "b")))
        race.run()["agent"].result()
    assert guards.counts(found[0])[1:] == (1, 1)
    guards.desk.verify()


def test_a_resume_shows_the_rule_that_others_became(guards: Guards) -> None:
    arm(guards, "a", "b")
    assert len(guards.start()["rules"]) == 2
    rule = merged(guards, "a", "b")
    assert guards.start()["rules"] == [rule]


def test_two_sessions_count_twice_and_a_rule_armed_meanwhile_is_none_of_the_first(guards: Guards) -> None:
    [rule] = arm(guards, "a")
    guards.start("s1")
    [later] = arm(guards, "b")
    guards.start("s2")
    for name in ("s1", "s2", "s1"):
        guards.end(name)
    assert guards.counts(rule) == (0, 0, 2)
    assert guards.counts(later) == (0, 0, 1)


def test_a_rule_that_was_not_shown_can_be_followed(guards: Guards) -> None:
    guards.start()
    rule = guards.armed().id
    guards.passes()
    guards.end()
    assert guards.counts(rule) == (0, 1, 0)
    assert guards.card(rule).clean_at is not None


def test_a_pass_of_no_card_is_told_and_kept_nowhere(guards: Guards) -> None:
    guards.start()
    before = guards.desk.snapshot()
    assert guards.passes(category="unknown") == {"ok": True, "pass_of": None}
    assert_unchanged(before, guards.desk.snapshot())


def test_passes_end_with_the_session(guards: Guards) -> None:
    guards.armed()
    with pytest.raises(NotFoundError):
        guards.passes()
    with pytest.raises(NotFoundError):
        guards.end()
    guards.start()
    guards.end()
    with pytest.raises(IllegalTransitionError):
        guards.passes()


@pytest.mark.parametrize("name", ["project", "category", "signature", "session"])
def test_a_wrong_field_of_a_pass_is_named(guards: Guards, name: str) -> None:
    guards.start()
    with pytest.raises(InvalidInputError) as caught:
        guards.passes(**{name: " "})
    assert caught.value.field == name


@pytest.mark.parametrize("off", ["enabled", "report_enabled"])
def test_where_it_is_switched_off_passes_and_ends_say_so(guards: Guards, off: str) -> None:
    rule = guards.armed().id
    guards.start()
    guards.set(**{off: False})
    assert guards.passes() == {"ok": False, "reason": "disabled"}
    assert guards.end()["ok"] == (off == "report_enabled")
    assert guards.counts(rule) == (0, 0, int(off == "report_enabled"))


# sessions that nobody ends


@pytest.mark.parametrize(
    ("broken", "followed", "counts"),
    [
        ([], [], {"a": (0, 0, 1), "b": (0, 0, 1)}),
        (["a"], [], {"a": (1, 0, 0), "b": (0, 0, 0)}),
        ([], ["b"], {"a": (0, 0, 1), "b": (0, 1, 1)}),
    ],
)
def test_a_session_without_an_end_is_settled_after_a_day_as_a_sample_only_when_nothing_was_broken(
    guards: Guards, broken: list[str], followed: list[str], counts: dict[str, tuple[int, int, int]]
) -> None:
    rules = dict(zip("ab", arm(guards, "a", "b"), strict=True))
    started_at = guards.desk.now + 1
    guards.start()
    for name in broken:
        guards.report(category=name, session="s1")
    for name in followed:
        guards.passes(category=name)
    guards.desk.run(at=started_at + DAY_MS - 2)
    assert {guards.counts(rule)[2] for rule in rules.values()} == {0}
    heads = guards.desk.store.heads(guards.desk.memory)
    assert heads is not None
    assert heads.timer.due_at == started_at + DAY_MS
    guards.desk.run(at=started_at + DAY_MS, min_new=1000)
    assert {name: guards.counts(rule) for name, rule in rules.items()} == counts
    guards.end()
    guards.desk.run(at=started_at + 2 * DAY_MS)
    assert {name: guards.counts(rule) for name, rule in rules.items()} == counts


def test_a_session_that_is_over_while_lessons_are_off_counts_nothing(guards: Guards) -> None:
    rule = guards.armed().id
    guards.start()
    guards.set(enabled=False)
    guards.desk.run(at=guards.desk.now + DAY_MS + 1)
    guards.set()
    guards.end()
    assert guards.counts(rule) == (0, 0, 0)


def test_a_session_waits_while_settings_cannot_be_read(guards: Guards) -> None:
    rule = guards.armed().id
    guards.start()
    guards.set(promote_threshold=0)
    guards.desk.run(at=guards.desk.now + DAY_MS + 1)
    guards.set()
    guards.desk.run(at=guards.desk.now + DAY_MS + 1)
    assert guards.counts(rule) == (0, 0, 1)


def test_an_ended_session_is_due_no_more_and_goes_in_the_end(guards: Guards) -> None:
    guards.armed()
    guards.start()
    guards.end()
    due = [row for row in guards.items("INDEX") if isinstance(row, Due)]
    assert [row.what for row in due] == ["judgement"]
    [session] = [row for row in guards.items() if isinstance(row, Session)]
    assert guards.desk.store.session(guards.desk.memory, session.key, guards.desk.now + SESSION_KEPT_MS + 1000) is None


# crashes


@settings(max_examples=examples(6))
@given(schedules(4, 24))
def test_of_ends_and_passes_at_once_a_session_counts_once(schedule: list[int]) -> None:
    with fresh_store() as store:
        guards = Guards(Desk(store).open())
        rule = guards.armed().id
        guards.start()
        deeds = {"pass": guards.passes, "end": guards.end, "again": guards.end, "start": guards.start}
        with Interleaving(guards.desk.client, schedule=schedule) as actors:
            for name, deed in deeds.items():
                actors.actor(name, quietly(deed))
            told = {name: outcome.result() for name, outcome in actors.run().items()}
        followed = isinstance(told["pass"], dict)
        answer = guards.end()
        assert (answer["suppressed"], answer["samples"]) == (int(followed), 1)
        assert guards.counts(rule) == (0, int(followed), 1)


def test_whatever_fails_at_whichever_call_of_an_end_every_rule_counts_once(
    guards: Guards, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settle_session, "SETTLED_AT_ONCE", 2)
    ids = cards_in_force(guards, 3)
    guards.start()
    for number, fault in enumerate(_faults_of_an_end(guards)):
        name = f"try {number}"
        guards.start(name)
        with FaultLayer(guards.desk.client) as layer:
            layer.arm(fault)
            with suppress(LoopError, Crash):
                guards.end(name)
        assert guards.end(name)["samples"] == 3, fault
        assert {guards.counts(card)[2] for card in ids} == {number + 2}, fault


def _faults_of_an_end(guards: Guards) -> list[Fault]:
    """Every fault at every write: at the reads between them it comes to the same."""
    with FaultLayer(guards.desk.client) as layer:
        calls = layer.count(guards.end)
    return [fault for fault in single_faults(calls) if calls[fault.nth - 1].writes]

"""Reports of guards: what a line becomes, what the card it merges into counts, and what each reporter is told."""

from __future__ import annotations

from collections import Counter as Tallies
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from provenloop.adapters.dynamodb.store import DynamoStore
from provenloop.domain.errors import (
    IdempotencyMismatchError,
    InvalidInputError,
    NotFoundError,
    ScopeDeniedError,
    TooLargeError,
)
from provenloop.lessons.card import CardEvidence, LessonPlace
from provenloop.lessons.line import MAX_DETAIL_BYTES
from provenloop.services.report_lesson import report_lesson
from tests.builders import Desk, make_principal
from tests.examples import examples
from tests.faults import FaultLayer, Interleaving, assert_unchanged, conflict, lost_reply, throttle
from tests.faults.schedules import schedules
from tests.lessons import GUARD, STATEMENT, Guards, make_line
from tests.store_fixture import fresh_store


@pytest.fixture
def guards(desk: Desk) -> Guards:
    return Guards(desk)


def test_a_report_is_one_number_one_transaction_and_a_read_of_settings_and_card(guards: Guards) -> None:
    for _ in range(2):
        with guards.desk.counted() as calls:
            guards.report()
        assert Tallies(calls) == {"UpdateItem": 1, "TransactWriteItems": 1, "GetItem": 2}


def test_the_line_is_kept_whole_and_its_card_keeps_a_short_form(guards: Guards) -> None:
    answer = guards.report(detail="x" * 5000, session="s1", evidence={"target": "src/a.py"})
    grain = guards.desk.grains()[answer["lesson"]]
    assert (grain.kind, grain.seq, grain.body["detail"], grain.body["session"]) == ("event", 1, "x" * 5000, "s1")
    [row] = guards.desk.store.card_evidence(guards.desk.memory, answer["card"])
    assert (len(row.detail), row.detail[-1], row.target, row.session, row.seq) == (2000, "…", "src/a.py", "s1", 1)
    [entry] = guards.desk.store.log_entries(guards.desk.memory, 0, 1)
    assert [(change.op, change.address) for change in entry.changes] == [("add", answer["lesson"])]


def test_equal_reports_merge_into_one_card_and_other_keys_into_others(guards: Guards) -> None:
    same = {guards.report(**more)["card"] for more in ({}, {"detail": "again"}, {"category": " MIGRATIONS "})}
    others = {guards.report(**{name: "other"})["card"] for name in ("project", "category", "signature")}
    assert len(same) == 1
    assert len(same | others) == 4
    assert guards.card(same.pop()).reports == 3


def test_a_general_lesson_is_one_card_whatever_file_was_touched(guards: Guards) -> None:
    paths = ["/srv/shop/.env", "/etc/shadow", "keys/id_rsa"]
    cards = {guards.report(category="edit-before-secret-path", signature=path)["card"] for path in paths}
    [card] = cards
    rows = guards.desk.store.card_evidence(guards.desk.memory, card)
    assert [row.signature for row in rows] == paths[::-1]
    assert guards.card(card).signature == "edit-before-secret-path"


def test_a_card_is_ready_at_the_threshold_and_just_once(guards: Guards) -> None:
    answers = [guards.report() for _ in range(5)]
    assert [answer["ready"] for answer in answers] == [False, False, True, True, True]
    assert [answer["just_ready"] for answer in answers] == [False, False, True, False, False]
    assert all(answer["candidate"] and answer["violation_of"] is None for answer in answers)
    assert guards.chain(answers[0]["card"]) == [("", "candidate")]
    [event] = guards.items("OUTBOX")
    assert (event.kind, event.detail["card"], event.detail["reports"]) == ("RuleReady", answers[0]["card"], 3)
    guards.desk.verify()


@pytest.mark.parametrize("threshold", [1, 2, 4])
def test_the_threshold_is_the_one_that_is_set(guards: Guards, threshold: int) -> None:
    guards.set(promote_threshold=threshold)
    assert [guards.report()["just_ready"] for _ in range(threshold + 1)] == [*[False] * (threshold - 1), True, False]
    guards.desk.verify()


@pytest.mark.parametrize(
    ("more", "counted", "violations", "rows"),
    [
        ({}, "violation", 1, 2),
        ({"evidence": {"needs_user_confirmation": True}}, "report", 0, 2),
        ({"kind": "gate_not_run"}, "environment", 0, 1),
    ],
)
def test_a_report_on_a_rule_is_a_violation_but_for_two_exceptions(
    guards: Guards, more: dict[str, Any], counted: str, violations: int, rows: int
) -> None:
    rule = guards.armed()
    answer = guards.report(**more)
    assert answer["violation_of"] == (rule.id if counted == "violation" else None)
    assert guards.desk.grains()[answer["lesson"]].body["lesson"]["counted"] == counted
    assert guards.card(rule.id).violations == violations
    assert len(guards.desk.store.card_evidence(guards.desk.memory, rule.id)) == rows


def test_a_gate_that_did_not_run_is_in_the_stream_and_makes_no_card(guards: Guards) -> None:
    answers = [guards.report(kind="gate_not_run") for _ in range(4)]
    assert [(a["ok"], a["card"], a["candidate"], a["ready"]) for a in answers] == [(True, None, False, False)] * 4
    assert {type(item) for item in guards.items()} == {LessonPlace}


def test_a_rejected_card_comes_back_after_as_many_reports_as_are_set(guards: Guards) -> None:
    card = guards.reports(3)["card"]
    for _ in range(2):
        guards.act(card, "reject")
        answers = [guards.report() for _ in range(3)]
        assert [answer["candidate"] for answer in answers] == [False, False, True]
        assert [answer["just_ready"] for answer in answers] == [False, False, True]
    assert guards.chain(card)[-2:] == [("candidate", "rejected"), ("rejected", "candidate")]
    assert [event.kind for event in guards.items("OUTBOX")] == ["RuleReady"] * 3
    assert guards.card(card).reports == 9
    guards.desk.verify()


@pytest.mark.parametrize("action", ["demote", "archive"])
def test_a_demoted_or_archived_card_is_counted_and_stays(guards: Guards, action: str) -> None:
    rule = guards.armed()
    guards.act(rule.id, action)
    answer = guards.reports(6)
    assert (answer["violation_of"], answer["candidate"], answer["ready"]) == (None, False, False)
    assert guards.card(rule.id).reports == 7


def test_a_card_keeps_the_first_statement_a_report_brings_and_no_other(guards: Guards) -> None:
    card = guards.report()["card"]
    guards.report(statement="look first")
    guards.report(statement="look twice")
    stored = guards.card(card)
    assert (stored.statement, stored.suggestion) == (None, "look first")
    guards.act(card, "arm")
    assert guards.card(card).statement == "look first"


def test_a_card_shows_the_newest_20_lines_and_drops_older_ones_while_the_stream_keeps_all(guards: Guards) -> None:
    card = guards.reports(31)["card"]
    rows = [item for item in guards.items() if isinstance(item, CardEvidence)]
    shown = guards.desk.store.card_evidence(guards.desk.memory, card, 20)
    assert [row.seq for row in shown] == list(range(31, 11, -1))
    assert 20 <= len(rows) < 31
    assert len(guards.desk.store.lesson_places(guards.desk.memory, None, limit=100)) == 31


@pytest.mark.parametrize("off", ["enabled", "report_enabled"])
def test_where_it_is_switched_off_a_report_says_so_and_writes_nothing(guards: Guards, off: str) -> None:
    guards.set(**{off: False})
    before = guards.desk.snapshot()
    assert guards.report() == {"ok": False, "reason": "disabled"}
    assert_unchanged(before, guards.desk.snapshot())


def test_where_settings_cannot_be_read_nothing_is_written(guards: Guards) -> None:
    guards.set(promote_threshold=0)
    before = guards.desk.snapshot()
    assert guards.report() == {"ok": False, "reason": "error"}
    assert_unchanged(before, guards.desk.snapshot())


def test_over_the_fuse_new_lines_are_refused_and_old_ones_stay(guards: Guards) -> None:
    guards.set(max_lessons_bytes=2000)
    first = guards.report(detail="a" * 1500)
    before = guards.desk.snapshot()
    for _ in range(2):
        with pytest.raises(TooLargeError) as caught:
            guards.report(detail="b" * 600)
        assert caught.value.field == "detail"
    assert_unchanged(before, guards.desk.snapshot())
    assert guards.report(detail="c" * 100)["ok"]
    assert guards.desk.grains()[first["lesson"]].body["detail"] == "a" * 1500


def test_the_same_request_sent_again_is_one_line_and_the_same_answer(guards: Guards) -> None:
    guards.reports(2)
    first = guards.report(key="k")
    bytes_before = guards.desk.store.lesson_totals(guards.desk.memory)
    assert first["just_ready"] is True
    assert guards.report(key="k") == first
    assert guards.card(first["card"]).reports == 3
    assert guards.desk.store.lesson_totals(guards.desk.memory) == bytes_before
    with pytest.raises(IdempotencyMismatchError):
        guards.report(key="k", detail="something else")
    with pytest.raises(IdempotencyMismatchError):
        guards.report(key="k", project="elsewhere")
    assert guards.report(detail="fine")["ok"]
    assert guards.desk.run()["outcome"] == "ran"


@pytest.mark.parametrize(
    ("more", "error", "field"),
    [
        ({"project": " "}, InvalidInputError, "project"),
        ({"category": ""}, InvalidInputError, "category"),
        ({"signature": "\t"}, InvalidInputError, "signature"),
        ({"detail": "x" * (MAX_DETAIL_BYTES + 1)}, TooLargeError, "detail"),
    ],
)
def test_a_refused_report_writes_nothing_and_names_the_field(
    guards: Guards, more: dict[str, str], error: type[Exception], field: str
) -> None:
    before = guards.desk.snapshot()
    with pytest.raises(error) as caught:
        guards.report(**more)
    assert getattr(caught.value, "field", None) == field
    assert_unchanged(before, guards.desk.snapshot())


def test_reporting_needs_write_and_a_memory(guards: Guards, store: DynamoStore) -> None:
    with pytest.raises(ScopeDeniedError):
        report_lesson(store, guards.desk.call(by=make_principal("eve", "read", "review")), make_line())
    elsewhere = Desk(store, memory=guards.desk.memory._replace(name="nowhere"))
    with pytest.raises(NotFoundError):
        report_lesson(store, elsewhere.call(by=GUARD), make_line())


def test_a_report_that_could_not_be_saved_says_so_and_can_be_sent_again(guards: Guards) -> None:
    for fault in (
        throttle(operation="TransactWriteItems", times=None),
        conflict(operation="TransactWriteItems", times=None),
        throttle(operation="UpdateItem", times=None),
    ):
        with FaultLayer(guards.desk.client) as layer:
            layer.arm(fault)
            assert guards.report(key="k") == {"ok": False, "reason": "rules_not_persisted"}
    assert guards.report(key="k")["ok"]
    assert [card.reports for card in guards.desk.store.all_cards(guards.desk.memory)] == [1]


def test_a_report_whose_reply_was_lost_counts_once(guards: Guards) -> None:
    with FaultLayer(guards.desk.client) as layer:
        layer.arm(lost_reply(operation="TransactWriteItems"))
        guards.report(key="k")
    answer = guards.report(key="k")
    assert (answer["ok"], guards.card(answer["card"]).reports) == (True, 1)


def test_twenty_reporters_in_step_lose_nothing_and_one_makes_the_card_ready(guards: Guards) -> None:
    store, calls = guards.desk.store, [guards.desk.call(by=GUARD) for _ in range(20)]
    with Interleaving(guards.desk.client) as actors:
        for number, call in enumerate(calls):
            actors.actor(f"guard{number}", lambda call=call: report_lesson(store, call, make_line()))  # type: ignore[misc]
        answers = [outcome.result() for outcome in actors.run().values()]
    [card] = store.all_cards(guards.desk.memory)
    assert (card.reports, sum(answer["just_ready"] for answer in answers)) == (20, 1)
    assert [event.kind for event in guards.items("OUTBOX")] == ["RuleReady"]
    assert len(store.card_evidence(guards.desk.memory, card.id)) == 20
    guards.desk.verify()


@settings(max_examples=examples(6))
@given(schedules(3, 24), st.sampled_from(["new", "candidate", "rejected", "armed"]))
def test_of_parallel_reporters_each_is_counted_and_one_makes_it_ready(schedule: list[int], status: str) -> None:
    with fresh_store() as store:
        guards = Guards(Desk(store).open())
        before = 0
        if status != "new":
            card = guards.report()["card"]
            before = 1
            if status != "candidate":
                guards.act(card, "arm" if status == "armed" else "reject", STATEMENT)
        calls = [guards.desk.call(by=GUARD) for _ in range(3)]
        with Interleaving(guards.desk.client, schedule=schedule) as actors:
            for number, call in enumerate(calls):
                actors.actor(f"guard{number}", lambda call=call: report_lesson(store, call, make_line()))  # type: ignore[misc]
            answers = [outcome.result() for outcome in actors.run().values()]
        [stored] = store.all_cards(guards.desk.memory)
        assert stored.reports == before + 3
        assert len({answer["seq"] for answer in answers}) == 3
        assert sum(answer["just_ready"] for answer in answers) == (0 if status == "armed" else 1)
        assert stored.violations == (3 if status == "armed" else 0)
        assert len(store.card_evidence(guards.desk.memory, stored.id)) == before + 3
        guards.desk.verify()

"""Acknowledge, snooze, wake, withdraw: every finding can be closed or put off, and none is ever stuck."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from provenloop.adapters.dynamodb.store import DynamoStore
from provenloop.domain.bus_events import EVENT_FIELDS, event_of
from provenloop.domain.commit import TimerHead
from provenloop.domain.errors import (
    IllegalTransitionError,
    InvalidInputError,
    LoopError,
    NotFoundError,
    ScopeDeniedError,
    StaleDecisionError,
)
from provenloop.domain.lifecycle import OPEN, STATUSES, STEPS, Status
from provenloop.domain.waiting import Wait
from provenloop.services import review, snooze
from provenloop.services.audit_export import export_page
from provenloop.services.batch_review import MAX_IDS, BatchAction, batch_review
from provenloop.services.ports import Replace
from provenloop.services.snooze import LONGEST_MS
from tests.builders import DAY_MS, Desk, make_calls, make_fact, make_principal, make_skill
from tests.faults import Interleaving, assert_unchanged
from tests.faults.saved import SavedTable
from tests.faults.tables import TABLE
from tests.store_fixture import prepared

LONG = "x" * 501


def advised(desk: Desk) -> str:
    """A skill that stalls, a failing tool, a contradiction; the id of the advice."""
    desk.record(make_skill(proficiency=0.2, practice_count=9), *make_calls(5), make_fact("Berlin"), make_fact("Tokyo"))
    desk.run()
    return desk.finding("skill_stall")


@pytest.fixture
def office(store: DynamoStore) -> tuple[Desk, str]:
    return prepared(store, advised)


@contextmanager
def refused(desk: Desk, error: type[LoopError]) -> Iterator[pytest.ExceptionInfo[LoopError]]:
    """What is done inside is refused, and nothing is written."""
    before = desk.snapshot()
    with pytest.raises(error) as caught:
        yield caught
    assert_unchanged(before, desk.snapshot())


def acknowledge(desk: Desk, rec_id: str, because: str = "trained it", **more: Any) -> dict[str, Any]:
    return review.acknowledge(desk.store, desk.call(), rec_id, because, **more)


def put_off(desk: Desk, rec_id: str, days: float = 7, because: str = "not now", **more: Any) -> dict[str, Any]:
    until = desk.now + int(days * DAY_MS)
    return snooze.snooze(desk.store, desk.call(), rec_id, because, until=until, **more)


def wake(desk: Desk, rec_id: str, because: str = "now then", **more: Any) -> dict[str, Any]:
    return snooze.wake(desk.store, desk.call(), rec_id, because, **more)


def steps(desk: Desk, rec_id: str) -> list[tuple[str, str, str]]:
    """From, to, and who, of each entry of the chain."""
    lines = [json.loads(line) for line in export_page(desk.store, desk.call(), subject=rec_id).lines]
    return [(line["from"], line["to"], line["by"]["label"]) for line in lines]


# acknowledge


def test_advice_that_was_followed_is_closed_and_quiet_for_thirty_days_without_a_strike(
    office: tuple[Desk, str],
) -> None:
    desk, advice = office
    before = desk.grains()
    answer = acknowledge(desk, advice)
    rec = desk.recommendation(advice)
    key = desk.store.finding_key(desk.memory, rec.family, rec.group, rec.dedup_key)
    assert (rec.status, answer["status"]) == ("acknowledged", "acknowledged")
    assert key is not None
    assert (key.open_id, key.strikes, key.last_status) == (None, 0, "acknowledged")
    assert desk.grains() == before
    closed_at = desk.now
    assert desk.run(at=closed_at + 29 * DAY_MS, full_sweep=True)["stored"] == 0
    desk.run(at=closed_at + 30 * DAY_MS)
    again = desk.finding("skill_stall")
    assert again != advice
    assert desk.recommendation(again).earlier == advice
    desk.verify()


def test_a_change_is_not_acknowledged(office: tuple[Desk, str]) -> None:
    desk, _ = office
    with refused(desk, InvalidInputError):
        acknowledge(desk, desk.finding("contradiction_sweep"))


def test_what_is_snoozed_is_acknowledged_as_well(office: tuple[Desk, str]) -> None:
    desk, advice = office
    put_off(desk, advice)
    acknowledge(desk, advice)
    rec = desk.recommendation(advice)
    assert (rec.status, rec.snoozed_until) == ("acknowledged", None)
    desk.run(at=desk.now + 8 * DAY_MS)
    assert desk.recommendation(advice).status == "acknowledged"


# snooze and wake


def test_what_is_snoozed_waits_again_by_itself_when_its_time_has_come(office: tuple[Desk, str]) -> None:
    desk, advice = office
    answer = put_off(desk, advice, 7)
    until = desk.recommendation(advice).snoozed_until
    assert until is not None
    assert answer["snoozed_until"].startswith("20")
    desk.run(at=until - 2, full_sweep=True)
    assert desk.recommendation(advice).status == "snoozed"
    assert advice not in [row["id"] for row in desk.queue()]
    # The timer of the memory opens the gate.
    assert desk.run(at=until, min_new=1)["outcome"] == "ran"
    rec = desk.recommendation(advice)
    assert (rec.status, rec.snoozed_until) == ("pending", None)
    assert steps(desk, advice)[-2:] == [
        ("pending", "snoozed", "ann"),
        ("snoozed", "pending", "engine:loop.skill_stall/1"),
    ]
    desk.verify()


def test_what_wakes_is_brought_up_to_date(office: tuple[Desk, str]) -> None:
    desk, _ = office
    lesson = desk.finding("tool_failure")
    put_off(desk, lesson, 2)
    desk.record(*make_calls(30, name="more"))
    desk.run()
    assert desk.recommendation(lesson).count == 5
    desk.run(at=desk.now + 2 * DAY_MS)
    rec = desk.recommendation(lesson)
    assert (rec.status, rec.count) == ("pending", 35)


def test_a_reviewer_wakes_it_before_its_time_and_the_next_pass_looks_at_it(office: tuple[Desk, str]) -> None:
    desk, advice = office
    put_off(desk, advice, 60)
    assert wake(desk, advice)["status"] == "pending"
    assert desk.run(min_new=1)["outcome"] == "ran"
    assert desk.recommendation(advice).status == "pending"
    put_off(desk, advice, 80)
    # The instant of the first snooze passes without effect.
    desk.run(at=desk.now + 61 * DAY_MS)
    assert desk.recommendation(advice).status == "snoozed"


def test_it_may_be_decided_while_it_is_snoozed(office: tuple[Desk, str]) -> None:
    desk, _ = office
    conflict, lesson = desk.finding("contradiction_sweep"), desk.finding("tool_failure")
    put_off(desk, conflict)
    put_off(desk, lesson)
    desk.approve(conflict)
    desk.apply(conflict)
    desk.reject(lesson)
    assert [desk.recommendation(one).status for one in (conflict, lesson)] == ["applied", "rejected"]


def test_it_is_resolved_while_it_is_snoozed_when_its_cause_is_gone(office: tuple[Desk, str]) -> None:
    desk, advice = office
    put_off(desk, advice, 60)
    desk.record(make_skill(proficiency=0.9, practice_count=10))
    desk.run()
    rec = desk.recommendation(advice)
    assert (rec.status, rec.reason) == ("expired", "resolved")


def test_a_snooze_of_ninety_days_outlives_the_age_at_which_findings_expire(office: tuple[Desk, str]) -> None:
    desk, advice = office
    desk.now += 60 * DAY_MS
    put_off(desk, advice, 90)
    until = desk.recommendation(advice).snoozed_until
    assert until is not None
    desk.run(at=until - 2)
    assert desk.recommendation(advice).status == "snoozed"
    desk.run(at=until)
    assert desk.recommendation(advice).status == "pending"
    # Whoever put it off has time to look at it.
    desk.run(at=until + 80 * DAY_MS)
    assert desk.recommendation(advice).status == "pending"
    desk.run(at=until + 92 * DAY_MS)
    assert desk.recommendation(advice).reason == "aged"


@pytest.mark.parametrize("shift", [0, -1, LONGEST_MS + 1], ids=["now", "past", "over ninety days"])
def test_an_instant_that_is_past_or_too_far_is_refused_by_name(office: tuple[Desk, str], shift: int) -> None:
    desk, advice = office
    with refused(desk, InvalidInputError) as caught:
        snooze.snooze(desk.store, desk.call(), advice, "later", until=desk.now + shift)
    assert caught.value.field == "until"


def test_a_request_sent_again_is_answered_again(office: tuple[Desk, str]) -> None:
    desk, advice = office
    until = desk.now + DAY_MS
    answers = [
        snooze.snooze(desk.store, desk.call(key="k"), advice, "later", until=until),
        snooze.snooze(desk.store, desk.call(key="k"), advice, "later", until=until),
    ]
    assert answers[0] == answers[1]
    assert len(steps(desk, advice)) == 2


@pytest.mark.parametrize(("decide", "outcome"), [(acknowledge, "acknowledged"), (put_off, "snoozed")])
def test_a_review_that_waits_for_it_is_told_in_the_same_transaction(
    office: tuple[Desk, str], decide: Callable[..., Any], outcome: str
) -> None:
    desk, advice = office
    rec = desk.recommendation(advice)
    desk.plant(replace(rec, reviews=1), Wait(advice, "execution-1", desk.now, "ann", rec.chain.n, token="callback"))
    decide(desk, advice)
    [wait] = desk.store.waits(desk.memory, advice)
    assert (wait.token, wait.outcome, wait.closed_at) == (None, outcome, desk.recommendation(advice).updated_at)


# withdraw


def test_an_approval_is_withdrawn_with_a_reason_and_its_finding_is_quiet(office: tuple[Desk, str]) -> None:
    desk, _ = office
    conflict = desk.finding("contradiction_sweep")
    desk.approve(conflict)
    assert desk.reject(conflict, "thought better of it")["status"] == "rejected"
    assert steps(desk, conflict)[-1][:2] == ("approved", "rejected")
    with pytest.raises(IllegalTransitionError):
        desk.apply(conflict)
    assert desk.run(full_sweep=True)["stored"] == 0


# refusals

DECISIONS: dict[Status, Callable[..., dict[str, Any]]] = {
    "acknowledged": acknowledge,
    "snoozed": put_off,
    "pending": wake,
    "approved": lambda desk, rec_id, because="ok", **more: desk.approve(rec_id, because, **more),
    "rejected": lambda desk, rec_id, because="no", **more: desk.reject(rec_id, because, **more),
}


def bring_to(desk: Desk, rec_id: str, status: Status) -> None:
    """Drive the advice into a status that decisions alone can reach."""
    if status in ("acknowledged", "snoozed", "approved", "rejected"):
        DECISIONS[status](desk, rec_id)
    elif status == "expired":
        desk.record(make_skill(proficiency=0.9, practice_count=10))
        desk.run()
    assert desk.recommendation(rec_id).status == status


@pytest.mark.parametrize("wanted", sorted(DECISIONS))
@pytest.mark.parametrize("status", ["pending", "snoozed", "approved", "acknowledged", "rejected", "expired"])
def test_only_the_steps_of_the_table_are_taken_and_a_refused_one_writes_nothing(
    office: tuple[Desk, str], status: Status, wanted: Status
) -> None:
    desk, advice = office
    bring_to(desk, advice, status)
    if "reviewer" in STEPS.get((status, wanted), frozenset()):
        assert DECISIONS[wanted](desk, advice)["status"] == wanted
        desk.verify()
    else:
        with refused(desk, IllegalTransitionError):
            DECISIONS[wanted](desk, advice)


def test_no_open_status_is_a_dead_end() -> None:
    for status in OPEN:
        assert {after for before, after in STEPS if before == status} >= {"rejected", "expired"}
    assert {after for _, after in STEPS} == set(STATUSES)


@pytest.mark.parametrize("decide", [acknowledge, put_off, wake])
def test_a_decision_without_a_reason_is_refused(office: tuple[Desk, str], decide: Callable[..., Any]) -> None:
    desk, advice = office
    if decide is wake:
        put_off(desk, advice)
    for because in ("", " \n", LONG):
        with refused(desk, InvalidInputError):
            decide(desk, advice, because=because)


@pytest.mark.parametrize("decide", [acknowledge, put_off, wake])
def test_a_decision_about_another_proposal_is_stale(office: tuple[Desk, str], decide: Callable[..., Any]) -> None:
    desk, advice = office
    if decide is wake:
        put_off(desk, advice)
    with refused(desk, StaleDecisionError):
        decide(desk, advice, proposal_digest="0" * 64)
    assert decide(desk, advice, proposal_digest=desk.recommendation(advice).proposal_digest)["id"] == advice


@pytest.mark.parametrize("decide", [acknowledge, put_off, wake])
def test_a_decision_needs_the_scope_review_and_a_finding(office: tuple[Desk, str], decide: Callable[..., Any]) -> None:
    desk, advice = office
    if decide is wake:
        put_off(desk, advice)
    with refused(desk, NotFoundError):
        decide(desk, "zzzz")
    reviewer, desk.principal = desk.principal, make_principal("bob", "read", "write", "apply")
    with refused(desk, ScopeDeniedError):
        decide(desk, advice)
    desk.principal = reviewer


# several at once


def batch(desk: Desk, ids: list[str], action: BatchAction = "reject", key: str | None = None) -> dict[str, Any]:
    return batch_review(desk.store, desk.call(key=key), ids, action, "all the same")


def test_exactly_what_is_listed_is_decided_each_by_an_entry_of_its_own(office: tuple[Desk, str]) -> None:
    desk, advice = office
    conflict, lesson = desk.finding("contradiction_sweep"), desk.finding("tool_failure")
    answer = batch(desk, [conflict, lesson[:10]])
    assert (answer["decided"], answer["refused"]) == (2, 0)
    assert [result["id"] for result in answer["results"]] == [conflict, lesson[:10]]
    assert [result["decision"]["id"] for result in answer["results"]] == [conflict, lesson]
    assert [steps(desk, one)[-1] for one in (conflict, lesson)] == [("pending", "rejected", "ann")] * 2
    assert desk.recommendation(advice).status == "pending"
    desk.verify()


def test_one_that_is_refused_says_why_and_stops_no_other(office: tuple[Desk, str]) -> None:
    desk, advice = office
    conflict = desk.finding("contradiction_sweep")
    answer = batch(desk, [conflict, "zzzz", advice], "acknowledge")
    assert (answer["decided"], answer["refused"]) == (1, 2)
    assert [result["error"] and result["error"]["code"] for result in answer["results"]] == [
        "PVL-E011", "PVL-E040", None,
    ]  # fmt: skip
    assert desk.recommendation(conflict).status == "pending"
    assert desk.recommendation(advice).status == "acknowledged"


def test_a_batch_sent_again_decides_nothing_twice(office: tuple[Desk, str]) -> None:
    desk, advice = office
    first, second = (batch(desk, [advice, "zzzz"], key="k") for _ in range(2))
    assert first == second
    assert len(steps(desk, advice)) == 2


@pytest.mark.parametrize("ids", [[], ["a", "b", "A"], [f"{n:026}" for n in range(MAX_IDS + 1)]])
def test_a_list_that_is_empty_too_long_or_names_one_twice_is_refused_whole(
    office: tuple[Desk, str], ids: list[str]
) -> None:
    desk, _ = office
    with refused(desk, InvalidInputError) as caught:
        batch(desk, ids)
    assert str(caught.value.field).startswith("ids")


def test_a_batch_needs_the_scope_review_and_a_reason(office: tuple[Desk, str]) -> None:
    desk, advice = office
    with refused(desk, InvalidInputError):
        batch_review(desk.store, desk.call(), [advice], "reject", " ")
    desk.principal = make_principal("bob", "read", "write", "apply")
    with refused(desk, LoopError) as caught:
        batch(desk, [advice])
    assert caught.value.code == "PVL-E022"


# what is told of each step


def woken_by_a_pass(desk: Desk, rec_id: str) -> None:
    put_off(desk, rec_id, days=1)
    desk.run(at=desk.now + DAY_MS)


def woken_by_a_reviewer(desk: Desk, rec_id: str) -> None:
    put_off(desk, rec_id)
    wake(desk, rec_id)


def grown(desk: Desk, _rec_id: str) -> None:
    desk.record(*make_calls(9, name="more"), make_fact("Oslo"))
    desk.run()


def undone(desk: Desk, rec_id: str) -> None:
    desk.approve_and_apply(rec_id)
    desk.roll_back(rec_id)


@pytest.mark.parametrize(
    ("family", "take"),
    [
        *((family, take) for family in ("contradiction_sweep", "skill_stall")
          for take in (woken_by_a_pass, woken_by_a_reviewer, Desk.reject)),
        ("skill_stall", acknowledge),
        ("contradiction_sweep", undone),
        ("contradiction_sweep", grown),
        ("contradiction_sweep", Desk.approve),
    ],
)  # fmt: skip
def test_every_step_tells_the_bus_all_that_the_events_of_its_kind_promise(
    office: tuple[Desk, str], family: str, take: Callable[[Desk, str], object]
) -> None:
    desk, _ = office
    before = len(list(desk.store.audit_entries(desk.memory)))
    take(desk, desk.finding(family))
    told = [event for event in map(event_of, desk.store.audit_entries(desk.memory)) if event is not None]
    assert len(told) > before
    for event in told:
        needed = set(EVENT_FIELDS[event.kind]) - ({"reason"} if event.detail["n"] == 1 else set())
        assert needed <= event.detail.keys(), (event.kind, event.detail["status"])


@pytest.mark.parametrize("is_set", [True, False])
def test_decisions_about_different_findings_never_refuse_each_other(found: Desk, is_set: bool) -> None:
    """Both make an instant due, and so move the one timer of the memory, whether it is set or not."""
    one, other = found.finding("tool_failure"), found.finding("contradiction_sweep")
    until = found.now + 3 * DAY_MS
    if not is_set:
        rev = timer_of(found).rev
        found.store.transact(found.memory, [Replace(TimerHead(rev + 1), expected=rev)], found.now)
    earliest = min(timer_of(found).due_at or until, until)
    saved, first, second = SavedTable(found.client, TABLE), found.call(), found.call()

    def rejecting() -> None:
        review.reject(found.store, first, one, "no")

    def snoozing() -> None:
        snooze.snooze(found.store, second, other, "later", until=until)

    for calls in range(8):
        saved.restore()
        with Interleaving(found.client, schedule=[0] * calls + [1] * 20) as race:
            race.actor("one", rejecting)
            race.actor("other", snoozing)
            for outcome in race.run().values():
                outcome.result()
        assert timer_of(found).due_at == earliest
        found.verify()


def timer_of(desk: Desk) -> TimerHead:
    heads = desk.store.heads(desk.memory)
    assert heads is not None
    return heads.timer

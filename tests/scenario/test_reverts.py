"""A change that did not hold is proposed for undoing, once; undoing it is the real rollback, and is remembered."""

from __future__ import annotations

from typing import Any

import pytest

from provenloop.domain.errors import (
    IllegalTransitionError,
    InvalidInputError,
    LoopError,
    ScopeDeniedError,
    SelfApprovalError,
    TargetChangedError,
)
from provenloop.services import configure as configuring
from provenloop.services import forget as forgetting
from provenloop.services.apply_change import apply
from provenloop.services.configure import ConfigChange
from provenloop.services.forget_plan import Wanted
from provenloop.services.loop_state import health
from tests.builders import DAY_MS, Desk, Work, addresses, make_calls, make_fact, make_principal, make_tool_call
from tests.faults import Interleaving, Snapshot, assert_unchanged

HOUR_MS = 3_600_000
ERROR = "card declined"
REVIEW = "outcome_review"


def regressed(desk: Desk) -> tuple[str, int]:
    """A lesson that did not hold for a day, and when it was applied; the pass has measured it."""
    rec_id = desk.finding("tool_failure")
    desk.approve_and_apply(rec_id)
    began = desk.now
    desk.now = began + HOUR_MS
    desk.record(*make_calls(2, name="again"))
    desk.run(at=began + 2 * DAY_MS)
    return rec_id, began


def fail_on(desk: Desk, now: int, name: str, count: int = 1) -> None:
    desk.now = now
    desk.record(*make_calls(count, name=name))


def reverts(desk: Desk, status: str = "pending") -> list[str]:
    return [row["id"] for row in desk.queue(status, analyzer=f"loop.{REVIEW}")]


def unhandled(desk: Desk) -> Any:
    return health(desk.store, desk.call())["unhandled_regressions"]


def stored_grains(desk: Desk) -> Snapshot:
    return {key: item for key, item in desk.snapshot().items() if key[0].endswith("#GRAIN")}


# one open revert


def test_later_horizons_bring_the_one_open_revert_up_to_date(found: Desk) -> None:
    rec_id, began = regressed(found)
    [first] = reverts(found)
    assert found.recommendation(first).proposal.revert_of == rec_id
    fail_on(found, began + 3 * DAY_MS, "third", 3)
    found.run(at=began + 8 * DAY_MS)
    assert reverts(found) == [first]
    row = found.queue(analyzer=f"loop.{REVIEW}")[0]
    assert (row["details"]["horizon_days"], row["count"], unhandled(found)) == (7, 5, [])


def test_a_revert_cites_the_calls_of_that_error_that_failed_in_the_window(found: Desk) -> None:
    found.approve_and_apply(found.finding("tool_failure"))
    began = found.now
    found.now = began + HOUR_MS
    again = addresses(found.record(*make_calls(2, name="again")))
    found.record(make_tool_call("other", error="out of stock"), make_tool_call("fine", error=None))
    found.now = began + DAY_MS + HOUR_MS
    found.record(*make_calls(1, name="after"))
    found.run(at=began + 2 * DAY_MS)
    [revert] = reverts(found)
    assert set(found.recommendation(revert).evidence) == set(again)


def test_a_revert_of_a_resolution_cites_the_value_that_came_back(found: Desk) -> None:
    found.approve_and_apply(found.finding("contradiction_sweep"))
    began = found.now
    found.now = began + HOUR_MS
    found.record(make_fact("Rome"))
    found.run(at=began + 2 * DAY_MS)
    [revert] = reverts(found)
    assert found.recommendation(revert).evidence == (found.facts()["Rome"].address,)


def test_a_later_horizon_that_holds_resolves_the_revert(found: Desk) -> None:
    _, began = regressed(found)
    [first] = reverts(found)
    found.now = began + 3 * DAY_MS
    for batch in range(2):
        found.record(*make_calls(0, 40, name=f"good{batch}"))
    found.run(at=began + 8 * DAY_MS)
    assert (reverts(found), found.recommendation(first).status) == ([], "expired")
    assert (found.store.regressions(found.memory), unhandled(found)) == ((), [])
    found.verify()


def test_after_a_rejected_revert_a_later_horizon_asks_again_once_its_quiet_time_is_over(found: Desk) -> None:
    rec_id, began = regressed(found)
    [first] = reverts(found)
    found.reject(first, "wait for the week")
    fail_on(found, began + 3 * DAY_MS, "third", 3)
    found.run(at=began + 8 * DAY_MS)
    assert (reverts(found), unhandled(found)) == ([], [rec_id])
    found.run(at=began + 10 * DAY_MS, min_new=99)
    [second] = reverts(found)
    assert (second != first, found.recommendation(second).earlier, unhandled(found)) == (True, first, [])


def test_a_rejected_revert_is_an_answer_to_what_was_measured_till_then(found: Desk) -> None:
    _, began = regressed(found)
    found.reject(reverts(found)[0], "it is good enough")
    assert unhandled(found) == []
    found.run(at=began + 6 * DAY_MS + 23 * HOUR_MS, full_sweep=True)
    assert (reverts(found), unhandled(found)) == ([], [])


def test_a_revert_that_could_not_be_proposed_stays_on_record_and_is_proposed_when_it_may_be(found: Desk) -> None:
    def switch(*, on: bool) -> None:
        change = ConfigChange(analyzer=f"loop.{REVIEW}", enabled=on)
        configuring.configure(found.store, found.call(), change, "tried out")

    switch(on=False)
    rec_id, _ = regressed(found)
    assert (reverts(found), unhandled(found)) == ([], [rec_id])
    switch(on=True)
    found.run()
    assert (len(reverts(found)), unhandled(found)) == (1, [])


# applying it


def test_applying_a_revert_undoes_the_change_in_the_same_transaction(found: Desk) -> None:
    before = stored_grains(found)
    rec_id, _ = regressed(found)
    [revert] = reverts(found)
    [lesson] = found.facts("refund").values()
    number = found.recommendation(rec_id).chain.n
    with found.counted() as names:
        answer = found.approve_and_apply(revert)
    assert names.count("TransactWriteItems") == 1
    assert (answer["status"], answer["reverted"], answer["rollbackable"]) == ("applied", rec_id, False)
    assert (answer["created"], answer["changed"], found.facts("refund")) == ([], [lesson.address], {})
    [entry] = found.store.log_entries(found.memory, answer["seq"] - 1, answer["seq"])
    assert [(change.op, change.address) for change in entry.changes] == [("remove", lesson.address)]
    undone = found.recommendation(rec_id)
    assert (undone.status, undone.reason, undone.chain.n) == ("rolled_back", "reverted", number + 1)
    assert found.store.regressions(found.memory) == ()
    assert_unchanged(before, {key: item for key, item in stored_grains(found).items() if key in before})
    found.verify()


def test_a_conflict_whose_resolution_did_not_hold_gets_both_values_back(found: Desk) -> None:
    rec_id = found.finding("contradiction_sweep")
    berlin = found.facts()["Berlin"]
    found.approve_and_apply(rec_id)
    began = found.now
    found.now = began + HOUR_MS
    found.record(make_fact("Rome"))
    found.run(at=began + 2 * DAY_MS)
    found.approve_and_apply(reverts(found)[0])
    assert found.facts()["Berlin"] == berlin
    assert set(found.facts()) == {"Berlin", "Tokyo", "Rome"}
    found.verify()


def test_a_revert_cannot_be_undone(found: Desk) -> None:
    regressed(found)
    [revert] = reverts(found)
    found.approve_and_apply(revert)
    before = found.snapshot()
    with pytest.raises(IllegalTransitionError):
        found.roll_back(revert)
    assert_unchanged(before, found.snapshot())


def test_a_revert_needs_the_same_gates_as_any_change(found: Desk) -> None:
    regressed(found)
    [revert] = reverts(found)
    before = found.snapshot()
    agent = make_principal("bob", "read", "write", "review")
    attempts: list[tuple[type[LoopError], Work]] = [
        (IllegalTransitionError, lambda: found.apply(revert)),
        (ScopeDeniedError, lambda: apply(found.store, found.call(by=agent), revert, "now")),
        (InvalidInputError, lambda: found.approve_and_apply(revert, " ")),
    ]
    for refused, decide in attempts:
        with pytest.raises(refused):
            decide()
    engine = make_principal("eve", minted_by=found.recommendation(revert).creators)
    found.principal = engine
    with pytest.raises(SelfApprovalError):
        found.approve_and_apply(revert)
    assert_unchanged(before, found.snapshot())


def test_a_lesson_that_was_stated_since_is_not_undone_by_a_revert_either(found: Desk) -> None:
    regressed(found)
    [revert] = reverts(found)
    [lesson] = found.facts("refund").values()
    found.record(make_fact(ERROR, subject="refund", relation="fails_with"))
    before = found.snapshot()
    with pytest.raises(TargetChangedError) as caught:
        found.approve_and_apply(revert)
    assert lesson.address in caught.value.message
    assert_unchanged(before, found.snapshot())


def test_sent_again_with_its_key_a_revert_is_answered_as_before(found: Desk) -> None:
    regressed(found)
    [revert] = reverts(found)
    first = found.approve_and_apply(revert, key="once")
    assert found.approve_and_apply(revert, key="once") == first
    assert found.recommendation(revert).chain.n == 3


# rolling back by hand


@pytest.mark.parametrize("status", ["pending", "approved"])
def test_rolling_back_by_hand_resolves_the_open_revert(found: Desk, status: str) -> None:
    rec_id, _ = regressed(found)
    [revert] = reverts(found)
    if status == "approved":
        found.approve(revert)
    found.roll_back(rec_id)
    closed = found.recommendation(revert)
    assert (closed.status, closed.reason) == ("expired", "resolved")
    with pytest.raises(IllegalTransitionError):
        found.apply(revert)
    found.verify()
    found.run()
    assert (reverts(found), unhandled(found)) == ([], [])


@pytest.mark.parametrize("reads", range(1, 8))
def test_a_rollback_that_a_pass_overtakes_leaves_no_revert_open(found: Desk, reads: int) -> None:
    rec_id = found.finding("tool_failure")
    found.approve_and_apply(rec_id)
    began = found.now
    fail_on(found, began + HOUR_MS, "again", 2)
    found.now = began + 2 * DAY_MS
    race = Interleaving(found.client, schedule=[0] * reads + [1] * 60 + [0] * 20)
    race.actor("undoing", lambda: found.roll_back(rec_id))
    race.actor("pass", found.run)
    try:
        undone = race.run()["undoing"].error is None
    finally:
        race.remove()
    if not undone:
        assert len(reverts(found)) == 1
        found.roll_back(rec_id)
    found.run()
    assert (found.recommendation(rec_id).status, reverts(found)) == ("rolled_back", [])
    found.verify()


# what is remembered


def test_a_reverted_lesson_needs_new_evidence_and_then_cites_the_one_before(found: Desk) -> None:
    rec_id, _ = regressed(found)
    found.approve_and_apply(reverts(found)[0])
    undone_at = found.now
    found.run(at=undone_at + 8 * DAY_MS)
    found.run(full_sweep=True)
    assert found.queue(analyzer="loop.tool_failure") == []
    fail_on(found, undone_at + 9 * DAY_MS, "new", 3)
    found.run()
    [row] = found.queue(analyzer="loop.tool_failure")
    assert (row["count"], found.recommendation(row["id"]).earlier) == (3, rec_id)
    found.run(at=undone_at + 31 * DAY_MS)
    assert [watch.recommendation for watch in found.store.watches(found.memory)] == []


@pytest.mark.parametrize("is_back", [True, False], ids=["the new value stays", "it is gone again"])
def test_a_reverted_resolution_is_proposed_again_only_with_what_came_after_it(found: Desk, is_back: bool) -> None:
    found.approve_and_apply(found.finding("contradiction_sweep"))
    began = found.now
    found.now = began + HOUR_MS
    found.record(make_fact("Rome"))
    found.run(at=began + 2 * DAY_MS)
    found.approve_and_apply(reverts(found)[0])
    undone_at = found.now
    if not is_back:
        forgetting.forget(found.store, found.call(), Wanted(address=found.facts()["Rome"].address), "it was wrong")
    for day, expected in ((6, 0), (8, int(is_back))):
        found.run(at=undone_at + day * DAY_MS)
        assert len(found.queue(analyzer="loop.contradiction_sweep")) == expected


def test_a_regression_and_its_revert_are_one_strike(found: Desk) -> None:
    rec_id, _ = regressed(found)
    rec = found.recommendation(rec_id)
    found.approve_and_apply(reverts(found)[0])
    key = found.store.finding_key(found.memory, rec.family, rec.group, rec.dedup_key)
    assert key is not None
    assert (key.strikes, key.last_status, key.cooldown_until) == (1, "rolled_back", found.now + 7 * DAY_MS)


def test_an_undo_by_hand_of_what_held_leaves_the_old_evidence_counting(found: Desk) -> None:
    rec_id = found.finding("tool_failure")
    found.approve_and_apply(rec_id)
    began = found.now
    found.now = began + HOUR_MS
    found.record(make_tool_call("ok"))
    found.run(at=began + 2 * DAY_MS)
    found.roll_back(rec_id)
    found.run(at=found.now + 8 * DAY_MS)
    assert len(found.queue(analyzer="loop.tool_failure")) == 1

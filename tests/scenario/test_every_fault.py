"""Whatever fails at whichever AWS call of a decision: it is done or it is not, and sent again it is done once."""

from __future__ import annotations

from typing import Any

import pytest

from provenloop.adapters.dynamodb.store import DynamoStore
from provenloop.domain.errors import ConflictError, UnavailableError
from provenloop.services import review, snooze
from provenloop.services.batch_review import batch_review
from provenloop.services.waiting import Wish
from tests.builders import DAY_MS, Desk, make_calls, make_fact, make_skill
from tests.faults import Fault, assert_unchanged
from tests.scenario.struck import KEY, Deed, Left, Struck, faults_of, struck, told
from tests.scenario.test_review_waits import Review


def pending(desk: Desk) -> str:
    """Two values of one relation, found to contradict each other."""
    desk.record(make_fact("Berlin"), make_fact("Tokyo"))
    desk.run()
    return desk.finding("contradiction_sweep")


def two_pending(desk: Desk) -> str:
    """Two findings; the ids of both."""
    desk.record(*make_calls(3))
    return f"{pending(desk)} {desk.finding('tool_failure')}"


def both_rejected(desk: Desk, ids: str, key: str | None) -> dict[str, Any]:
    return batch_review(desk.store, desk.call(key=key), ids.split(), "reject", "not for us")


def approved(desk: Desk) -> str:
    rec = pending(desk)
    desk.approve(rec)
    return rec


def applied(desk: Desk) -> str:
    rec = approved(desk)
    desk.apply(rec)
    return rec


def failing(desk: Desk) -> str:
    """A tool that failed, and the approved lesson of it, which is a fact that is new."""
    desk.record(*make_calls(3))
    desk.run()
    rec = desk.finding("tool_failure")
    desk.approve(rec)
    return rec


def taught(desk: Desk) -> str:
    """The same, applied."""
    rec = failing(desk)
    desk.apply(rec)
    return rec


def outlived(desk: Desk) -> str:
    """A fact that is valid no more, and that is approved to be forgotten."""
    desk.record(make_fact(valid_to=desk.now - 100 * DAY_MS))
    desk.run()
    rec = desk.finding("staleness")
    desk.approve(rec)
    return rec


def merged(desk: Desk) -> str:
    """One fact in two spellings, merged."""
    desk.record(make_fact("tea", relation="likes", tags=("a",)))
    desk.record(make_fact("Tea", relation="likes", tags=("b",)))
    desk.run()
    rec = desk.finding("duplicate_sweep")
    desk.approve_and_apply(rec)
    return rec


def advised(desk: Desk) -> str:
    """Advice about a skill."""
    desk.record(make_skill(proficiency=0.2, practice_count=9))
    desk.run()
    return desk.finding("skill_stall")


def under_review(desk: Desk) -> str:
    """A workflow waits for the decision."""
    rec = pending(desk)
    review_of = Review(desk, rec)
    review_of.request()
    review_of.wait("first")
    return rec


def put_off(desk: Desk) -> str:
    rec = pending(desk)
    snoozed(desk, rec, None)
    return rec


def snoozed(desk: Desk, rec: str, key: str | None) -> dict[str, Any]:
    call = desk.call(key=key)
    return snooze.snooze(desk.store, call, rec, "not now", until=call.now + 7 * DAY_MS)


DEEDS: dict[str, tuple[Any, Deed]] = {
    "approve": (pending, lambda desk, rec, key: desk.approve(rec, key=key)),
    "reject": (pending, lambda desk, rec, key: desk.reject(rec, key=key)),
    "acknowledge": (advised, lambda desk, rec, key: review.acknowledge(desk.store, desk.call(key=key), rec, "did it")),
    "snooze": (pending, snoozed),
    "wake": (put_off, lambda desk, rec, key: snooze.wake(desk.store, desk.call(key=key), rec, "now then")),
    "apply": (approved, lambda desk, rec, key: desk.apply(rec, key=key)),
    "apply a lesson": (failing, lambda desk, rec, key: desk.apply(rec, key=key)),
    "apply a removal": (outlived, lambda desk, rec, key: desk.apply(rec, key=key, allow_destructive=True)),
    "approve and apply": (pending, lambda desk, rec, key: desk.approve_and_apply(rec, key=key)),
    "approve and have applied what a workflow waits for": (
        under_review,
        lambda desk, rec, key: desk.approve(rec, key=key, wish=Wish()),
    ),
    "roll back": (applied, lambda desk, rec, key: desk.roll_back(rec, key=key)),
    "roll back a merge": (merged, lambda desk, rec, key: desk.roll_back(rec, key=key)),
    "roll back a lesson": (taught, lambda desk, rec, key: desk.roll_back(rec, key=key)),
}


@pytest.mark.parametrize("deed", DEEDS)
def test_a_fault_at_any_call_leaves_it_done_or_not_done_and_sent_again_it_is_done_once(
    store: DynamoStore, deed: str
) -> None:
    office = struck(store, *DEEDS[deed])
    calls = office.calls()
    writes = [call.operation for call in calls if call.writes][-2:]
    assert (writes, calls[-1].writes) == (["TransactWriteItems"] * 2, True), "it is decided, and told"
    for fault in faults_of(calls):
        left = office.strike(fault)
        require_whole(office, left, fault)
        for key in (KEY, "another"):
            require_done_once(office, left, key, fault)


def test_a_fault_in_a_batch_is_told_of_the_one_it_struck_and_the_batch_sent_again_is_done_once(
    store: DynamoStore,
) -> None:
    office = struck(store, two_pending, both_rejected)
    for fault in faults_of(office.calls()):
        left = office.strike(fault)
        if isinstance(left.answer, dict):
            refused = {each["error"]["code"] for each in left.answer["results"] if each["error"]}
            assert (len(office.entries(left)), refused <= {"PVL-E001", "PVL-E003"}) == (left.answer["decided"], True), (
                fault
            )
        else:
            assert left.answer is None or isinstance(left.answer, UnavailableError), fault
        again = office.sent_again(left, KEY)
        assert again.answer == office.clean().answer, fault
        assert_unchanged(told(office.clean()), told(again))
        assert left.published | again.published == office.entries(again), fault


def require_whole(office: Struck, left: Left, fault: Fault) -> None:
    """It is wholly done or not at all, and the client is told nothing else."""
    entries = office.entries(left)
    expected = office.clean(left.seq) if entries else office.start
    assert_unchanged(told(expected), told(left))
    assert left.callbacks == expected.callbacks, fault
    if isinstance(left.answer, dict):
        assert (left.answer, bool(entries)) == (office.clean(left.seq).answer, True), fault
    else:
        assert left.answer is None or isinstance(left.answer, UnavailableError), fault
    assert left.published <= entries <= left.published | left.waiting, fault


def require_done_once(office: Struck, left: Left, key: str, fault: Fault) -> None:
    """Sent again it is as if nothing had failed, and every event was published; a new request finds it decided."""
    again = office.sent_again(left, key)
    if office.entries(left) and key != KEY:
        assert isinstance(again.answer, ConflictError), fault
        assert_unchanged(told(left), told(again))
    else:
        clean = office.clean(again.seq, key)
        assert again.answer == clean.answer, fault
        assert_unchanged(told(clean), told(again))
    assert left.published | again.published == office.entries(again), fault
    assert not again.waiting, fault

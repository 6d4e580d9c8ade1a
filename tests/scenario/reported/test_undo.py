"""Apply and undo: all or nothing, the exact inverse, and no finding that ends where nobody can decide it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from provenloop.domain.errors import (
    DestructiveGateError,
    IllegalTransitionError,
    InvalidInputError,
    ScopeDeniedError,
    StaleDecisionError,
)
from provenloop.domain.events import SupersedeEvent
from provenloop.services import roll_back
from tests.builders import DAY_MS, MINUTE_MS, NOW, Desk, grain_of, make_calls, make_fact, make_principal, make_skill
from tests.faults import assert_unchanged
from tests.scenario.reported.steps import apply_only, families, found_by_pass, live_facts, recalled
from tests.scenario.world import quietly


def two_cities(desk: Desk) -> str:
    """The finding that Berlin contradicts Tokyo."""
    desk.record(make_fact("Berlin", confidence=0.3, tags=("a",)))
    desk.record(make_fact("Tokyo"))
    desk.run()
    return desk.finding("contradiction_sweep")


def reads(desk: Desk) -> list[list[str]]:
    return [recalled(desk, subject="sam"), recalled(desk, relation="lives_in"), recalled(desk, "where is Berlin")]


def test_after_an_undo_everything_is_read_as_before_the_apply(desk: Desk) -> None:
    rec_id = two_cities(desk)
    before = reads(desk)
    desk.approve_and_apply(rec_id)
    assert reads(desk) != before
    desk.roll_back(rec_id)
    assert reads(desk) == before
    assert desk.facts()["Berlin"].body["confidence"] == 0.3


def test_what_was_undone_is_quiet_for_a_while_and_can_then_be_applied_again(desk: Desk) -> None:
    rec_id = two_cities(desk)
    desk.approve_and_apply(rec_id)
    desk.roll_back(rec_id)
    assert found_by_pass(desk, full_sweep=True) == []
    desk.run(at=desk.now + 8 * DAY_MS)
    again = desk.finding("contradiction_sweep")
    assert desk.recommendation(again).earlier == rec_id
    desk.approve_and_apply(again)
    assert live_facts(desk) == ["Tokyo"]


def test_a_lesson_that_was_undone_is_not_proposed_again_on_the_next_pass(desk: Desk) -> None:
    desk.record(*make_calls(5))
    desk.run()
    rec_id = desk.only()["id"]
    desk.approve_and_apply(rec_id)
    desk.roll_back(rec_id)
    desk.record(*make_calls(1, name="later"))
    assert found_by_pass(desk) == []


def test_each_refusal_of_one_finding_is_followed_by_a_longer_silence(desk: Desk) -> None:
    desk.record(make_fact("Berlin"), make_fact("Tokyo"))
    desk.run()
    for days in (7, 14, 28):
        desk.reject(desk.finding("contradiction_sweep"))
        desk.run(at=desk.now + days * DAY_MS - MINUTE_MS)
        assert "contradiction_sweep" not in families(desk)
        desk.run(at=desk.now + 2 * MINUTE_MS)
    assert "contradiction_sweep" in families(desk)


def test_a_refused_removal_leaves_the_finding_pending_and_decidable(desk: Desk) -> None:
    desk.record(make_fact("sale", relation="has", valid_to=NOW + DAY_MS))
    desk.run(at=NOW + 3 * DAY_MS)
    rec_id = desk.only()["id"]
    with pytest.raises(DestructiveGateError):
        desk.approve_and_apply(rec_id)
    assert families(desk) == ["staleness"]
    desk.approve_and_apply(rec_id, allow_destructive=True)
    assert {grain.state for grain in desk.grains().values()} == {"forgotten"}


def test_advice_is_refused_before_it_is_approved(desk: Desk) -> None:
    desk.record(make_skill("triage", proficiency=0.2, practice_count=9))
    desk.run()
    with pytest.raises(InvalidInputError):
        desk.approve_and_apply(desk.only()["id"])
    assert families(desk) == ["skill_stall"]
    desk.reject(desk.only()["id"])


def test_an_approval_can_be_withdrawn_with_a_reason(desk: Desk) -> None:
    rec_id = two_cities(desk)
    desk.approve(rec_id)
    desk.reject(rec_id, "on second thoughts, no")
    assert desk.recommendation(rec_id).status == "rejected"
    assert live_facts(desk) == ["Berlin", "Tokyo"]


def test_who_may_only_read_runs_decides_and_undoes_nothing(desk: Desk) -> None:
    rec_id = two_cities(desk)
    desk.approve_and_apply(rec_id)
    reader = make_principal("eve", "read", "write", "review")
    with pytest.raises(ScopeDeniedError):
        roll_back.roll_back(desk.store, desk.call(by=reader), rec_id, "it did harm")
    assert live_facts(desk) == ["Tokyo"]


def test_two_cards_over_the_same_values_are_both_settled_and_never_half(desk: Desk) -> None:
    for value in ("Berlin", "berlin", "Tokyo"):
        desk.record(make_fact(value))
    desk.run()
    for row in desk.queue():
        answer = quietly(partial(desk.approve_and_apply, row["id"]))()
        status = desk.recommendation(row["id"]).status
        assert status == ("applied" if isinstance(answer, dict) else "pending")
    desk.run()
    while desk.queue():
        desk.approve_and_apply(desk.queue()[0]["id"])
        desk.run()
    assert live_facts(desk) == ["Tokyo"]


def test_what_an_apply_writes_is_stamped_with_the_time_of_the_apply(desk: Desk) -> None:
    desk.record(*make_calls(5))
    desk.run()
    rec_id = desk.only()["id"]
    desk.now += 3 * DAY_MS
    applied_at = desk.now + 1
    [created] = desk.approve_and_apply(rec_id)["created"]
    grain = desk.grains()[created]
    assert (grain.recorded_at, grain.last_stated_at) == (applied_at, applied_at)


def test_the_second_of_two_applies_is_refused_and_says_what_may_follow(desk: Desk) -> None:
    rec_id = two_cities(desk)
    desk.approve_and_apply(rec_id)
    with pytest.raises(IllegalTransitionError, match="rolled_back"):
        desk.approve_and_apply(rec_id)


def test_a_merge_moves_no_fact_to_a_spelling_under_which_it_is_not_found(desk: Desk) -> None:
    desk.record(make_fact("tea", subject="Ann", relation="likes"))
    desk.record(make_fact("tea", subject="ann", relation="likes"))
    desk.run()
    apply_only(desk)
    assert recalled(desk, subject="ann") == recalled(desk, subject="Ann") == recalled(desk, subject="ANN") == ["tea"]


def test_a_fork_is_merged_into_a_fact_that_stays_a_fact_of_its_namespace(desk: Desk) -> None:
    root = grain_of(desk, make_fact("water", relation="likes", namespace="team"))
    for value in ("tea", "coffee"):
        later = make_fact(value, relation="likes", namespace="team")
        desk.record(SupersedeEvent(root.address, later, allow_fork=True))
    assert found_by_pass(desk) == ["fork_surfacing"]
    apply_only(desk)
    [kept] = desk.facts().values()
    assert (kept.kind, kept.namespace, kept.body["object"]) == ("fact", "team", "coffee")


@pytest.mark.parametrize("is_stored", ["another", "none"])
def test_a_proposal_that_is_not_the_one_that_was_approved_is_not_applied(desk: Desk, is_stored: str) -> None:
    """However that came about: what is applied is what somebody saw."""
    rec_id = two_cities(desk)
    desk.approve(rec_id)
    approved = desk.recommendation(rec_id)
    assert approved.approval is not None
    other = replace(approved.approval, digest="0" * 64) if is_stored == "another" else None
    desk.plant(replace(approved, approval=other))
    before = desk.snapshot()
    with pytest.raises(StaleDecisionError):
        desk.apply(rec_id)
    assert_unchanged(before, desk.snapshot())
    assert desk.reject(rec_id)["status"] == "rejected"

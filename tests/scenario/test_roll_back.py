"""Undoing an apply restores every grain exactly, or refuses and names what has moved since."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from provenloop.domain.errors import ConflictError, IllegalTransitionError, TargetChangedError
from provenloop.domain.events import Event, SupersedeEvent
from provenloop.domain.grain import Grain
from provenloop.domain.proposal import Proposal
from provenloop.services.forget import forget
from provenloop.services.forget_plan import Wanted
from tests.builders import Desk, make_calls, make_fact, make_grain
from tests.examples import examples
from tests.faults import Interleaving, Snapshot, assert_unchanged
from tests.faults.tables import TABLE
from tests.store_fixture import fresh_store

LESSON = make_fact("card declined", subject="refund", relation="fails_with", confidence=0.2)


def stored_grains(desk: Desk) -> Snapshot:
    """Every item of the memory's grains, history too."""
    return {key: item for key, item in desk.snapshot().items() if key[0].endswith("#GRAIN")}


def test_undoing_brings_back_both_values_and_takes_the_measurements_away(found: Desk) -> None:
    before = stored_grains(found)
    rec_id = found.finding("contradiction_sweep")
    berlin = found.facts()["Berlin"]
    found.approve_and_apply(rec_id)
    answer = found.roll_back(rec_id)
    assert (answer["status"], answer["restored"], answer["removed"], answer["already_undone"]) == (
        "rolled_back", [berlin.address], [], [],
    )  # fmt: skip
    assert_unchanged(before, stored_grains(found))
    [entry] = found.store.log_entries(found.memory, answer["seq"] - 1, answer["seq"])
    assert [(change.op, change.address) for change in entry.changes] == [("restore", berlin.address)]
    assert found.recommendation(rec_id).status == "rolled_back"
    found.verify()


def test_undoing_a_lesson_removes_it_and_its_watch(found: Desk) -> None:
    before = stored_grains(found)
    rec_id = found.finding("tool_failure")
    [address] = found.approve_and_apply(rec_id)["created"]
    answer = found.roll_back(rec_id)
    assert answer["removed"] == [address]
    assert_unchanged(before, stored_grains(found))
    assert found.store.watches(found.memory) == ()


def test_a_lesson_that_had_been_superseded_comes_back_and_goes_again_with_its_history(found: Desk) -> None:
    [address] = [event["address"] for event in found.record(LESSON)["events"]]
    found.record(SupersedeEvent(address, make_fact("all is well", subject="refund", relation="fails_with")))
    found.run()
    before = stored_grains(found)
    rec_id = found.finding("tool_failure")
    assert found.approve_and_apply(rec_id)["created"] == [address]
    back = found.grains()[address]
    assert (back.state, back.generation, back.body["confidence"]) == ("current", 2, 0.7143)
    assert found.roll_back(rec_id)["restored"] == [address]
    assert_unchanged(before, stored_grains(found))


def test_a_lesson_that_was_there_already_is_left_as_it_is_by_both(found: Desk) -> None:
    found.record(LESSON)
    before = stored_grains(found)
    rec_id = found.finding("tool_failure")
    assert found.approve_and_apply(rec_id)["created"] == []
    assert_unchanged(before, stored_grains(found))
    answer = found.roll_back(rec_id)
    assert (answer["removed"], answer["restored"]) == ([], [])
    assert_unchanged(before, stored_grains(found))


def refused(desk: Desk, rec_id: str) -> str:
    before = desk.snapshot()
    with pytest.raises(TargetChangedError) as caught:
        desk.roll_back(rec_id)
    assert_unchanged(before, desk.snapshot())
    assert desk.recommendation(rec_id).status == "applied"
    return caught.value.message


def test_a_value_that_came_back_since_is_a_conflict_that_names_it(found: Desk) -> None:
    rec_id = found.finding("contradiction_sweep")
    berlin = found.facts()["Berlin"]
    found.approve_and_apply(rec_id)
    found.record(make_fact("Berlin"))
    assert berlin.address in refused(found, rec_id)


@pytest.mark.parametrize("more", [{}, {"confidence": 0.1}, {"source": "mail"}], ids=["again", "changed", "sourced"])
def test_a_lesson_that_was_stated_since_is_a_conflict_that_names_it(found: Desk, more: dict[str, Any]) -> None:
    rec_id = found.finding("tool_failure")
    [address] = found.approve_and_apply(rec_id)["created"]
    found.record(make_fact("card declined", subject="refund", relation="fails_with", **more))
    assert address in refused(found, rec_id)


def test_a_lesson_that_was_superseded_since_is_a_conflict_that_names_it(found: Desk) -> None:
    rec_id = found.finding("tool_failure")
    [address] = found.approve_and_apply(rec_id)["created"]
    found.record(SupersedeEvent(address, make_fact("fixed", subject="refund", relation="fails_with")))
    assert address in refused(found, rec_id)


def test_what_happened_to_the_kept_value_does_not_matter(found: Desk) -> None:
    rec_id = found.finding("contradiction_sweep")
    found.approve_and_apply(rec_id)
    found.record(SupersedeEvent(found.facts()["Tokyo"].address, make_fact("Rome")))
    found.roll_back(rec_id)
    assert set(found.facts()) == {"Berlin", "Rome"}


@pytest.mark.parametrize("gone", ["removed", "forgotten"])
def test_what_is_gone_already_counts_as_undone(found: Desk, gone: str) -> None:
    rec_id = found.finding("tool_failure")
    [address] = found.approve_and_apply(rec_id)["created"]
    if gone == "removed":
        found.client.delete_item(TableName=TABLE, Key={"pk": {"S": "T#acme#M#demo#GRAIN"}, "sk": {"S": address}})
    else:
        found.plant(make_grain(address=address, state="forgotten", head_rev=2))
    before = stored_grains(found)
    answer = found.roll_back(rec_id)
    assert (answer["already_undone"], answer["removed"], answer["status"]) == ([address], [], "rolled_back")
    assert_unchanged(before, stored_grains(found))


def test_what_has_no_inverse_is_not_undone(found: Desk) -> None:
    rec_id = found.finding("contradiction_sweep")
    found.approve_and_apply(rec_id)
    rec = found.recommendation(rec_id)
    found.plant(replace(rec, rollbackable=False, proposal=Proposal()))
    before = found.snapshot()
    with pytest.raises(IllegalTransitionError):
        found.roll_back(rec_id)
    assert_unchanged(before, found.snapshot())


@pytest.mark.parametrize("again", [False, True], ids=["new", "revived"])
def test_a_statement_between_check_and_undo_is_a_conflict_that_names_it(found: Desk, again: bool) -> None:
    if again:
        [address] = [event["address"] for event in found.record(LESSON)["events"]]
        found.record(SupersedeEvent(address, make_fact("fine", subject="refund", relation="fails_with")))
    rec_id = found.finding("tool_failure")
    [address] = found.approve_and_apply(rec_id)["created"]
    lesson = found.grains()[address]
    said = make_fact("card declined", subject="refund", relation="fails_with", confidence=lesson.body["confidence"])
    race = Interleaving(found.client, schedule=[0] * (6 if again else 5) + [1] * 5 + [0] * 9)
    race.actor("undoing", lambda: found.roll_back(rec_id))
    race.actor("agent", lambda: found.record(said))
    try:
        outcomes = race.run()
    finally:
        race.remove()
    error = outcomes["undoing"].error
    assert isinstance(error, TargetChangedError)
    assert address in error.message
    assert (found.grains()[address].stated, found.recommendation(rec_id).status) == (2, "applied")


@pytest.mark.parametrize("reads", [3, 4])
def test_whoever_rolls_back_while_what_was_merged_is_forgotten_is_told_to_look_again(desk: Desk, reads: int) -> None:
    desk.record(make_fact("tea", relation="likes", tags=("a",)))
    desk.record(make_fact("Tea", relation="likes", tags=("b",)))
    desk.run()
    rec_id = desk.finding("duplicate_sweep")
    desk.approve_and_apply(rec_id)
    [kept] = desk.facts().values()
    race = Interleaving(desk.client, schedule=[0] * (reads + 1) + [1] * 60)
    race.actor("undoing", lambda: desk.roll_back(rec_id))
    race.actor("forgetting", lambda: forget(desk.store, desk.call(), Wanted(kept.address), "asked to"))
    try:
        outcomes = race.run()
    finally:
        race.remove()
    assert outcomes["forgetting"].state == "done"
    error = outcomes["undoing"].error
    assert error is None or isinstance(error, ConflictError)
    if error is not None:
        desk.roll_back(rec_id)
    assert desk.recommendation(rec_id).status == "rolled_back"
    assert desk.grains()[kept.address].state == "forgotten"
    desk.verify()


# generated memories

VALUES = st.sampled_from(["Berlin", "berlin", "Tokyo", "Rome", "Oslo"])
FACTS = st.builds(
    make_fact,
    VALUES,
    subject=st.sampled_from(["sam", "Sam"]),
    relation=st.sampled_from(["lives_in", "livesIn", "likes"]),
    namespace=st.sampled_from(["shared", "team"]),
    confidence=st.none() | st.sampled_from([0.25, 0.5]),
)


def _superseding(desk: Desk, places: Sequence[int]) -> list[Event]:
    """Some current facts superseded by a new value each."""
    current = sorted((g for g in desk.grains().values() if g.kind == "fact" and g.is_current), key=Grain.recency)
    chosen = dict.fromkeys(current[place % len(current)].address for place in places) if current else {}
    return [SupersedeEvent(address, make_fact(f"new {n}", subject="kim")) for n, address in enumerate(chosen)]


def _is_applied(desk: Desk, rec_id: str) -> bool:
    """Apply a finding. Of two that would change one grain, the second is refused as changed, and nothing is written."""
    try:
        desk.approve_and_apply(rec_id)
    except TargetChangedError:
        return False
    return True


@settings(max_examples=examples(4))
@given(
    batches=st.lists(st.lists(FACTS, min_size=2, max_size=9), min_size=1, max_size=1),
    places=st.lists(st.integers(0, 9), max_size=2),
    order=st.randoms(use_true_random=False),
)
def test_applying_any_findings_and_undoing_them_in_any_order_restores_every_grain(
    batches: list[list[Event]], places: list[int], order: Any
) -> None:
    with fresh_store() as store:
        desk = Desk(store).open()
        desk.record(*make_calls(3))
        for batch in batches:
            desk.record(*batch)
        if places:
            events = _superseding(desk, places)
            if events:
                desk.record(*events)
        desk.run()
        before = stored_grains(desk)
        ids = [row["id"] for row in desk.queue() if _is_applied(desk, row["id"])]
        assert ids
        order.shuffle(ids)
        for rec_id in ids:
            desk.roll_back(rec_id)
        assert_unchanged(before, stored_grains(desk))
        desk.verify()

"""Merging duplicates: one write of the kept grain, nothing lost, and an undo that gives everything back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from provenloop.domain.errors import InvalidInputError, TargetChangedError
from provenloop.domain.events import SupersedeEvent
from provenloop.domain.grain import Grain
from provenloop.domain.proposal import NewFact, Operation, OperationName, Proposal, digest_of
from tests.builders import DAY_MS, NOW, Desk, make_calls, make_fact, make_observation
from tests.examples import examples
from tests.faults import Interleaving, Snapshot, assert_unchanged
from tests.store_fixture import fresh_store


def stored_grains(desk: Desk) -> Snapshot:
    """Every item of the memory's grains, history too."""
    return {key: item for key, item in desk.snapshot().items() if key[0].endswith("#GRAIN")}


def step(op: OperationName, target: Grain, into: Grain) -> Operation:
    expects = {grain.address: grain.head_rev for grain in (target, into)}
    return Operation(op, target=target.address, into=into.address, expects=expects)


def proposed(desk: Desk, *operations: Operation) -> str:
    """The pending contradiction, with these operations as if an analyzer had proposed them."""
    rec_id = desk.finding("contradiction_sweep")
    proposal = Proposal(operations=operations)
    desk.plant(replace(desk.recommendation(rec_id), proposal=proposal, proposal_digest=digest_of(proposal)))
    return rec_id


def likes(value: str, **more: Any) -> Any:
    return make_fact(value, relation="likes", **more)


@pytest.fixture
def spelt(found: Desk) -> Desk:
    """Three spellings of one fact, each with something of its own."""
    found.record(likes("tea", confidence=0.9, tags=("a",)))
    found.record(likes("Tea", confidence=0.3, source="mail", tags=("b",)), likes("Tea"))
    found.record(likes("TEA", valid_to=NOW + 9 * DAY_MS))
    return found


def merge_all(desk: Desk) -> str:
    """Propose to merge the other spellings into the first."""
    facts = desk.facts()
    return proposed(desk, *(step("MERGE", facts[value], facts["tea"]) for value in ("Tea", "TEA")))


def test_several_merges_into_one_grain_are_one_write_of_it_that_loses_nothing(spelt: Desk) -> None:
    before = spelt.facts()
    answer = spelt.approve_and_apply(merge_all(spelt))
    kept = spelt.facts()["tea"]
    assert kept.body == {**before["tea"].body, "tags": ["a", "b"], "source": "mail"}
    assert (kept.body["confidence"], kept.valid_to, kept.stated) == (0.9, None, 4)
    assert (kept.recorded_at, kept.last_stated_at) == (before["tea"].recorded_at, before["TEA"].last_stated_at)
    assert (kept.head_rev, kept.generation) == (2, 1)
    gone = spelt.facts(state="superseded")
    assert {grain.superseded_by for grain in gone.values()} == {kept.address}
    assert answer["changed"] == [before["Tea"].address, before["TEA"].address, kept.address]
    [entry] = spelt.store.log_entries(spelt.memory, answer["seq"] - 1, answer["seq"])
    assert [change.op for change in entry.changes] == ["point", "point", "merge"]
    [earlier] = spelt.store.history(spelt.memory, kept.address)
    assert earlier.body == before["tea"].body


def test_undoing_a_merge_gives_every_grain_back_exactly(spelt: Desk) -> None:
    before = stored_grains(spelt)
    rec_id = merge_all(spelt)
    addresses = spelt.approve_and_apply(rec_id)["changed"]
    answer = spelt.roll_back(rec_id)
    assert sorted(answer["restored"]) == sorted(addresses)
    assert_unchanged(before, stored_grains(spelt))
    spelt.verify()


def test_what_was_stated_since_a_merge_stays_counted_when_it_is_undone(spelt: Desk) -> None:
    rec_id = merge_all(spelt)
    before = spelt.facts()["tea"]
    spelt.approve_and_apply(rec_id)
    spelt.record(likes("tea"), likes("tea"))
    said_at = spelt.now
    spelt.roll_back(rec_id)
    back = spelt.facts()["tea"]
    assert (back.stated, back.last_stated_at) == (before.stated + 2, said_at)
    assert (back.body, back.valid_to, back.head_rev) == (before.body, None, before.head_rev)


@pytest.mark.parametrize("news", [{"confidence": 0.1}, {"source": "chat"}])
def test_a_kept_grain_that_was_changed_since_is_a_conflict_that_names_it(spelt: Desk, news: dict[str, Any]) -> None:
    rec_id = merge_all(spelt)
    spelt.approve_and_apply(rec_id)
    spelt.record(likes("tea", **news))
    before = spelt.snapshot()
    with pytest.raises(TargetChangedError) as caught:
        spelt.roll_back(rec_id)
    assert spelt.facts()["tea"].address in caught.value.message
    assert_unchanged(before, spelt.snapshot())


def test_a_loser_that_came_back_since_is_a_conflict_that_names_it(spelt: Desk) -> None:
    rec_id = merge_all(spelt)
    spelt.approve_and_apply(rec_id)
    spelt.record(likes("TEA"))
    with pytest.raises(TargetChangedError) as caught:
        spelt.roll_back(rec_id)
    assert spelt.facts()["TEA"].address in caught.value.message


def test_a_statement_between_check_and_apply_is_counted_too(spelt: Desk) -> None:
    rec_id = merge_all(spelt)
    spelt.approve(rec_id)
    race = Interleaving(spelt.client, schedule=[0] * 4 + [1] * 9 + [0] * 9)
    race.actor("applying", lambda: spelt.apply(rec_id))
    race.actor("agent", lambda: spelt.record(likes("tea")))
    try:
        outcomes = race.run()
    finally:
        race.remove()
    assert outcomes["applying"].error is None
    assert spelt.facts()["tea"].stated == 5
    spelt.roll_back(rec_id)
    assert spelt.facts()["tea"].stated == 2


@pytest.mark.parametrize("moved", ["kept", "loser"])
def test_a_grain_that_moved_since_it_was_proposed_refuses_the_whole_merge(spelt: Desk, moved: str) -> None:
    rec_id = merge_all(spelt)
    address = spelt.facts()["tea" if moved == "kept" else "TEA"].address
    spelt.record(SupersedeEvent(address, likes("water")))
    before = spelt.snapshot()
    with pytest.raises(TargetChangedError) as caught:
        spelt.approve_and_apply(rec_id)
    assert address in caught.value.message
    assert_unchanged(before, spelt.snapshot())


def test_grains_that_are_not_there_refuse_the_merge_whatever_it_expects(spelt: Desk) -> None:
    tea = spelt.facts()["tea"]
    rec_id = proposed(spelt, Operation("MERGE", target="0" * 64, into=tea.address, expects={tea.address: tea.head_rev}))
    with pytest.raises(TargetChangedError):
        spelt.approve_and_apply(rec_id)


def test_grains_of_other_kinds_or_namespaces_are_never_merged(spelt: Desk) -> None:
    spelt.record(likes("tea", namespace="team"), make_observation("tea"))
    others = [grain for grain in spelt.grains().values() if grain.namespace == "team" or grain.kind == "observation"]
    assert len(others) == 2
    before = stored_grains(spelt)
    for other in others:
        rec_id = proposed(spelt, step("MERGE", other, spelt.facts()["tea"]))
        with pytest.raises(InvalidInputError, match="one kind and one namespace"):
            spelt.approve_and_apply(rec_id)
    assert_unchanged(before, stored_grains(spelt))


def test_a_proposal_that_would_write_one_grain_twice_is_refused(spelt: Desk) -> None:
    facts = spelt.facts()
    chain = step("MERGE", facts["TEA"], facts["Tea"]), step("POINT", facts["Tea"], facts["tea"])
    both = step("MERGE", facts["TEA"], facts["tea"]), step("POINT", facts["Tea"], facts["tea"])
    before = stored_grains(spelt)
    for operations in (chain, both):
        rec_id = proposed(spelt, *operations)
        with pytest.raises(InvalidInputError, match="twice"):
            spelt.approve_and_apply(rec_id)
    assert_unchanged(before, stored_grains(spelt))


def test_observations_merge_with_what_their_senders_said_beside_the_text(found: Desk) -> None:
    found.record(
        make_observation("the door is open", session="s1"), make_observation("the door is open!", source="cam")
    )
    notes = {str(grain.body["text"]): grain for grain in found.grains().values() if grain.kind == "observation"}
    seed, other = notes["the door is open"], notes["the door is open!"]
    found.approve_and_apply(proposed(found, step("MERGE", other, seed)))
    kept = found.grains()[seed.address]
    assert kept.body == {"text": "the door is open", "session": "s1", "source": "cam"}


# generated proposals

FACTS = st.builds(
    likes,
    st.sampled_from(["tea", "Tea", "TEA", "water", "juice"]),
    subject=st.just("kim"),
    confidence=st.none() | st.sampled_from([0.25, 0.5]),
    source=st.none() | st.just("mail"),
    tags=st.sampled_from([(), ("a",), ("b", "c")]),
    valid_to=st.none() | st.integers(NOW + DAY_MS, NOW + DAY_MS + 2),
)


@st.composite
def operations(draw: st.DrawFn, count: int) -> list[tuple[OperationName, int, int]]:
    """Merges and points among ``count`` grains, none of which is written twice."""
    roles = draw(st.permutations(range(count)))
    kept = roles[: draw(st.integers(1, max(1, count - 1)))]
    ops: dict[int, OperationName] = {place: draw(st.sampled_from(["MERGE", "MERGE", "POINT"])) for place in kept}
    losers = [(place, draw(st.sampled_from(kept))) for place in roles[len(kept) :]]
    return [(ops[into], place, into) for place, into in losers]


@settings(max_examples=examples(5))
@given(events=st.lists(FACTS, min_size=2, max_size=6, unique_by=lambda event: event.object), data=st.data())
def test_applying_any_merges_points_and_a_lesson_and_undoing_them_restores_every_grain(
    events: Sequence[Any], data: st.DataObject
) -> None:
    with fresh_store() as store:
        desk = Desk(store).open()
        desk.record(*make_calls(3), make_fact("Berlin"), make_fact("Tokyo"))
        desk.run()
        for event in events:
            desk.record(event)
        grains = list(desk.facts("kim").values())
        steps = [step(op, grains[target], grains[into]) for op, target, into in data.draw(operations(len(grains)))]
        before = stored_grains(desk)
        stated = sum(grain.stated for grain in grains)
        lesson = Operation("ADD", fact=NewFact("shared", "kim", "likes", "cake", 0.5))
        rec_id = proposed(desk, lesson, *steps)
        desk.approve_and_apply(rec_id)
        now = desk.facts("kim")
        assert len(now) == len(grains) - len(steps) + 1
        pointed = {operation.target for operation in steps if operation.op == "POINT"}
        uncounted = sum(grain.stated for grain in grains if grain.address in pointed)
        assert sum(grain.stated for grain in now.values()) == stated - uncounted + 1
        desk.roll_back(rec_id)
        assert_unchanged(before, stored_grains(desk))
        desk.verify()

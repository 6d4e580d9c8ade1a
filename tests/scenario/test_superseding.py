"""Superseding: of any kind but tool calls, and more than once only for writers that allow forks."""

from __future__ import annotations

import pytest

from provenloop.domain.errors import InvalidInputError, TargetChangedError
from provenloop.domain.events import Event, SupersedeEvent, SupersedingEvent
from provenloop.domain.grain import Grain
from tests.builders import (
    Desk,
    addresses,
    make_fact,
    make_free_event,
    make_goal,
    make_observation,
    make_skill,
)

BERLIN, TOKYO, OSLO = make_fact("Berlin"), make_fact("Tokyo"), make_fact("Oslo")
KINDS: list[tuple[SupersedingEvent, SupersedingEvent, SupersedingEvent]] = [
    (BERLIN, TOKYO, OSLO),
    (make_observation("one"), make_observation("two"), make_observation("three")),
    (make_skill(), make_skill(revision=2), make_skill(revision=3)),
    (make_goal("one"), make_goal("two"), make_goal("three")),
    (make_free_event("a", "one"), make_free_event("b", "two"), make_free_event("c", "three")),
]
each_kind = pytest.mark.parametrize("events", KINDS, ids=lambda events: type(events[0]).__name__)


def superseded(desk: Desk, first: Event, *successors: SupersedingEvent) -> tuple[Grain, list[str]]:
    """The first grain once all others have superseded it, and their addresses."""
    [target] = addresses(desk.record(first))
    made = [
        addresses(desk.record(SupersedeEvent(target, one, allow_fork=place > 0)))[0]
        for place, one in enumerate(successors)
    ]
    return desk.grains()[target], made


@each_kind
def test_a_grain_of_any_such_kind_is_superseded_and_kept(
    desk: Desk, events: tuple[SupersedingEvent, SupersedingEvent, SupersedingEvent]
) -> None:
    gone, [successor] = superseded(desk, *events[:2])
    assert (gone.state, gone.successors, gone.head_rev, gone.changed_at) == ("superseded", (successor,), 2, desk.now)
    assert desk.grains()[successor].is_current
    [before] = desk.store.history(desk.memory, gone.address)
    assert (before.state, before.body, before.head_rev) == ("current", gone.body, 1)
    assert desk.store.predecessors(desk.memory, successor) == (gone.address,)


@each_kind
def test_a_fork_needs_to_be_allowed_and_then_has_two_current_successors(
    desk: Desk, events: tuple[SupersedingEvent, SupersedingEvent, SupersedingEvent]
) -> None:
    target, _ = superseded(desk, *events[:2])
    with pytest.raises(TargetChangedError) as caught:
        desk.record(SupersedeEvent(target.address, events[2]))
    assert caught.value.field == "events[0].target"
    forked = addresses(desk.record(SupersedeEvent(target.address, events[2], allow_fork=True)))
    root = desk.grains()[target.address]
    assert root.superseded_by == target.superseded_by
    assert root.forked_into == tuple(forked)
    assert [desk.grains()[address].state for address in root.successors] == ["current", "current"]
    assert [version.successors for version in desk.store.history(desk.memory, root.address)] == [
        (), (target.superseded_by,),
    ]  # fmt: skip


def test_a_fork_may_have_any_number_of_branches_each_once(desk: Desk) -> None:
    root, made = superseded(desk, BERLIN, TOKYO, OSLO, make_fact("Rome"))
    assert root.successors == tuple(made)
    assert root.head_rev == 4
    for place, value in enumerate((TOKYO, OSLO)):
        assert desk.statuses(SupersedeEvent(root.address, value, allow_fork=True)) == ["restated"]
        assert desk.grains()[root.address].successors == tuple(made), place


def test_allowing_forks_makes_none_of_a_current_grain(desk: Desk) -> None:
    [target] = addresses(desk.record(BERLIN))
    desk.record(SupersedeEvent(target, TOKYO, allow_fork=True))
    root = desk.grains()[target]
    assert (len(root.successors), root.forked_into) == (1, ())


def test_a_fork_that_moves_to_another_relation_is_marked_all_the_same(desk: Desk) -> None:
    root, [_, moved] = superseded(desk, BERLIN, TOKYO, make_fact("Oslo", subject="mia", relation="works_in"))
    assert root.forked_into == (moved,)
    assert moved[:16] != root.address[:16]
    assert desk.store.predecessors(desk.memory, moved) == (root.address,)


def test_the_log_says_what_was_superseded_by_what(desk: Desk) -> None:
    root, [first, second] = superseded(desk, BERLIN, TOKYO, OSLO)
    changes = [change for entry in desk.store.log_entries(desk.memory, 0, 9) for change in entry.changes]
    assert [(change.op, change.address, change.into) for change in changes] == [
        ("add", root.address, None),
        ("add", first, None),
        ("supersede", root.address, first),
        ("add", second, None),
        ("fork", root.address, second),
    ]


def test_a_head_that_the_sender_did_not_see_is_no_fork_either(desk: Desk) -> None:
    root, _ = superseded(desk, BERLIN, TOKYO)
    with pytest.raises(TargetChangedError) as caught:
        desk.record(SupersedeEvent(root.address, OSLO, if_head=1, allow_fork=True))
    assert caught.value.field == "events[0].if_head"
    assert desk.grains()[root.address] == root


def test_a_forked_grain_that_is_stated_again_begins_anew_without_branches(desk: Desk) -> None:
    root, _ = superseded(desk, BERLIN, TOKYO, OSLO)
    assert desk.statuses(BERLIN) == ["revived"]
    back = desk.grains()[root.address]
    assert (back.state, back.successors, back.generation, back.head_rev) == ("current", (), 2, 4)
    assert desk.store.history(desk.memory, root.address)[-1] == root


def test_a_grain_cannot_replace_itself(desk: Desk) -> None:
    [target] = addresses(desk.record(make_skill()))
    with pytest.raises(InvalidInputError, match="state it again") as caught:
        desk.record(SupersedeEvent(target, make_skill(proficiency=0.9)))
    assert caught.value.field == "events[0].target"

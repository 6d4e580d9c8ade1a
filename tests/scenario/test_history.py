"""History: the versions of a grain, the chain it stands in, and the values a relation has had."""

from __future__ import annotations

from typing import Any

import pytest

from provenloop.domain.errors import InvalidInputError, NotFoundError, ScopeDeniedError
from provenloop.domain.events import SupersedeEvent
from provenloop.domain.grain import with_successor
from provenloop.domain.instants import format_instant
from provenloop.services import history
from provenloop.services.history import MAX_CHAIN
from tests.builders import (
    DAY_MS,
    NOW,
    Desk,
    addresses,
    make_fact,
    make_goal,
    make_principal,
    make_skill,
)

BERLIN, TOKYO = make_fact("Berlin"), make_fact("Tokyo")


def of_grain(desk: Desk, address: str) -> dict[str, Any]:
    return history.grain_history(desk.store, desk.call(), address)


def of_relation(desk: Desk, subject: str = "sam", relation: str = "lives_in") -> list[dict[str, Any]]:
    answer = history.relation_history(desk.store, desk.call(), "shared", subject, relation)
    values: list[dict[str, Any]] = answer["values"]
    return values


def at(desk: Desk) -> str:
    """When the last call was."""
    return format_instant(desk.now)


def test_a_grain_that_never_changed_has_one_version(desk: Desk) -> None:
    [address] = addresses(desk.record(BERLIN))
    begun = at(desk)
    answer = of_grain(desk, address)
    [version] = answer.pop("versions")
    assert (version["from"], version["to"], version["live"], version["object"]) == (begun, None, True, "Berlin")
    assert answer == {"address": address, "predecessors": [], "successors": [], "cut": False}


def test_versions_follow_one_another_without_a_gap(desk: Desk) -> None:
    [address] = addresses(desk.record(make_goal(progress=0.1)))
    times = [at(desk)]
    desk.record(make_goal(progress=0.2))
    times.append(at(desk))
    desk.record(SupersedeEvent(address, make_goal("another")))
    times.append(at(desk))
    desk.record(make_goal(progress=0.9))
    times.append(at(desk))
    versions = of_grain(desk, address)["versions"]
    assert [(version["from"], version["to"]) for version in versions] == list(
        zip(times, [*times[1:], None], strict=True)
    )
    assert [(version["progress"], version["state"], version["live"]) for version in versions] == [
        (0.1, "current", False), (0.2, "current", False), (0.2, "superseded", False), (0.9, "current", True),
    ]  # fmt: skip
    assert [(version["head_rev"], version["generation"]) for version in versions] == [(1, 1), (2, 1), (3, 1), (4, 2)]


def test_a_chain_is_told_both_ways_from_any_of_its_grains(desk: Desk) -> None:
    [first] = addresses(desk.record(make_skill(proficiency=0.1)))
    [second] = addresses(desk.record(SupersedeEvent(first, make_skill(revision=2, proficiency=0.2))))
    [third] = addresses(desk.record(SupersedeEvent(second, make_skill("refunds abroad", revision=3))))
    told = {
        address: [
            [grain["address"] for grain in of_grain(desk, address)[way]] for way in ("predecessors", "successors")
        ]
        for address in (first, second, third)
    }
    assert told == {first: [[], [second, third]], second: [[first], [third]], third: [[second, first], []]}


def test_a_fork_has_both_branches_as_successors(desk: Desk) -> None:
    [root] = addresses(desk.record(BERLIN))
    branches = [
        addresses(desk.record(SupersedeEvent(root, value, allow_fork=True)))[0]
        for value in (TOKYO, make_fact("Oslo", relation="works_in"))
    ]
    answer = of_grain(desk, root)
    assert [grain["address"] for grain in answer["successors"]] == branches
    assert answer["versions"][-1]["forked_into"] == branches[1:]
    for branch in branches:
        assert [grain["address"] for grain in of_grain(desk, branch)["predecessors"]] == [root]


def test_what_came_back_is_no_predecessor_any_more(desk: Desk) -> None:
    [berlin] = addresses(desk.record(BERLIN))
    [tokyo] = addresses(desk.record(SupersedeEvent(berlin, TOKYO)))
    desk.record(BERLIN)
    assert of_grain(desk, tokyo)["predecessors"] == []


def test_two_grains_that_replaced_each_other_in_turn_end_the_chain(desk: Desk) -> None:
    [berlin] = addresses(desk.record(BERLIN))
    [tokyo] = addresses(desk.record(SupersedeEvent(berlin, TOKYO)))
    desk.record(SupersedeEvent(tokyo, BERLIN))
    answer = of_grain(desk, berlin)
    assert [grain["address"] for grain in answer["predecessors"]] == [tokyo]
    assert answer["successors"] == []


def test_what_an_apply_points_at_a_value_is_its_predecessor_until_it_is_undone(found: Desk) -> None:
    tokyo, berlin = found.facts()["Tokyo"], found.facts()["Berlin"]
    rec = found.finding("contradiction_sweep")
    found.approve_and_apply(rec)
    assert [grain["address"] for grain in of_grain(found, tokyo.address)["predecessors"]] == [berlin.address]
    found.roll_back(rec)
    assert of_grain(found, tokyo.address)["predecessors"] == []


def test_of_what_an_apply_points_away_the_time_before_is_told_too(found: Desk) -> None:
    berlin = found.facts()["Berlin"]
    found.approve_and_apply(found.finding("contradiction_sweep"))
    applied = at(found)
    assert [
        (version["state"], version["from"], version["to"], version["head_rev"])
        for version in of_grain(found, berlin.address)["versions"]
    ] == [
        ("current", format_instant(berlin.recorded_at), applied, 1),
        ("superseded", applied, None, 2),
    ]
    assert [(value["object"], value["to"]) for value in of_relation(found)] == [("Berlin", applied), ("Tokyo", None)]


def test_a_chain_is_cut_when_it_is_very_long(desk: Desk) -> None:
    [root] = addresses(desk.record(make_fact("0")))
    values = [make_fact(str(number)) for number in range(1, MAX_CHAIN + 3)]
    for start in range(0, len(values), 80):
        desk.record(*values[start : start + 80])
    places = {str(grain.body["object"]): grain for grain in desk.grains().values()}
    current = places["0"]
    for value in values:
        following = places[value.object]
        desk.plant(with_successor(current, following.address, seq=9, at=NOW))
        current = following
    answer = of_grain(desk, root)
    assert (len(answer["successors"]), answer["cut"]) == (MAX_CHAIN, True)
    assert [grain["object"] for grain in answer["successors"][:2]] == ["1", "2"]


def test_every_value_of_a_relation_is_told_with_the_time_it_held(desk: Desk) -> None:
    [berlin] = addresses(desk.record(BERLIN))
    times = [at(desk)]
    [tokyo] = addresses(desk.record(SupersedeEvent(berlin, TOKYO)))
    times.append(at(desk))
    desk.record(SupersedeEvent(tokyo, BERLIN))
    times.append(at(desk))
    desk.record(make_fact("Rome", relation="likes"), make_fact("Rome", subject="mia"))
    assert [(value["object"], value["from"], value["to"], value["generation"]) for value in of_relation(desk)] == [
        ("Berlin", times[0], times[1], 1), ("Tokyo", times[1], times[2], 1), ("Berlin", times[2], None, 2),
    ]  # fmt: skip


def test_values_are_ordered_by_when_they_hold_not_by_when_they_arrived(desk: Desk) -> None:
    desk.record(make_fact("Tokyo", valid_from=NOW - DAY_MS))
    desk.record(make_fact("Berlin", valid_from=NOW - 9 * DAY_MS, valid_to=NOW - DAY_MS))
    values = of_relation(desk, "SAM", "livesIn")
    assert [(value["object"], value["to"]) for value in values] == [
        ("Berlin", format_instant(NOW - DAY_MS)), ("Tokyo", None),
    ]  # fmt: skip


def test_a_value_that_was_replaced_before_its_end_held_until_then(desk: Desk) -> None:
    [berlin] = addresses(desk.record(make_fact("Berlin", valid_to=NOW + 9 * DAY_MS)))
    desk.record(SupersedeEvent(berlin, TOKYO))
    replaced = at(desk)
    assert of_relation(desk)[0]["to"] == replaced


def test_a_relation_that_nobody_spoke_of_has_no_values(desk: Desk) -> None:
    desk.record(BERLIN)
    assert of_relation(desk, relation="likes") == []


def test_what_is_not_there_or_not_allowed_is_refused(desk: Desk) -> None:
    desk.record(BERLIN)
    with pytest.raises(NotFoundError) as caught:
        of_grain(desk, "f" * 64)
    assert caught.value.field == "address"
    with pytest.raises(InvalidInputError):
        of_grain(desk, "f" * 63)
    with pytest.raises(NotFoundError) as caught:
        history.relation_history(desk.store, desk.call(), "nowhere", "sam", "lives_in")
    assert caught.value.field == "namespace"
    writer = desk.call(by=make_principal("bob", "write"))
    with pytest.raises(ScopeDeniedError):
        history.relation_history(desk.store, writer, "shared", "sam", "lives_in")
    with pytest.raises(ScopeDeniedError):
        history.grain_history(desk.store, writer, "f" * 64)
    desk.memory = desk.memory._replace(name="missing")
    with pytest.raises(NotFoundError) as caught:
        of_grain(desk, "f" * 64)
    assert caught.value.field == "memory"

"""A fact that was replaced twice over: when that is a finding of its own, and which successor is kept."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenloop.analyzers.contract import AppliedMark, ClusterView, Examination, Marks, no_marks
from provenloop.analyzers.contradiction_sweep import ContradictionSweep
from provenloop.analyzers.duplicate_sweep import DuplicateSweep
from provenloop.analyzers.fork_surfacing import ForkSurfacing
from provenloop.domain.grain import Grain
from provenloop.domain.proposal import TextRef
from provenloop.domain.recommendation import Draft
from tests.builders import DAY_MS, NOW, make_grain

ANALYZER = ForkSurfacing()


def examined(*grains: Grain, now: int = NOW, marks: Marks = no_marks) -> Examination:
    return ANALYZER.examine(ClusterView("g", grains), {}, now, marks)


def found(*grains: Grain, **more: Any) -> Draft | None:
    drafts = examined(*grains, **more).drafts
    assert len(drafts) <= 1
    return drafts[0] if drafts else None


def pointed(draft: Draft | None) -> dict[str | None, str | None]:
    assert draft is not None
    assert {step.op for step in draft.proposal.operations} <= {"POINT"}
    return {step.target: step.into for step in draft.proposal.operations}


def likes(value: str, days_ago: int = 1, *, relation: str = "likes", **more: Any) -> Grain:
    return make_grain(value, relation=relation, at=NOW - days_ago * DAY_MS, **more)


def replaced(grain: Grain, *successors: Grain) -> Grain:
    addresses = [successor.address for successor in successors]
    return replace(grain, state="superseded", superseded_by=addresses[0], forked_into=tuple(addresses[1:]))


TEA, COFFEE = likes("tea", 3), likes("coffee", 2)
WATER = replaced(likes("water", 9), TEA, COFFEE)


def test_a_fact_replaced_twice_over_points_the_others_to_the_latest_and_says_why() -> None:
    draft = found(COFFEE, WATER, TEA)
    assert pointed(draft) == {TEA.address: COFFEE.address}
    assert draft is not None
    assert (draft.parts, draft.namespace) == (("sam", "likes", WATER.address), "shared")
    assert (draft.severity, draft.count, draft.metric) == ("medium", 2, None)
    assert draft.evidence == (WATER.address, TEA.address, COFFEE.address)
    args = draft.summary.args
    assert (args["keep"], args["because"], args["since"]) == (
        TextRef(COFFEE.address, "object"), "it is the latest", NOW - 2 * DAY_MS,
    )  # fmt: skip
    assert (args["value_1"], args["value_2"]) == (TextRef(TEA.address, "object"), TextRef(COFFEE.address, "object"))


def test_one_successor_is_no_fork_and_neither_are_two_plain_facts() -> None:
    assert found(replaced(WATER, TEA), TEA, COFFEE) is None
    assert found(TEA, COFFEE) is None


@pytest.mark.parametrize(
    "gone",
    [
        replace(COFFEE, state="superseded", superseded_by=TEA.address),
        replace(COFFEE, state="forgotten", body={}),
        replace(COFFEE, valid_to=NOW),
        replace(COFFEE, valid_from=NOW + 1),
    ],
    ids=["superseded", "forgotten", "expired", "future"],
)
def test_a_successor_that_does_not_stand_any_more_ends_the_fork(gone: Grain) -> None:
    assert found(WATER, TEA, gone) is None


def test_a_fork_that_the_host_merged_properly_is_none() -> None:
    juice = likes("juice", 1)
    assert found(WATER, replaced(TEA, juice), replaced(COFFEE, juice), juice) is None


def test_a_successor_that_was_replaced_later_is_followed_to_the_one_that_stands() -> None:
    juice = likes("juice", 1)
    assert pointed(found(WATER, replaced(TEA, juice), juice, COFFEE)) == {COFFEE.address: juice.address}


def test_three_successors_are_one_finding() -> None:
    milk = likes("milk", 1)
    forked = replaced(WATER, TEA, milk, COFFEE)
    assert pointed(found(forked, TEA, COFFEE, milk)) == {TEA.address: milk.address, COFFEE.address: milk.address}


def test_a_fork_within_a_fork_is_told_once_by_the_grain_that_has_all_its_tips() -> None:
    milk = likes("milk", 1)
    juice = likes("juice", 1)
    inner = replaced(TEA, milk, juice)
    draft = found(WATER, inner, COFFEE, milk, juice)
    assert draft is not None
    assert draft.parts[2] == WATER.address
    assert draft.count == 3


def test_where_branches_have_met_and_parted_again_the_latest_such_grain_is_told_of() -> None:
    milk = likes("milk", 1)
    juice = likes("juice", 1)
    met = replaced(TEA, milk, juice)
    merged = replaced(COFFEE, met)
    draft = found(replaced(WATER, met, merged), met, merged, milk, juice)
    assert draft is not None
    assert draft.parts[2] == TEA.address
    assert set(draft.evidence) == {TEA.address, milk.address, juice.address}


def test_successors_that_are_spellings_of_one_value_are_the_duplicates_finding() -> None:
    other = likes("TEA ", 2)
    grains = replaced(WATER, TEA, other), TEA, other
    assert found(*grains) is None
    assert len(DuplicateSweep().examine(ClusterView("g", grains), {"jaccard": 0.9}, NOW).drafts) == 1


def test_successors_of_a_relation_of_one_value_are_the_contradictions_finding() -> None:
    berlin, tokyo = likes("Berlin", 3, relation="livesIn"), likes("Tokyo", 2, relation="lives_in")
    grains = replaced(likes("Rome", 9, relation="lives_in"), berlin, tokyo), berlin, tokyo
    assert found(*grains) is None
    sweep = ContradictionSweep()
    [draft] = sweep.examine(ClusterView("g", grains), sweep.manifest.defaults(), NOW).drafts
    assert pointed(draft) == {berlin.address: tokyo.address}


def test_spellings_of_the_kept_value_are_left_to_the_duplicates_finding() -> None:
    other = likes("COFFEE", 1)
    draft = found(replaced(WATER, TEA, COFFEE, other), TEA, COFFEE, other)
    assert pointed(draft) == {TEA.address: other.address}


def test_forks_of_one_relation_name_in_two_namespaces_are_findings_of_their_own() -> None:
    there = [replace(grain, namespace="team", address=grain.address[::-1]) for grain in (TEA, COFFEE)]
    water = replaced(replace(WATER, namespace="team", address=WATER.address[::-1]), *there)
    drafts = examined(WATER, TEA, COFFEE, water, *there).drafts
    assert {draft.namespace for draft in drafts} == {"shared", "team"}
    assert {draft.target.parts[0] for draft in drafts} == {"shared", "team"}


def test_a_forgotten_fork_still_has_two_tips() -> None:
    assert found(replace(WATER, state="forgotten", body={}), TEA, COFFEE) is not None


def test_a_fact_that_stands_again_is_no_fork() -> None:
    assert found(replace(WATER, state="current"), TEA, COFFEE) is None


def test_the_begin_of_a_tip_is_due() -> None:
    later = replace(COFFEE, valid_from=NOW + 5)
    assert examined(WATER, TEA, later).next_due_at == NOW + 5
    assert found(WATER, TEA, later, now=NOW + 5) is not None


def test_a_fork_that_was_read_before_it_was_settled_is_not_found_again() -> None:
    assert found(WATER, TEA, COFFEE, marks=lambda *_key: AppliedMark(NOW, 4)) is None
    assert found(WATER, TEA, replace(COFFEE, seq=5), marks=lambda *_key: AppliedMark(NOW, 4)) is not None


VALUES = ("tea", "coffee", "Tea", "milk", "juice")


@st.composite
def histories(draw: st.DrawFn) -> list[Grain]:
    """Facts that were replaced by others at random, in rings too."""
    grains = [likes(value, draw(st.integers(1, 9))) for value in VALUES]
    for place, grain in enumerate(grains):
        successors = draw(st.lists(st.sampled_from(grains), max_size=3))
        if successors:
            grains[place] = replaced(grain, *successors)
    return grains


@given(histories())
def test_after_pointing_no_fork_is_left_and_every_kept_value_stands(grains: list[Grain]) -> None:
    for _ in range(len(VALUES)):
        drafts = examined(*grains).drafts
        if not drafts:
            return
        moved = pointed(drafts[0])
        assert not set(moved) & set(moved.values())
        grains = [
            replace(grain, state="superseded", superseded_by=moved[grain.address]) if grain.address in moved else grain
            for grain in grains
        ]
    assert examined(*grains).drafts == ()

"""When an active goal does not get on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from provenloop.analyzers.contract import Examination, GrainView
from provenloop.analyzers.goal_stagnation import GoalStagnation
from provenloop.domain.grain import Grain
from provenloop.domain.proposal import TextRef
from provenloop.domain.recommendation import Draft
from tests.builders import DAY_MS, NOW
from tests.grains import make_goal

ANALYZER = GoalStagnation()
OLD = NOW - 45 * DAY_MS


def examined(goal: Grain | None, *, now: int = NOW, **parameters: Any) -> Examination:
    return ANALYZER.examine(GrainView("g", goal), {**ANALYZER.manifest.defaults(), **parameters}, now)


def found(goal: Grain | None, **more: Any) -> Draft | None:
    drafts = examined(goal, **more).drafts
    return drafts[0] if drafts else None


def test_an_active_goal_of_some_age_without_progress_is_advice() -> None:
    goal = make_goal(0.05, at=OLD)
    draft = found(goal)
    assert draft is not None
    assert (draft.parts, draft.severity, draft.evidence) == (("ship it",), "low", (goal.address,))
    assert (draft.target.scheme, draft.target.parts) == ("entity", ("goals", TextRef(goal.address, "name")))
    assert draft.proposal.advice == {"goal": TextRef(goal.address, "name"), "progress": 0.05, "age_days": 45}


@pytest.mark.parametrize("state", ["done", "dropped", "Active", "active ", ""])
def test_only_the_state_active_counts(state: str) -> None:
    assert examined(make_goal(0.0, state, at=OLD)) == Examination()


@pytest.mark.parametrize(
    ("progress", "fires"), [(0.1, True), (0.1001, False), (None, True), (0.9, False), (1.0, False)]
)
def test_the_progress_is_at_most_a_tenth_and_none_is_zero(progress: float | None, fires: bool) -> None:
    assert (found(make_goal(progress, at=OLD)) is not None) is fires


def test_the_age_counts_from_the_first_version_and_is_inclusive() -> None:
    goal = make_goal(at=NOW - 30 * DAY_MS, last_stated_at=NOW - 1, head_rev=9)
    assert found(goal) is not None
    assert found(goal, now=NOW - 1) is None
    assert examined(goal, now=NOW - 1).next_due_at == NOW
    assert found(goal, min_age_days=31) is None


def test_a_goal_that_is_far_enough_has_nothing_due() -> None:
    assert examined(make_goal(0.5, at=NOW)) == Examination()


@pytest.mark.parametrize("more", [{"state": "superseded"}, {"state": "forgotten"}, {"valid_to": NOW}])
def test_a_goal_that_does_not_stand_any_more_is_left_alone(more: dict[str, Any]) -> None:
    assert found(replace(make_goal(at=OLD), **more)) is None


def test_the_end_of_a_goal_is_due() -> None:
    assert examined(replace(make_goal(at=OLD), valid_to=NOW + 5)).next_due_at == NOW + 5


def test_a_goal_that_is_gone_gives_nothing() -> None:
    assert examined(None) == Examination()

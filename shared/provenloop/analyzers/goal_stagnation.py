"""A goal that is active, old enough, and not getting on.

The state is exactly ``active``; a goal without a progress stands at 0. The age counts from the goal's first version: a
goal that was only touched does not grow young. Both bounds are inclusive.
"""

from __future__ import annotations

from provenloop.analyzers.contract import (
    Examination,
    GrainView,
    Manifest,
    Marks,
    Parameter,
    Parameters,
    View,
    no_marks,
)
from provenloop.analyzers.reading import earliest, next_validity, number_in
from provenloop.domain.errors import AnalyzerError
from provenloop.domain.grain import Grain, text_of
from provenloop.domain.instants import DAY_MS
from provenloop.domain.proposal import Proposal, TextRef
from provenloop.domain.recommendation import Argument, Draft, Summary, Target


class GoalStagnation:
    """See the module."""

    manifest = Manifest(
        id="loop.goal_stagnation/1",
        title="Stagnant goals",
        line="A goal is active and not getting on.",
        tier="T0",
        trust="builtin",
        default_on=False,
        sources=("grain",),
        kinds=("goal",),
        parameters=(
            Parameter("max_progress", "float", 0.1, 0, 1, "progress, at most"),
            Parameter("min_age_days", "int", 30, 1, 3650, "days since it was first set, at least"),
        ),
    )

    def examine(self, view: View, parameters: Parameters, now: int, marks: Marks = no_marks) -> Examination:
        """Look at one goal."""
        del marks
        if not isinstance(view, GrainView):
            raise AnalyzerError("goal_stagnation looks at single goals")
        goal = view.grain
        if goal is None or not _is_behind(goal, float(parameters["max_progress"])):
            return Examination()
        old_at = goal.recorded_at + int(parameters["min_age_days"]) * DAY_MS
        due = earliest(next_validity([goal], now), old_at if now < old_at else None)
        is_due = goal.is_live(now) and now >= old_at
        return Examination((_draft(goal, now),) if is_due else (), due)


def _is_behind(goal: Grain, max_progress: float) -> bool:
    is_active = goal.kind == "goal" and goal.is_current and text_of(goal, "state") == "active"
    return is_active and bool(text_of(goal, "name")) and (number_in(goal, "progress") or 0.0) <= max_progress


def _draft(goal: Grain, now: int) -> Draft:
    name = TextRef(goal.address, "name")
    figures: dict[str, Argument] = {
        "goal": name,
        "progress": round(number_in(goal, "progress") or 0.0, 4),
        "age_days": (now - goal.recorded_at) // DAY_MS,
    }
    return Draft(
        parts=(text_of(goal, "name"),),
        namespace=goal.namespace,
        severity="low",
        target=Target("entity", ("goals", name)),
        summary=Summary("goal.stagnation", figures),
        proposal=Proposal(advice=figures),
        evidence=(goal.address,),
        count=1,
        confidence=0.8,
    )

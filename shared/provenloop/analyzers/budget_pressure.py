"""Contexts that agents assemble keep dropping what was meant to be in them.

Counts inside a window of UTC days, so that pressure which is over falls silent. One finding per memory.
"""

from __future__ import annotations

from provenloop.analyzers.contract import (
    AssemblyView,
    Examination,
    Manifest,
    Marks,
    Parameter,
    Parameters,
    View,
    no_marks,
)
from provenloop.domain.errors import AnalyzerError
from provenloop.domain.proposal import Proposal
from provenloop.domain.recommendation import Argument, Draft, Summary, Target


class BudgetPressure:
    """See the module."""

    manifest = Manifest(
        id="loop.budget_pressure/1",
        title="Budget pressure",
        line="Many of the contexts that agents assemble drop something for want of room.",
        tier="T0",
        trust="builtin",
        default_on=True,
        sources=("assembly",),
        parameters=(
            Parameter("min_samples", "int", 20, 1, 10_000_000, "assembled contexts, at least"),
            Parameter("min_overflow_ratio", "float", 0.5, 0, 1, "share that dropped something, at least"),
            Parameter("window_days", "int", 30, 1, 365, "UTC days, today included"),
        ),
        needs=("telemetry",),
    )

    def examine(self, view: View, parameters: Parameters, now: int, marks: Marks = no_marks) -> Examination:
        """Look at the memory's assembled contexts."""
        del marks
        if not isinstance(view, AssemblyView):
            raise AnalyzerError("budget_pressure looks at assembled contexts")
        ends_at = view.oldest_day_ends_at
        if view.assembled < int(parameters["min_samples"]) or not view.overflowed:
            return Examination()
        is_pressed = view.overflowed / view.assembled >= float(parameters["min_overflow_ratio"])
        due = ends_at if ends_at is not None and ends_at > now else None
        return Examination((_draft(view),) if is_pressed else (), due)


def _draft(view: AssemblyView) -> Draft:
    share = view.overflowed / view.assembled
    figures: dict[str, Argument] = {"assembled": view.assembled, "overflowed": view.overflowed}
    return Draft(
        parts=(),
        namespace="",
        severity="medium",
        target=Target("entity", ("budget", "assembly")),
        summary=Summary("budget.pressure", {**figures, "percent": round(share * 100)}),
        proposal=Proposal(advice=figures),
        evidence=(),
        count=view.overflowed,
        confidence=round(share, 4),
    )

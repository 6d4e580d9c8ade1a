"""An applied recommendation that did not help: what it was to prevent happens again. Its apply is proposed for undoing.

One finding per recommendation, whatever the horizon: a later one brings the same finding up to date.
"""

from __future__ import annotations

from provenloop.analyzers.contract import (
    Examination,
    Manifest,
    Marks,
    MeasuredView,
    Parameters,
    View,
    no_marks,
)
from provenloop.domain.errors import AnalyzerError
from provenloop.domain.instants import DAY_MS
from provenloop.domain.proposal import Proposal
from provenloop.domain.recommendation import Draft, Summary, Target


class OutcomeReview:
    """See the module."""

    manifest = Manifest(
        id="loop.outcome_review/1",
        title="Outcome review",
        line="What an applied change was to prevent happens again.",
        tier="T0",
        trust="builtin",
        default_on=True,
        sources=("measured",),
    )

    def examine(self, view: View, parameters: Parameters, now: int, marks: Marks = no_marks) -> Examination:
        """Look at one applied recommendation with a checkpoint that came out regressed."""
        del parameters, now, marks
        if not isinstance(view, MeasuredView):
            raise AnalyzerError("outcome_review looks at measured recommendations")
        return Examination((_draft(view),) if view.errors > 0 else ())


def _draft(view: MeasuredView) -> Draft:
    return Draft(
        parts=(view.recommendation,),
        namespace=view.namespace,
        severity="high",
        target=Target("entity", ("recommendations", view.recommendation)),
        summary=Summary(
            "outcome.regression",
            {
                "recommendation": view.recommendation,
                "metric": view.metric,
                "baseline": _rate(view.baseline_errors, view.baseline_calls),
                "current": _rate(view.errors, view.calls),
                "errors": view.errors,
                "calls": view.calls,
                "horizon_days": view.horizon_ms // DAY_MS,
            },
        ),
        proposal=Proposal(revert_of=view.recommendation),
        evidence=view.evidence,
        count=view.errors,
        confidence=0.8,
    )


def _rate(errors: int, calls: int) -> float:
    """Errors per call to 4 decimals; without calls, how many errors there were at all."""
    return round(errors / calls, 4) if calls else float(errors)

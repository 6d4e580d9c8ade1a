"""A question that is asked again and again and mostly finds no answer.

Counts inside a window of UTC days, so a gap that is not asked about any more falls silent, and so does one that has
been filled: what matters is whether asking now finds something.
"""

from __future__ import annotations

from provenloop.analyzers.contract import (
    Examination,
    Manifest,
    Marks,
    Parameter,
    Parameters,
    QuestionView,
    View,
    no_marks,
)
from provenloop.domain.errors import AnalyzerError
from provenloop.domain.grain import Grain, text_of
from provenloop.domain.proposal import Proposal, TextRef
from provenloop.domain.recommendation import Argument, Draft, Summary, Target

QUESTION_FIELD = "text"


class CoverageGap:
    """See the module."""

    manifest = Manifest(
        id="loop.coverage_gap/1",
        title="Coverage gaps",
        line="A question is asked repeatedly and mostly finds no answer.",
        tier="T0",
        trust="builtin",
        default_on=True,
        sources=("question",),
        parameters=(
            Parameter("min_runs", "int", 3, 1, 1_000_000, "times it was asked, at least"),
            Parameter("min_empty_ratio", "float", 0.8, 0, 1, "share that found nothing, at least"),
            Parameter("window_days", "int", 30, 1, 365, "UTC days, today included"),
        ),
        needs=("telemetry",),
    )

    def examine(self, view: View, parameters: Parameters, now: int, marks: Marks = no_marks) -> Examination:
        """Look at one question. Old days leaving the window can end a gap, and can bring one out."""
        del marks
        if not isinstance(view, QuestionView):
            raise AnalyzerError("coverage_gap looks at questions")
        question, ends_at = view.question, view.oldest_day_ends_at
        if question is None or not text_of(question, QUESTION_FIELD) or view.asked < int(parameters["min_runs"]):
            return Examination()
        due = ends_at if view.empty and ends_at is not None and ends_at > now else None
        is_empty = view.empty / view.asked >= float(parameters["min_empty_ratio"]) and view.empty > 0
        is_gap = is_empty and not view.is_answered
        return Examination((_draft(view, question),) if is_gap else (), due)


def _draft(view: QuestionView, question: Grain) -> Draft:
    text = TextRef(question.address, QUESTION_FIELD)
    share = view.empty / view.asked
    figures: dict[str, Argument] = {"question": text, "asked": view.asked, "empty": view.empty}
    return Draft(
        parts=(view.group,),
        namespace=question.namespace,
        severity="medium",
        target=Target("query", (question.namespace, text)),
        summary=Summary("coverage.gap", {**figures, "percent": round(share * 100)}),
        proposal=Proposal(advice=figures),
        evidence=(question.address,),
        count=view.empty,
        confidence=round(share, 4),
    )

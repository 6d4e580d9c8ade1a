"""A question that is asked again and again and mostly finds no answer.

Counts inside a window of UTC days, so a gap that is not asked about any more falls silent, and so does one that has
been filled: what matters is whether asking now finds something. A look-up of a subject or a relation that finds nothing
is a question too.
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

#: Where a question's grain keeps its wording, or else what was looked up.
WORDING = "text"
LOOKED_UP = ("subject", "relation")


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
        if question is None or not _said(question) or view.asked < int(parameters["min_runs"]):
            return Examination()
        due = ends_at if view.empty and ends_at is not None and ends_at > now else None
        is_empty = view.empty / view.asked >= float(parameters["min_empty_ratio"]) and view.empty > 0
        is_gap = is_empty and not view.is_answered
        return Examination((_draft(view, question),) if is_gap else (), due)


def _said(question: Grain) -> dict[str, TextRef]:
    """What was asked, in the asker's words: the question, or else the subject and the relation that were looked up."""
    if text_of(question, WORDING):
        return {"question": TextRef(question.address, WORDING)}
    return {field: TextRef(question.address, field) for field in LOOKED_UP if text_of(question, field)}


def _draft(view: QuestionView, question: Grain) -> Draft:
    said = _said(question)
    share = view.empty / view.asked
    figures: dict[str, Argument] = {**said, "asked": view.asked, "empty": view.empty}
    return Draft(
        parts=(view.group,),
        namespace=question.namespace,
        severity="medium",
        target=Target("query", (question.namespace, *said.values())),
        summary=_summary({**figures, "percent": round(share * 100)}),
        proposal=Proposal(advice=figures),
        evidence=(question.address,),
        count=view.empty,
        confidence=round(share, 4),
    )


def _summary(args: dict[str, Argument]) -> Summary:
    if "question" in args:
        return Summary("coverage.gap", args)
    return Summary("coverage.look_up", {"subject": "any subject", "relation": "any relation", **args})

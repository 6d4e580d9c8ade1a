"""Questions that find no answer, and contexts that drop what was meant to be in them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from provenloop.analyzers.budget_pressure import BudgetPressure
from provenloop.analyzers.contract import AssemblyView, Examination, QuestionView
from provenloop.analyzers.coverage_gap import CoverageGap
from provenloop.domain.proposal import TextRef
from tests.builders import NOW
from tests.grains import make_kind

GAP, PRESSURE = CoverageGap(), BudgetPressure()
QUESTION = make_kind("question", {"text": "where is the parcel?"})
DAY_ENDS = NOW + 9


def asked(times: int, empty: int, *, ends: int | None = DAY_ENDS, **more: Any) -> Examination:
    parameters = {**GAP.manifest.defaults(), **more.pop("parameters", {})}
    view = QuestionView(
        "q", **{"question": QUESTION, "asked": times, "empty": empty, "oldest_day_ends_at": ends, **more}
    )
    return GAP.examine(view, parameters, NOW)


def assembled(times: int, overflowed: int, *, ends: int | None = DAY_ENDS, **parameters: Any) -> Examination:
    view = AssemblyView("a", times, overflowed, ends)
    return PRESSURE.examine(view, {**PRESSURE.manifest.defaults(), **parameters}, NOW)


def test_a_question_that_mostly_finds_nothing_is_advice_that_cites_it() -> None:
    [draft] = asked(5, 4).drafts
    text = TextRef(QUESTION.address, "text")
    assert (draft.parts, draft.namespace, draft.severity, draft.count) == (("q",), "shared", "medium", 4)
    assert (draft.target.scheme, draft.target.parts) == ("query", ("shared", text))
    assert draft.evidence == (QUESTION.address,)
    assert draft.proposal.advice == {"question": text, "asked": 5, "empty": 4}
    assert draft.summary.args["percent"] == 80


def test_a_look_up_that_finds_nothing_is_a_question_too() -> None:
    about = make_kind("question", {"subject": "sam", "relation": "lives_in"}, address="a" * 64)
    [draft] = asked(4, 4, question=about).drafts
    subject, relation = TextRef("a" * 64, "subject"), TextRef("a" * 64, "relation")
    assert draft.target.parts == ("shared", subject, relation)
    assert draft.proposal.advice == {"subject": subject, "relation": relation, "asked": 4, "empty": 4}
    assert (draft.summary.template, draft.evidence) == ("coverage.look_up", ("a" * 64,))


def test_a_look_up_that_names_only_a_relation_says_so() -> None:
    about = make_kind("question", {"relation": "lives_in"}, address="a" * 64)
    [draft] = asked(4, 4, question=about).drafts
    assert draft.target.parts == ("shared", TextRef("a" * 64, "relation"))
    assert draft.summary.args["subject"] == "any subject"


@pytest.mark.parametrize(
    ("times", "empty", "fires"),
    [(3, 3, True), (2, 2, False), (5, 4, True), (10, 8, True), (10, 7, False), (5, 0, False), (0, 0, False)],
)
def test_it_must_be_asked_often_enough_and_be_empty_often_enough(times: int, empty: int, fires: bool) -> None:
    assert bool(asked(times, empty).drafts) is fires


def test_a_gap_that_has_been_filled_is_none() -> None:
    assert asked(9, 9, is_answered=True).drafts == ()


def test_a_question_that_always_finds_something_is_no_gap_at_any_ratio() -> None:
    assert asked(9, 0, parameters={"min_empty_ratio": 0.0}).drafts == ()


@pytest.mark.parametrize("gone", [None, replace(QUESTION, state="forgotten", body={})])
def test_a_question_whose_text_is_gone_is_not_told_of(gone: Any) -> None:
    assert asked(9, 9, question=gone) == Examination()


def test_while_it_fires_or_could_the_end_of_the_oldest_day_is_due() -> None:
    assert asked(9, 9).next_due_at == DAY_ENDS
    assert asked(9, 3).next_due_at == DAY_ENDS
    assert asked(9, 9, is_answered=True).next_due_at == DAY_ENDS
    assert asked(2, 2).next_due_at is None
    assert asked(9, 0).next_due_at is None
    assert asked(9, 9, ends=None).next_due_at is None


def test_contexts_that_mostly_drop_something_are_one_finding_of_the_memory() -> None:
    [draft] = assembled(20, 10).drafts
    assert (draft.parts, draft.severity, draft.count, draft.evidence) == ((), "medium", 10, ())
    assert (draft.target.scheme, draft.target.parts) == ("entity", ("budget", "assembly"))
    assert draft.proposal.advice == {"assembled": 20, "overflowed": 10}
    assert draft.summary.args["percent"] == 50


@pytest.mark.parametrize(
    ("times", "overflowed", "fires"),
    [(20, 10, True), (19, 19, False), (20, 9, False), (1000, 500, True), (20, 0, False)],
)
def test_there_must_be_enough_contexts_and_enough_of_them_must_drop_something(
    times: int, overflowed: int, fires: bool
) -> None:
    assert bool(assembled(times, overflowed).drafts) is fires


def test_while_there_is_pressure_or_could_be_the_end_of_the_oldest_day_is_due() -> None:
    assert assembled(20, 10).next_due_at == DAY_ENDS
    assert assembled(40, 10).next_due_at == DAY_ENDS
    assert assembled(19, 19).next_due_at is None
    assert assembled(40, 0).next_due_at is None
    assert assembled(20, 10, ends=NOW).next_due_at is None

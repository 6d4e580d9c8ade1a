"""An applied change that did not help is proposed for undoing."""

from __future__ import annotations

from typing import Any

from provenloop.analyzers.contract import Examination, MeasuredView
from provenloop.analyzers.outcome_review import OutcomeReview
from provenloop.domain.proposal import Proposal
from tests.builders import DAY_MS, NOW

ANALYZER = OutcomeReview()


def examined(**more: Any) -> Examination:
    fields: dict[str, Any] = {
        "group": "rec", "namespace": "shared", "recommendation": "rec", "metric": "tool_error_recurrence",
        "baseline_errors": 5, "baseline_calls": 6, "errors": 2, "calls": 3, "horizon_ms": 7 * DAY_MS,
        "evidence": ("a", "b"), **more,
    }  # fmt: skip
    return ANALYZER.examine(MeasuredView(**fields), {}, NOW)


def test_a_change_that_did_not_hold_is_proposed_for_undoing() -> None:
    [draft] = examined().drafts
    assert (draft.parts, draft.severity, draft.evidence, draft.count) == (("rec",), "high", ("a", "b"), 2)
    assert draft.proposal == Proposal(revert_of="rec")
    assert (draft.proposal.is_applicable, draft.proposal.is_rollbackable) == (True, False)
    assert draft.summary.args == {
        "recommendation": "rec", "metric": "tool_error_recurrence", "baseline": 0.8333, "current": 0.6667,
        "errors": 2, "calls": 3, "horizon_days": 7,
    }  # fmt: skip


def test_a_later_horizon_is_the_same_finding() -> None:
    first, later = examined(horizon_ms=DAY_MS).drafts[0], examined(horizon_ms=30 * DAY_MS).drafts[0]
    assert (first.parts, first.proposal) == (later.parts, later.proposal)


def test_nothing_that_happened_again_is_no_regression() -> None:
    assert examined(errors=0) == Examination()


def test_without_calls_the_number_itself_is_shown() -> None:
    assert examined(calls=0, errors=2).drafts[0].summary.args["current"] == 2.0

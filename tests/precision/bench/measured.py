"""Cases of outcome_review: what was measured, given to the analyzer itself.

A step is ``{"measured": {"metric", "baseline", "current", "horizon"}, "as": recommendation}`` with errors and calls of
both; each is looked at by itself, and a finding is told by the recommendation whose apply it proposes to undo.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from provenloop.analyzers.contract import Examination, MeasuredView
from provenloop.analyzers.outcome_review import OutcomeReview
from provenloop.domain.recommendation import Draft
from tests.precision.bench.cases import Case
from tests.precision.bench.steps import Step, namespace_of
from tests.precision.bench.times import NOW, instant


def review(case: Case) -> Counter[str]:
    """What the analyzer finds; two drafts of the same parts are one finding."""
    drafts = [draft for step in case.events for draft in _examine(step).drafts]
    namespaces = {(step["as"], namespace_of(step)) for step in case.events}
    found = {(draft.namespace, draft.parts): draft for draft in drafts}
    return Counter(_told(draft, namespaces) for draft in found.values())


def _told(draft: Draft, namespaces: Collection[tuple[str, str]]) -> str:
    target = draft.proposal.revert_of or "nothing"
    return target if (target, draft.namespace) in namespaces else f"{target}!"


def _examine(step: Step) -> Examination:
    given = step["measured"]
    view = MeasuredView(
        group=step["as"],
        namespace=namespace_of(step),
        recommendation=step["as"],
        metric=given["metric"],
        baseline_errors=given["baseline"][0],
        baseline_calls=given["baseline"][1],
        errors=given["current"][0],
        calls=given["current"][1],
        horizon_ms=NOW - instant(given["horizon"]),
    )
    return OutcomeReview().examine(view, OutcomeReview.manifest.defaults(), NOW)

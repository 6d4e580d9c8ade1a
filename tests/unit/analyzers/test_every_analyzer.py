"""What holds of every analyzer, whatever the grains look like that it is shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenloop.analyzers import ANALYZERS
from provenloop.analyzers.contract import (
    AgedView,
    Analyzer,
    AppliedMark,
    AssemblyView,
    ClusterView,
    Examination,
    GrainView,
    MeasuredView,
    NearView,
    QuestionView,
    Source,
    ToolView,
    View,
)
from provenloop.domain.canonical import canonical_json
from provenloop.domain.errors import AnalyzerError
from provenloop.domain.grain import Grain, GrainKind
from provenloop.domain.proposal import MAX_OPERATIONS
from provenloop.domain.recommendation import MAX_EVIDENCE, Draft
from provenloop.domain.rollup import ToolWindow
from provenloop.services.texts import TEMPLATES, render
from tests.builders import DAY_MS, NOW
from tests.grains import MARK, odd_grains

FEW: Mapping[str, Any] = {
    "min_practice": 1, "max_proficiency": 1.0, "min_age_days": 1, "max_progress": 1.0, "min_runs": 1, "max_age_days": 1,
    "min_empty_ratio": 0.1, "min_samples": 1, "min_overflow_ratio": 0.1, "max_recalls": 9, "jaccard": 0.5,
}  # fmt: skip
"""Parameters under which nearly everything fires."""

VIEWS: Mapping[Source, Callable[[Sequence[Grain]], View]] = {
    "tool_window": lambda _grains: ToolView("g", "shared", ToolWindow("g", (), ()), ""),
    "cluster": lambda grains: ClusterView("g", tuple(grains)),
    "grain": lambda grains: GrainView("g", min(grains, key=lambda grain: grain.address, default=None)),
    "near": lambda grains: NearView(min((g.address for g in grains), default="g"), tuple(grains)),
    "question": lambda grains: QuestionView(
        "g", min(grains, key=lambda g: g.address, default=None), 9, 9, False, NOW + 1
    ),
    "assembly": lambda _grains: AssemblyView("g", 20, 20, NOW + 1),
    "aged": lambda grains: AgedView("shared", "shared", tuple(grains), len(grains) + 3),
    "measured": lambda _grains: MeasuredView("g", "shared", "rec", "tool_error_recurrence", 4, 5, 3, 5, DAY_MS),
}
CASES = [
    pytest.param(analyzer, source, id=f"{analyzer.manifest.id} {source}")
    for analyzer in ANALYZERS
    for source in analyzer.manifest.sources
]
every_case = pytest.mark.parametrize(("analyzer", "source"), CASES)


def examined(analyzer: Analyzer, source: Source, grains: Sequence[Grain], now: int = NOW) -> Examination:
    return analyzer.examine(VIEWS[source](grains), _firing(analyzer), now)


def _firing(analyzer: Analyzer) -> dict[str, Any]:
    defaults = analyzer.manifest.defaults()
    return {**defaults, **{name: value for name, value in FEW.items() if name in defaults}}


@every_case
@given(data=st.data())
def test_odd_grains_fail_no_analyzer_and_their_order_does_not_matter(
    analyzer: Analyzer, source: Source, data: st.DataObject
) -> None:
    grains = data.draw(odd_grains(_likely_kind(analyzer, source)))
    examination = examined(analyzer, source, grains)
    assert examined(analyzer, source, data.draw(st.permutations(grains))) == examination
    assert examination.next_due_at is None or examination.next_due_at > NOW
    for draft in examination.drafts:
        assert_in_bounds(draft, {grain.address: grain for grain in grains})
        assert_shows_no_text_of_a_grain(draft)
        assert_has_a_summary(draft)
    assert len({(draft.namespace, draft.parts) for draft in examination.drafts}) == len(examination.drafts)


def _likely_kind(analyzer: Analyzer, source: Source) -> GrainKind:
    kinds = analyzer.manifest.kinds
    return kinds[0] if kinds and source != "near" else "observation"


def assert_in_bounds(draft: Draft, grains: Mapping[str, Grain]) -> None:
    """No more evidence and operations than there is room for, all of grains as they are, in one namespace."""
    assert len(draft.evidence) <= MAX_EVIDENCE
    assert set(draft.evidence) <= grains.keys()
    assert len(draft.proposal.operations) <= MAX_OPERATIONS
    assert 0 <= draft.confidence <= 1
    proposal = draft.proposal
    assert bool(proposal.operations) + (proposal.advice is not None) + (proposal.revert_of is not None) == 1
    for operation in proposal.operations:
        named = {address for address in (operation.target, operation.into) if address is not None}
        assert operation.expects == {address: grains[address].head_rev for address in named}
        assert all(grains[address].is_current for address in named)
        assert {grains[address].namespace for address in named} == {draft.namespace}


def assert_shows_no_text_of_a_grain(draft: Draft) -> None:
    """Texts are referred to, never copied, but for the parts of the key, which are hashed before they are stored."""
    stored = {name: value for name, value in asdict(draft).items() if name != "parts"}
    assert MARK not in canonical_json(stored)


def assert_has_a_summary(draft: Draft) -> None:
    """Its template is known, and every argument of it is there."""
    assert draft.summary.template in TEMPLATES
    assert "missing>" not in render(draft.summary.template, draft.summary.args)


@every_case
def test_a_view_of_another_source_is_an_error_of_the_analyzer(analyzer: Analyzer, source: Source) -> None:
    del source
    for other in VIEWS.keys() - set(analyzer.manifest.sources):
        with pytest.raises(AnalyzerError):
            examined(analyzer, other, [])


@pytest.mark.parametrize("source", ["cluster", "grain", "near", "aged"])
@given(data=st.data())
def test_what_was_read_before_an_apply_settled_it_proposes_no_change(source: Source, data: st.DataObject) -> None:
    grains = data.draw(odd_grains("observation" if source == "near" else "fact"))
    old = [replace(grain, seq=3) for grain in grains]
    marked = AppliedMark(NOW - 1, 4)
    for analyzer in (a for a in ANALYZERS if source in a.manifest.sources):
        examination = analyzer.examine(VIEWS[source](old), _firing(analyzer), NOW, lambda *_key: marked)
        assert all(draft.proposal.advice is not None for draft in examination.drafts)

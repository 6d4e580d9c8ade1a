"""Which failures of a tool make a finding, how grave it is, and when time alone changes the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenloop.analyzers.contract import AppliedMark, ClusterView, Examination, Marks, ToolView, no_marks
from provenloop.analyzers.tool_failure import LESSON_RELATION, WHOLE_TOOL, ToolFailure
from provenloop.domain.checkpoint import HORIZONS_MS, Watch
from provenloop.domain.commit import Change
from provenloop.domain.errors import AnalyzerError
from provenloop.domain.instants import day_start_ms, utc_day
from provenloop.domain.proposal import TextRef
from provenloop.domain.recommendation import Draft
from provenloop.domain.rollup import SignatureDay, Tally, ToolDay, ToolWindow
from tests.builders import DAY_MS, NOW

ANALYZER = ToolFailure()
DEFAULTS = ANALYZER.manifest.defaults()


def called(number: int, signature: str | None, at: int) -> Change:
    return Change(
        "add", "tool_call", f"{number:064x}", "shared", "tool-1", signature, signature is not None, occurred_at=at
    )


def history(*batches: tuple[int, str | None, int]) -> list[Change]:
    """Calls in batches of (how many, signature or None, when)."""
    numbers = count(1)
    return [called(next(numbers), signature, at + n) for many, signature, at in batches for n in range(many)]


def view_of(changes: Sequence[Change]) -> ToolView:
    """What a pass would hand over: the rollups of the changes."""
    tally = Tally(())
    for change in changes:
        tally.add(change)
    days = tuple(row for row in tally.touched if isinstance(row, ToolDay))
    signatures = tuple(row for row in tally.touched if isinstance(row, SignatureDay))
    sample = min((day.sample for day in days), default="")
    return ToolView("tool-1", "shared", ToolWindow("tool-1", days, signatures), sample)


def examined(
    *batches: tuple[int, str | None, int], marks: Marks = no_marks, now: int = NOW, **parameters: Any
) -> Examination:
    return ANALYZER.examine(view_of(history(*batches)), {**DEFAULTS, **parameters}, now, marks)


def found(*batches: tuple[int, str | None, int], **more: Any) -> dict[str, Draft]:
    """Drafts by signature."""
    return {draft.parts[1]: draft for draft in examined(*batches, **more).drafts}


def fires(errors: int, calls: int, **parameters: Any) -> str | None:
    """The severity of a tool that failed with one error so often, None where it is no finding."""
    drafts = found((errors, "s1", NOW - 1000), (calls - errors, None, NOW - 1000), **parameters)
    assert set(drafts) <= {"s1"}
    return drafts["s1"].severity if drafts else None


@pytest.mark.parametrize(
    ("errors", "calls", "severity"),
    [
        (0, 5, None),
        (2, 2, None),
        (3, 3, "medium"),
        (4, 4, "medium"),
        (5, 5, "high"),
        (3, 7, "low"),
        (3, 8, None),
        (4, 10, "low"),
        (5, 7, "high"),
        (7, 10, "high"),
        (69, 100, "medium"),
        (70, 100, "high"),
        (5, 10, "medium"),
        (6, 13, "low"),
        (49, 149, None),
        (50, 250, "medium"),
        (49, 100, "low"),
        (400, 2000, "medium"),
        (50, 50, "high"),
    ],
)
def test_a_cluster_fires_by_count_and_rate_or_by_count_alone(errors: int, calls: int, severity: str | None) -> None:
    assert fires(errors, calls) == severity


@pytest.mark.parametrize(
    ("parameters", "severity"),
    [
        ({"min_count": 4}, None),
        ({"min_rate": 0.5}, None),
        ({"min_rate": 0.5, "min_abs": 3}, "low"),
        ({"min_count": 1}, "low"),
    ],
)
def test_parameters_move_the_thresholds(parameters: dict[str, Any], severity: str | None) -> None:
    assert fires(3, 7, **parameters) == severity


def test_each_signature_of_a_tool_is_a_finding_of_its_own() -> None:
    drafts = found((6, "s1", NOW - 1000), (5, "s2", NOW - 1000), (1, "s3", NOW - 1000))
    assert {signature: draft.count for signature, draft in drafts.items()} == {"s1": 6, "s2": 5}
    assert len({draft.parts for draft in drafts.values()}) == 2


def test_a_draft_says_what_it_rests_on() -> None:
    draft = found((5, "s1", NOW - 1000), (2, None, NOW - 500))["s1"]
    newest = [f"{n:064x}" for n in (5, 4, 3, 2, 1)]
    tool, example = TextRef(f"{1:064x}", "tool"), TextRef(newest[0], "signature")
    assert draft.parts == ("tool-1", "s1")
    assert (draft.target.scheme, draft.target.parts) == ("entity", ("lessons", tool))
    assert draft.summary.template == "tool_failure.cluster"
    assert draft.summary.args == {
        "tool": tool, "errors": 5, "calls": 7, "percent": 71, "signature": example, "signatures": 1,
    }  # fmt: skip
    [step] = draft.proposal.operations
    assert step.fact is not None
    assert (step.op, step.fact.subject, step.fact.relation, step.fact.object) == ("ADD", tool, LESSON_RELATION, example)
    assert step.fact.confidence == draft.confidence == 0.7143
    assert list(draft.evidence) == newest
    assert draft.metric is not None
    assert (draft.metric.baseline_errors, draft.metric.baseline_calls, draft.metric.signature) == (5, 7, "s1")


def test_evidence_is_the_newest_of_each_day_and_at_most_64() -> None:
    draft = found(*((20, "s1", NOW - n * DAY_MS) for n in range(12)))["s1"]
    assert draft.count == 240
    assert len(draft.evidence) == 64
    assert draft.evidence[0] == f"{20:064x}"


@pytest.mark.parametrize(
    ("errors", "calls", "severity"),
    [(9, 9, None), (10, 10, "high"), (10, 25, "low"), (10, 26, None), (40, 60, "medium")],
)
def test_many_different_errors_together_make_a_finding_of_the_tool(
    errors: int, calls: int, severity: str | None
) -> None:
    each = [(1, f"s{n}", NOW - 1000) for n in range(errors)]
    drafts = found(*each, (calls - errors, None, NOW - 1000))
    assert {signature: draft.severity for signature, draft in drafts.items()} == (
        {WHOLE_TOOL: severity} if severity else {}
    )
    if severity:
        draft = drafts[WHOLE_TOOL]
        assert (draft.summary.template, draft.summary.args["signatures"]) == ("tool_failure.tool", errors)
        assert draft.metric is not None
        assert draft.metric.signature is None


def test_no_finding_of_the_tool_where_one_signature_fires_already() -> None:
    each = [(1, f"s{n}", NOW - 1000) for n in range(20)]
    assert set(found(*each, (14, "main", NOW - 1000))) == {"main"}


def test_errors_beyond_the_day_s_limit_of_signatures_count_for_the_tool_only() -> None:
    view = view_of(history(*((1, f"s{n}", NOW - 1000) for n in range(560))))
    drafts = ANALYZER.examine(view, DEFAULTS, NOW).drafts
    assert [draft.parts[1] for draft in drafts] == [WHOLE_TOOL]
    assert drafts[0].count == 560


def test_the_tool_comes_due_again_when_the_window_loses_its_oldest_day() -> None:
    examination = examined((3, "s1", NOW - 2 * DAY_MS), (4, None, NOW - 5 * DAY_MS))
    assert examination.next_due_at == day_start_ms(utc_day(NOW - 5 * DAY_MS)) + 30 * DAY_MS


def test_a_tool_that_never_failed_never_comes_due() -> None:
    assert examined((9, None, NOW - 1000)).next_due_at is None
    assert examined().next_due_at is None


def test_a_tool_that_nearly_fires_comes_due_since_good_calls_may_leave_the_window_first() -> None:
    examination = examined((3, "s1", NOW), (9, None, NOW - 10 * DAY_MS))
    assert examination.drafts == ()
    assert examination.next_due_at == day_start_ms(utc_day(NOW - 10 * DAY_MS)) + 30 * DAY_MS


def watched(calls: int, errors: int, *, signature: str | None = "s1", at: int = NOW - DAY_MS) -> Marks:
    """An apply of one finding, and what its watch has counted since."""
    counted = dict.fromkeys(HORIZONS_MS, calls)
    watch = Watch(
        "rec", "tool-1", signature, at, 7, calls=counted if calls else {}, errors=dict.fromkeys(counted, errors)
    )
    wanted = WHOLE_TOOL if signature is None else signature

    def marks(namespace: str, parts: Sequence[str]) -> AppliedMark | None:
        return AppliedMark(at, 7, watch) if (namespace, parts) == ("shared", ("tool-1", wanted)) else None

    return marks


BEFORE = (5, "s1", NOW - 3 * DAY_MS)


@pytest.mark.parametrize(
    ("calls", "errors", "again"), [(0, 0, False), (2, 2, False), (3, 3, True), (8, 3, False), (7, 3, True)]
)
def test_what_was_applied_fires_again_only_on_calls_that_came_after(calls: int, errors: int, again: bool) -> None:
    after = (errors, "s1", NOW - 1000), (calls - errors, None, NOW - 1000)
    drafts = found(BEFORE, *after, marks=watched(calls, errors))
    assert set(drafts) == ({"s1"} if again else set())
    if again:
        assert drafts["s1"].count == errors
        assert list(drafts["s1"].evidence) == [f"{5 + n:064x}" for n in range(errors, 0, -1)]


def test_an_apply_older_than_the_window_hides_nothing() -> None:
    marks = watched(0, 0, at=NOW - 31 * DAY_MS)
    assert set(found((3, "s1", NOW - 1000), marks=marks)) == {"s1"}


def test_an_apply_whose_watch_this_pass_has_not_seen_yet_hides_what_came_before_it() -> None:
    def marks(namespace: str, parts: Sequence[str]) -> AppliedMark | None:
        return AppliedMark(NOW - 1000, 7, None) if (namespace, parts) == ("shared", ("tool-1", "s1")) else None

    assert found(BEFORE, marks=marks) == {}


def test_the_other_signature_of_a_tool_still_fires_after_an_apply() -> None:
    assert set(found(BEFORE, (4, "s2", NOW - 3 * DAY_MS), marks=watched(0, 0))) == {"s2"}


def test_what_was_applied_for_one_signature_is_not_found_again_as_a_failure_of_the_whole_tool() -> None:
    many = (12, "s1", NOW - 3 * DAY_MS)
    assert found(many, marks=watched(0, 0)) == {}
    assert found(many, (9, "s2", NOW - 3 * DAY_MS), marks=watched(0, 0), min_count=10) == {}
    others = [(1, f"o{n}", NOW - 3 * DAY_MS) for n in range(12)]
    assert {signature: draft.count for signature, draft in found(many, *others, marks=watched(0, 0)).items()} == {
        WHOLE_TOOL: 12
    }


def test_what_was_applied_for_the_whole_tool_fires_again_on_what_came_after_only() -> None:
    each = [(1, f"s{n}", NOW - 3 * DAY_MS) for n in range(20)]
    assert found(*each, marks=watched(0, 0, signature=None)) == {}
    later = [(1, f"t{n}", NOW - 1000) for n in range(10)]
    drafts = found(*each, *later, marks=watched(10, 10, signature=None))
    assert {signature: draft.count for signature, draft in drafts.items()} == {WHOLE_TOOL: 10}


def test_a_view_of_something_else_is_an_error_of_the_analyzer() -> None:
    with pytest.raises(AnalyzerError):
        ANALYZER.examine(ClusterView("g", ()), DEFAULTS, NOW)


BATCHES = st.lists(
    st.tuples(st.integers(1, 8), st.sampled_from([None, "s1", "s2", "s3"]), st.integers(NOW - 20 * DAY_MS, NOW)),
    max_size=6,
)


@given(
    BATCHES.map(lambda batches: history(*batches)).flatmap(lambda made: st.tuples(st.just(made), st.permutations(made)))
)
def test_the_answer_does_not_depend_on_the_order_in_which_calls_came(orders: tuple[list[Change], list[Change]]) -> None:
    first, second = (ANALYZER.examine(_sorted(view_of(order)), DEFAULTS, NOW) for order in orders)
    assert first == second


def _sorted(view: ToolView) -> ToolView:
    """Rows in key order, as a query reads them."""
    days = tuple(sorted(view.window.days, key=lambda row: row.day))
    rows = tuple(sorted(view.window.signatures, key=lambda row: (row.day, row.signature)))
    return replace(view, window=replace(view.window, days=days, signatures=rows))


@given(BATCHES)
def test_every_finding_meets_the_thresholds_and_cites_its_own_errors(
    batches: list[tuple[int, str | None, int]],
) -> None:
    changes = history(*batches)
    by_address = {change.address: change for change in changes}
    for draft in ANALYZER.examine(view_of(changes), DEFAULTS, NOW).drafts:
        matching = [c for c in changes if c.is_error and draft.parts[1] in (c.signature, WHOLE_TOOL)]
        assert draft.count == len(matching) >= (10 if draft.parts[1] == WHOLE_TOOL else 3)
        assert draft.count / len(changes) >= 0.4 or draft.count >= 50
        assert {by_address[address] for address in draft.evidence} <= set(matching)


# cured


@pytest.mark.parametrize(("failed", "later", "fires"), [(10, 9, True), (10, 10, False), (4, 9, True), (4, 10, False)])
def test_a_failure_is_cured_by_as_many_calls_on_later_days_and_at_least_ten(
    failed: int, later: int, fires: bool
) -> None:
    drafts = found((failed, "s", NOW - 20 * DAY_MS), (later, None, NOW - DAY_MS), min_rate=0.1)
    assert list(drafts) == (["s"] if fires else [])


def test_calls_of_the_day_of_the_last_error_cure_nothing() -> None:
    assert list(found((10, "s", NOW - DAY_MS), (10, None, NOW - DAY_MS + 1000))) == ["s"]


def test_a_cured_failure_that_comes_back_fires_again() -> None:
    assert list(found((10, "s", NOW - 20 * DAY_MS), (10, None, NOW - 9 * DAY_MS), (1, "s", NOW))) == ["s"]


def test_many_failures_together_are_cured_as_one() -> None:
    each = [(2, f"s{n}", NOW - 20 * DAY_MS + 1000 * n) for n in range(6)]
    assert list(found(*each, (11, None, NOW - DAY_MS), min_rate=0.4)) == [WHOLE_TOOL]
    assert list(found(*each, (12, None, NOW - DAY_MS), min_rate=0.4)) == []

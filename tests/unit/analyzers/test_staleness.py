"""When a grain whose validity has ended is proposed for removal, and how grave that is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenloop.analyzers.contract import AppliedMark, Examination, GrainView, Marks, no_marks
from provenloop.analyzers.staleness import Staleness
from provenloop.domain.grain import Grain, GrainKind
from provenloop.domain.proposal import Operation, TextRef
from provenloop.domain.recommendation import Draft
from tests.builders import DAY_MS, NOW, make_grain
from tests.grains import KINDS, make_kind

ANALYZER = Staleness()
HOUR_MS = 3_600_000


def examined(grain: Grain | None, *, now: int = NOW, grace_days: int = 0, marks: Marks = no_marks) -> Examination:
    return ANALYZER.examine(GrainView("g", grain), {"grace_days": grace_days}, now, marks)


def found(grain: Grain | None, **more: Any) -> Draft | None:
    drafts = examined(grain, **more).drafts
    return drafts[0] if drafts else None


def ended(ago_ms: int, **more: Any) -> Grain:
    return make_grain("promo", valid_to=NOW - ago_ms, **more)


def test_a_grain_whose_validity_ended_is_proposed_for_removal() -> None:
    grain = ended(10 * DAY_MS, head_rev=4)
    draft = found(grain)
    assert draft is not None
    assert (draft.parts, draft.severity, draft.evidence, draft.count) == (
        (grain.address,), "low", (grain.address,), 1,
    )  # fmt: skip
    assert (draft.target.scheme, draft.target.parts) == ("grain", (grain.address,))
    assert draft.proposal.operations == (Operation("FORGET", target=grain.address, expects={grain.address: 4}),)
    assert (draft.proposal.is_destructive, draft.proposal.is_rollbackable) == (True, False)
    assert draft.summary.args == {
        "label": TextRef(grain.address, "subject"), "kind": "fact", "ended": "2027-01-05T08:00:00.000Z",
    }  # fmt: skip


def test_at_the_end_itself_nothing_fires_one_millisecond_later_it_does() -> None:
    grain = ended(0)
    assert found(grain) is None
    assert examined(grain).next_due_at == NOW + 1
    assert found(grain, now=NOW + 1) is not None


def test_the_grace_is_waited_out_strictly() -> None:
    grain = ended(7 * DAY_MS)
    assert found(grain, grace_days=7) is None
    assert examined(grain, grace_days=7).next_due_at == NOW + 1
    assert found(grain, grace_days=7, now=NOW + 1) is not None
    assert found(grain, grace_days=6) is not None


@pytest.mark.parametrize(
    ("age_ms", "severity"),
    [
        (1, "low"),
        (90 * DAY_MS, "low"),
        (90 * DAY_MS + 23 * HOUR_MS, "low"),
        (91 * DAY_MS - 1, "low"),
        (91 * DAY_MS, "medium"),
        (100 * DAY_MS, "medium"),
    ],
)
def test_the_age_counts_in_whole_days_and_more_than_ninety_are_medium(age_ms: int, severity: str) -> None:
    draft = found(ended(age_ms))
    assert draft is not None
    assert draft.severity == severity


def test_the_instant_at_which_it_grows_graver_is_due_and_after_that_nothing() -> None:
    assert examined(ended(90 * DAY_MS)).next_due_at == NOW + DAY_MS
    assert examined(ended(91 * DAY_MS)).next_due_at is None


def test_with_a_grace_beyond_ninety_days_it_fires_as_medium() -> None:
    grain = ended(100 * DAY_MS)
    assert examined(grain, grace_days=100).next_due_at == NOW + 1
    draft = found(grain, grace_days=100, now=NOW + 1)
    assert draft is not None
    assert draft.severity == "medium"


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_goes_stale(kind: GrainKind) -> None:
    assert found(make_kind(kind, {}, valid_to=NOW - 1)) is not None
    assert kind in ANALYZER.manifest.kinds


@pytest.mark.parametrize(
    ("grain", "label"),
    [
        (make_kind("skill", {"name": "triage"}, address="a" * 64), TextRef("a" * 64, "name")),
        (make_kind("goal", {"name": "ship"}, address="a" * 64), TextRef("a" * 64, "name")),
        (make_kind("tool_call", {"tool": "refund"}, address="a" * 64), TextRef("a" * 64, "tool")),
        (make_kind("observation", {"text": "the door was open"}, address="a" * 64), "a" * 12),
        (make_kind("fact", {}, address="a" * 64), "a" * 12),
    ],
)
def test_it_is_named_by_its_subject_name_or_tool_or_else_by_its_address(grain: Grain, label: object) -> None:
    draft = found(replace(grain, valid_to=NOW - 1))
    assert draft is not None
    assert draft.summary.args["label"] == label


@pytest.mark.parametrize("state", ["superseded", "forgotten"])
def test_what_was_superseded_or_forgotten_is_nobody_s_concern(state: Any) -> None:
    assert examined(ended(DAY_MS, state=state)) == Examination()


def test_without_an_end_or_without_a_grain_there_is_nothing_and_nothing_is_due() -> None:
    assert examined(make_grain()) == Examination()
    assert examined(None) == Examination()


def test_a_grain_healed_by_a_later_end_is_not_found_until_then() -> None:
    healed = ended(-5)
    assert found(healed) is None
    assert examined(healed).next_due_at == NOW + 6


def test_a_grain_that_was_read_before_it_was_forgotten_is_not_found_again() -> None:
    grain = ended(DAY_MS, seq=3)
    assert found(grain, marks=lambda *_key: AppliedMark(NOW, 4)) is None
    assert found(replace(grain, seq=5, generation=2), marks=lambda *_key: AppliedMark(NOW, 4)) is not None


@given(
    st.integers(-3, 3).flatmap(lambda days: st.integers(-2, 2).map(lambda ms: (91 + days) * DAY_MS + ms)),
    st.sampled_from([0, 1, 90, 91, 92, 200]),
    st.integers(0, 3 * DAY_MS),
)
def test_time_alone_changes_the_answer_only_when_it_was_said_to_be_due(age: int, grace: int, later: int) -> None:
    first = examined(ended(age), grace_days=grace)
    due = first.next_due_at
    assert due is None or due > NOW
    if due is None or NOW + later < due:
        assert examined(ended(age), grace_days=grace, now=NOW + later).drafts == first.drafts
    if due is not None:
        before, at = (examined(ended(age), grace_days=grace, now=now).drafts for now in (due - 1, due))
        assert before != at

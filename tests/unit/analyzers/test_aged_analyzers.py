"""Facts that nobody recalls, and grains older than the retention policy allows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from provenloop.analyzers.cold_grains import MAX_NAMED, ColdGrains
from provenloop.analyzers.contract import AgedView, Analyzer, AppliedMark, Examination, Marks, no_marks
from provenloop.analyzers.retention_sweep import RetentionSweep
from provenloop.domain.grain import Grain, GrainKind
from provenloop.domain.instants import day_start_ms
from provenloop.domain.proposal import MAX_OPERATIONS, TextRef
from provenloop.domain.recommendation import MAX_EVIDENCE, Draft
from tests.builders import DAY_MS, NOW, make_grain
from tests.grains import KINDS, make_kind

COLD, RETENTION = ColdGrains(), RetentionSweep()


def examined(
    analyzer: Analyzer, grains: list[Grain], *, count: int | None = None, now: int = NOW, marks: Marks = no_marks,
    **parameters: Any,
) -> Examination:  # fmt: skip
    view = AgedView("g", "shared", tuple(grains), len(grains) if count is None else count)
    return analyzer.examine(view, {**analyzer.manifest.defaults(), **parameters}, now, marks)


def only(examination: Examination) -> Draft:
    [draft] = examination.drafts
    return draft


def aged(count: int, days: int = 40, **more: Any) -> list[Grain]:
    return [make_grain(f"value {n:03}", at=NOW - days * DAY_MS + n, relation="likes", **more) for n in range(count)]


# cold grains


def test_cold_facts_of_a_namespace_are_one_piece_of_advice_oldest_first() -> None:
    grains = aged(3)
    draft = only(examined(COLD, grains[::-1]))
    assert (draft.parts, draft.namespace, draft.severity, draft.count) == (("2027-W02",), "shared", "low", 3)
    assert draft.evidence == tuple(grain.address for grain in grains)
    assert draft.proposal.advice == {
        "week": "2027-W02", "count": 3, "named": 3, "rest": 0, "oldest": TextRef(grains[0].address, "subject"),
    }  # fmt: skip


def test_at_most_fifty_are_named_and_the_rest_is_counted() -> None:
    grains = aged(80)
    draft = only(examined(COLD, grains, count=3000))
    assert draft.evidence == tuple(grain.address for grain in grains[:MAX_NAMED])
    assert (draft.count, draft.summary.args["named"], draft.summary.args["rest"]) == (3000, MAX_NAMED, 2950)


def test_a_new_week_is_a_new_finding_and_its_start_is_due() -> None:
    monday = day_start_ms("20270118")
    assert examined(COLD, aged(1)).next_due_at == monday
    assert only(examined(COLD, aged(1), now=monday - 1)).parts == ("2027-W02",)
    assert only(examined(COLD, aged(1), now=monday)).parts == ("2027-W03",)
    assert examined(COLD, [], now=monday) == Examination((), day_start_ms("20270125"))


def test_the_age_is_inclusive_and_an_unknown_time_is_no_age() -> None:
    grain = make_grain(at=NOW - 30 * DAY_MS)
    assert examined(COLD, [grain]).drafts != ()
    assert examined(COLD, [grain], now=NOW - 1).drafts == ()
    assert examined(COLD, [make_grain(at=0)]).drafts == ()


@pytest.mark.parametrize(
    "grain",
    [
        make_grain(relation="fails_with", at=1_790_000_000_000),
        make_grain(relation="failsWith", at=1_790_000_000_000),
        make_grain(at=1_790_000_000_000, state="superseded"),
        make_grain(at=1_790_000_000_000, valid_to=NOW),
        make_grain(at=1_790_000_000_000, namespace="team"),
        make_kind("observation", {"text": "x"}, at=1_790_000_000_000),
    ],
    ids=["lesson", "spelling of a lesson", "superseded", "expired", "another namespace", "no fact"],
)
def test_lessons_and_what_does_not_hold_are_never_cold(grain: Grain) -> None:
    assert examined(COLD, [grain]).drafts == ()
    left = only(examined(COLD, [grain, *aged(1)], count=9))
    assert left.count == 8


# retention


def test_without_a_policy_nothing_is_ever_old() -> None:
    assert examined(RETENTION, aged(3, days=5000)) == Examination()


def test_grains_beyond_the_policy_are_forgotten_in_one_batch_oldest_first() -> None:
    grains = aged(3)
    draft = only(examined(RETENTION, grains[::-1], max_age_days=30))
    assert [(step.op, step.target) for step in draft.proposal.operations] == [("FORGET", g.address) for g in grains]
    assert (draft.parts, draft.severity, draft.count) == ((grains[0].address,), "low", 3)
    assert (draft.target.scheme, draft.target.parts) == ("host", ("retention", "shared"))
    assert draft.proposal.is_destructive
    args = draft.summary.args
    assert (args["named"], args["rest"], args["max_age_days"]) == (3, 0, 30)
    assert args["oldest"] == "2026-12-06T08:00:00.000Z"


def test_the_age_must_be_exceeded() -> None:
    grain = make_grain(at=NOW - 30 * DAY_MS)
    assert examined(RETENTION, [grain], max_age_days=30).drafts == ()
    assert examined(RETENTION, [grain], max_age_days=30, now=NOW + 1).drafts != ()


def test_an_unknown_time_is_never_ancient() -> None:
    grains = [make_grain(at=0), make_grain("x", at=-1)]
    assert examined(RETENTION, grains, max_age_days=1).drafts == ()


def test_a_batch_is_bounded_and_says_how_many_follow_and_how_many_are_not_cited() -> None:
    draft = only(examined(RETENTION, aged(100), count=3000, max_age_days=1))
    assert len(draft.proposal.operations) == MAX_OPERATIONS
    assert len(draft.evidence) == MAX_EVIDENCE
    args = draft.summary.args
    assert (args["named"], args["rest"], args["not_cited"]) == (80, 2920, 16)
    few = only(examined(RETENTION, aged(100), count=3000, max_age_days=1, max_grains=5))
    assert (len(few.proposal.operations), few.summary.args["rest"]) == (5, 2995)


def test_what_is_left_after_a_batch_is_the_next_finding() -> None:
    grains = aged(100)
    first = only(examined(RETENTION, grains, max_age_days=1))
    second = only(examined(RETENTION, grains[80:], max_age_days=1))
    assert second.parts != first.parts
    assert len(second.proposal.operations) == 20


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_swept_and_may_be_named_alone(kind: GrainKind) -> None:
    mixed = [make_kind(other, {"n": other}, at=NOW - 40 * DAY_MS) for other in KINDS]
    every = only(examined(RETENTION, mixed, max_age_days=30))
    assert len(every.proposal.operations) == len(KINDS)
    alone = only(examined(RETENTION, mixed, max_age_days=30, grain_type=kind))
    assert [step.target for step in alone.proposal.operations] == [g.address for g in mixed if g.kind == kind]
    assert (alone.count, alone.summary.args["rest"]) == (1, 0)


@pytest.mark.parametrize("more", [{"state": "superseded"}, {"state": "forgotten"}, {"namespace": "team"}])
def test_what_is_gone_or_elsewhere_is_not_swept(more: dict[str, Any]) -> None:
    assert examined(RETENTION, [replace(aged(1)[0], **more)], max_age_days=1).drafts == ()


def test_a_batch_that_was_read_before_it_was_forgotten_is_not_found_again() -> None:
    assert examined(RETENTION, aged(3), max_age_days=1, marks=lambda *_key: AppliedMark(NOW, 4)).drafts == ()

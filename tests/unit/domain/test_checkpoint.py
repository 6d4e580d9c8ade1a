"""What a window says of an applied change, and what a watch counts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenloop.domain.checkpoint import (
    GRACE_MS,
    HORIZONS_MS,
    LATE_MS,
    Checkpoint,
    Reading,
    Verdict,
    Watch,
    last_verdict,
    verdict_of,
    watch_of,
    watched_by,
    wilson_upper,
)
from provenloop.domain.commit import Change, ChangeOp, LogEntry
from provenloop.domain.recommendation import Metric
from tests.builders import DAY_MS, NOW

TOOL = Metric("tool_error_recurrence", 5, 7, 30, "tool-1", "s1")
CONFLICT = Metric("contradiction_recurrence", 0, 2, 0, "aaaaaaaa11111111")
COPY = Metric("duplicate_recurrence", 1, 2, 0, "aaaaaaaa11111111")
FACT = "aaaaaaaa22222222" + "0" * 48
DAY, WEEK, MONTH = HORIZONS_MS


@pytest.mark.parametrize(
    ("errors", "calls", "bound"), [(1, 8, 0.4709), (0, 10, 0.2775), (1, 1000, 0.0056), (5, 5, 1.0), (0, 0, 1.0)]
)
def test_the_upper_bound_is_the_wilson_interval_of_95_percent(errors: int, calls: int, bound: float) -> None:
    assert wilson_upper(errors, calls) == pytest.approx(bound, abs=5e-5)


@given(st.integers(1, 10_000), st.data())
def test_the_upper_bound_lies_between_the_rate_and_one(calls: int, data: st.DataObject) -> None:
    errors = data.draw(st.integers(0, calls))
    assert errors / calls <= wilson_upper(errors, calls) <= 1


@pytest.mark.parametrize(
    ("metric", "errors", "calls", "verdict"),
    [
        (TOOL, 0, 0, "inconclusive"),
        (TOOL, 0, 1, "held"),
        (TOOL, 1, 1, "regressed"),
        (TOOL, 1, 8, "regressed"),
        (TOOL, 1, 12, "held"),
        (TOOL, 1, 1000, "held"),
        (replace(TOOL, baseline_errors=1, baseline_calls=1000), 1, 1000, "regressed"),
        (replace(TOOL, baseline_errors=0, baseline_calls=0), 1, 1000, "regressed"),
        (CONFLICT, 0, 0, "inconclusive"),
        (CONFLICT, 0, 3, "held"),
        (CONFLICT, 1, 0, "regressed"),
        (COPY, 1, 1000, "regressed"),
        (COPY, 0, 1, "held"),
    ],
)
def test_a_verdict_compares_rates_of_a_tool_and_takes_any_recurrence_of_facts(
    metric: Metric, errors: int, calls: int, verdict: Verdict
) -> None:
    assert verdict_of(metric, Reading(errors, calls)) == verdict


def planned(horizon_ms: int = DAY, **more: Any) -> Checkpoint:
    return Checkpoint("rec", horizon_ms, NOW + horizon_ms + GRACE_MS, **more)


def test_a_window_begins_after_the_apply_and_ends_with_its_horizon_whenever_it_is_measured() -> None:
    assert (planned(WEEK).begins_at, planned(WEEK).ends_at) == (NOW, NOW + WEEK)


def test_much_less_than_before_has_held_and_is_told_as_reduced() -> None:
    measured = planned().measured(TOOL, Reading(1, 1000), NOW)
    assert (measured.verdict, measured.is_reduced, measured.measured_at) == ("held", True, NOW)
    assert not planned().measured(TOOL, Reading(0, 5), NOW).is_reduced


def test_what_comes_late_stands_beside_the_verdict_and_turns_held_into_regressed_once() -> None:
    measured = planned().measured(TOOL, Reading(0, 3), NOW)
    quiet = measured.with_late(TOOL, Reading(0, 4), NOW + 1)
    assert (quiet.verdict, quiet.late_calls, quiet.calls, quiet.corrected_at) == ("held", 1, 3, None)
    corrected = quiet.with_late(TOOL, Reading(2, 6), NOW + 2)
    assert (corrected.verdict, corrected.errors, corrected.late_errors, corrected.late_calls) == ("regressed", 0, 2, 3)
    assert (corrected.corrected_at, corrected.told_at) == (NOW + 2, NOW + 2)
    again = corrected.with_late(TOOL, Reading(2, 5000), NOW + 3)
    assert (again.verdict, again.corrected_at) == ("regressed", NOW + 2)


def test_what_comes_late_makes_no_verdict_of_an_inconclusive_one_and_never_takes_one_back() -> None:
    unknown = planned().measured(TOOL, Reading(0, 0), NOW).with_late(TOOL, Reading(1, 1), NOW + 1)
    assert (unknown.verdict, unknown.late_errors) == ("inconclusive", 1)
    bad = planned().measured(TOOL, Reading(1, 1), NOW).with_late(TOOL, Reading(0, 0), NOW + 1)
    assert (bad.verdict, bad.late_errors, bad.late_calls) == ("regressed", 0, 0)


def test_the_longest_horizon_that_tells_something_has_the_word() -> None:
    first, second, third = planned(DAY, verdict="regressed"), planned(WEEK, verdict="inconclusive"), planned(MONTH)
    assert last_verdict([third, second, first]) == first
    assert last_verdict([second, third]) == second
    assert last_verdict([third]) is None


# watches


def entry(*changes: Change, seq: int = 9, at: int = NOW + 5000) -> LogEntry:
    return LogEntry(seq, "c", at, "ann", changes)


def called(at: int | None = NOW + 1, *, op: ChangeOp = "add", signature: str = "s1", **more: Any) -> Change:
    failed = {"is_error": True, "signature": signature} if signature else {}
    return Change(op, "tool_call", FACT, "shared", tool_key="tool-1", occurred_at=at, **{**failed, **more})


def counted(watch: Watch, *changes: Change, seq: int = 9, at: int = NOW + 5000) -> dict[int, tuple[int, int]]:
    for change in changes:
        watch = watch.fed(entry(change, seq=seq, at=at), change) or watch
    return {horizon: watch.reading(horizon) for horizon in HORIZONS_MS if watch.reading(horizon) != (0, 0)}


LESSON = watch_of("rec", TOOL, at=NOW, seq=7)
SUBJECT = watch_of("rec", CONFLICT, at=NOW, seq=7)


@pytest.mark.parametrize(
    ("at", "horizons"),
    [
        (NOW, ()),
        (NOW + 1, HORIZONS_MS),
        (NOW + DAY, HORIZONS_MS),
        (NOW + DAY + 1, (WEEK, MONTH)),
        (NOW + MONTH, (MONTH,)),
        (NOW + MONTH + 1, ()),
    ],
)
def test_a_call_counts_for_every_horizon_whose_window_it_lies_in(at: int, horizons: tuple[int, ...]) -> None:
    assert counted(LESSON, called(at)) == dict.fromkeys(horizons, (1, 1))


def test_a_call_of_the_applys_commit_or_an_earlier_one_does_not_count() -> None:
    assert counted(LESSON, called(), seq=7) == {}


def test_another_error_is_a_call_and_no_recurrence_unless_the_whole_tool_is_watched() -> None:
    other = called(signature="s2")
    assert counted(LESSON, other)[DAY] == (0, 1)
    assert counted(replace(LESSON, signature=None), other)[DAY] == (1, 1)
    assert counted(LESSON, called(signature=""))[DAY] == (0, 1)


def test_a_forgotten_call_is_taken_back_if_it_was_counted() -> None:
    gone = called(op="forget", counted_in=9)
    assert counted(LESSON, called(), gone) == {}
    assert counted(LESSON, gone, called()) == {}
    assert counted(LESSON, called(), called(op="forget", counted_in=7), called(op="forget"))[DAY] == (1, 1)


def said(op: ChangeOp = "add", address: str = FACT, at: int | None = None) -> Change:
    return Change(op, "fact", address, "shared", occurred_at=at)


@pytest.mark.parametrize(
    ("op", "uses"), [("add", 1), ("restate", 1), ("revive", 1), ("change", 1), ("read", 1), ("point", 0), ("forget", 0)]
)
def test_writes_and_reads_of_the_subject_are_what_facts_are_exposed_to(op: ChangeOp, uses: int) -> None:
    assert counted(SUBJECT, said(op)) == (dict.fromkeys(HORIZONS_MS, (0, 1)) if uses else {})


def test_what_is_not_dated_happened_when_it_was_committed() -> None:
    assert set(counted(SUBJECT, said(), at=NOW + 2 * DAY_MS)) == {WEEK, MONTH}
    assert counted(SUBJECT, said(at=NOW - 1)) == {}


def test_a_watch_is_found_by_the_tool_or_by_the_subject_of_a_change() -> None:
    assert watched_by(called()) == LESSON.watched == "tool-1"
    assert watched_by(said()) == SUBJECT.watched == "aaaaaaaa"
    assert watched_by(Change("add", "observation", FACT, "shared")) is None


@pytest.mark.parametrize(
    ("now", "at", "horizon"),
    [
        (NOW + DAY + GRACE_MS, NOW + DAY, DAY),
        (NOW + DAY + GRACE_MS - 1, NOW + DAY, None),
        (NOW + DAY + GRACE_MS, NOW + DAY + 1, None),
        (NOW + WEEK - 1, NOW + 1, DAY),
        (NOW + WEEK, NOW + 1, None),
        (NOW + WEEK + GRACE_MS, NOW + 1, WEEK),
        (NOW + MONTH + GRACE_MS, NOW + 1, MONTH),
        (NOW + MONTH + GRACE_MS + LATE_MS - 1, NOW + 1, MONTH),
        (NOW + MONTH + GRACE_MS + LATE_MS, NOW + 1, None),
        (NOW + DAY + GRACE_MS, NOW, None),
    ],
)
def test_a_change_is_late_for_a_measured_horizon_until_the_next_is_reached_and_for_the_last_a_week(
    now: int, at: int, horizon: int | None
) -> None:
    change = called(at)
    assert LESSON.late_for(entry(change, at=now), change, now) == horizon


OPS: st.SearchStrategy[tuple[int, int]] = st.tuples(st.integers(NOW - 5, NOW + MONTH + 5), st.integers(5, 12))


@given(st.lists(OPS, max_size=8), st.randoms(use_true_random=False))
def test_calls_may_be_counted_and_taken_back_in_any_order(calls: list[tuple[int, int]], order: Any) -> None:
    steps = [(called(at), seq) for at, seq in calls]
    steps += [(called(at, op="forget", counted_in=seq), 20) for at, seq in calls[::2]]
    order.shuffle(steps)
    watch = LESSON
    for change, seq in steps:
        watch = watch.fed(entry(change, seq=seq), change) or watch
    left = [(at, seq) for at, seq in calls[1::2] if seq > 7]
    for horizon in HORIZONS_MS:
        inside = sum(NOW < at <= NOW + horizon for at, _ in left)
        assert watch.reading(horizon) == (inside, inside)

"""What a failing tool is compared to: its calls of the 30 days before the apply, not of when it was last looked at."""

from __future__ import annotations

import pytest

from provenloop.domain.recommendation import Metric
from provenloop.services.outcomes import outcomes
from tests.builders import DAY_MS, Desk, make_calls, make_tool_call
from tests.faults import Fault, FaultLayer, Kind

HOUR_MS = 3_600_000
ERROR = "card declined"


def approved(desk: Desk) -> str:
    """An approved lesson about 5 of 7 calls; an approved one is refreshed no more."""
    rec_id = desk.finding("tool_failure")
    desk.approve(rec_id)
    return rec_id


def measured_a_day_later(desk: Desk, rec_id: str) -> tuple[int, int]:
    """The baseline once the first horizon is measured, as errors and calls."""
    desk.run(at=desk.now + DAY_MS + 2 * HOUR_MS)
    metric = desk.recommendation(rec_id).metric
    assert metric is not None
    return metric.baseline_errors, metric.baseline_calls


def test_calls_between_the_last_look_and_the_apply_belong_to_the_baseline(found: Desk) -> None:
    rec_id = approved(found)
    found.record(*make_calls(1, 40, name="between"))
    found.apply(rec_id)
    found.record(*make_calls(2, 3, name="after"))
    assert measured_a_day_later(found, rec_id) == (6, 48)
    found.verify()


def test_calls_after_the_apply_do_not_though_they_fall_on_its_day(found: Desk) -> None:
    rec_id = approved(found)
    found.apply(rec_id)
    found.record(*make_calls(4, 30, name="after"))
    found.run()
    assert measured_a_day_later(found, rec_id) == (5, 7)


def test_what_is_older_than_thirty_days_has_left_it(found: Desk) -> None:
    rec_id = approved(found)
    found.now += 20 * DAY_MS
    found.record(*make_calls(1, 9, name="later"))
    found.now += 11 * DAY_MS
    found.apply(rec_id)
    assert measured_a_day_later(found, rec_id) == (1, 10)


def test_other_errors_of_the_tool_are_calls_of_it_and_no_errors_of_this_one(found: Desk) -> None:
    rec_id = approved(found)
    found.record(make_tool_call("other", error="no route to host"))
    found.apply(rec_id)
    assert measured_a_day_later(found, rec_id) == (5, 8)


def test_a_call_of_before_the_apply_that_arrives_before_the_first_horizon_belongs_to_it(found: Desk) -> None:
    rec_id = approved(found)
    found.apply(rec_id)
    began = found.now
    found.now += HOUR_MS
    found.record(make_tool_call("late", error=ERROR, occurred_at=began - HOUR_MS))
    assert measured_a_day_later(found, rec_id) == (6, 8)
    found.record(make_tool_call("much later", error=ERROR, occurred_at=began - HOUR_MS))
    found.run(at=began + 8 * DAY_MS)
    assert found.recommendation(rec_id).metric == Metric("tool_error_recurrence", 6, 8, 30, *subject_of(found, rec_id))


def subject_of(desk: Desk, rec_id: str) -> tuple[str, str | None]:
    metric = desk.recommendation(rec_id).metric
    assert metric is not None
    return metric.subject_key, metric.signature


def test_where_no_call_is_left_in_the_window_what_the_finding_rested_on_stands(found: Desk) -> None:
    rec_id = approved(found)
    found.now += 60 * DAY_MS
    found.apply(rec_id)
    assert measured_a_day_later(found, rec_id) == (5, 7)


def test_the_verdict_is_held_against_it(found: Desk) -> None:
    rec_id = approved(found)
    found.record(*make_calls(0, 80, name="good"))
    found.apply(rec_id)
    found.record(*make_calls(1, 40, name="after"))
    assert measured_a_day_later(found, rec_id) == (5, 87)
    [row] = outcomes(found.store, found.call())["recommendations"]
    assert (row["metric"]["baseline_calls"], row["series"][0]["verdict"]) == (87, "regressed")


@pytest.mark.parametrize("kind", [Kind.CRASH_BEFORE, Kind.CRASH_AFTER])
def test_it_is_taken_once_whatever_fails(found: Desk, kind: Kind) -> None:
    rec_id = approved(found)
    found.record(*make_calls(1, 40, name="between"))
    found.apply(rec_id)
    found.now += DAY_MS + 2 * HOUR_MS
    layer = FaultLayer(found.client)
    try:
        layer.survives(found.run, Fault(kind, 3, "TransactWriteItems"))
    finally:
        layer.remove()
    assert measured_a_day_later(found, rec_id) == (6, 48)

"""The baseline of a failing tool: its errors and calls of the 30 days before the apply.

A UTC day is the smallest grain that is kept: the window is the day of the apply and the 29 days before it. The day of
the apply is cut at the apply: all that is counted of it belongs to the baseline but for what the watch has counted. So
it is taken when the first horizon is measured, by when everything that came before the apply has been folded; what
arrives later than that changes it no more. Errors beyond the 500 signatures of a tool-day have no row of their own, and
are not in the baseline of a signature.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from provenloop.domain.checkpoint import Watch
from provenloop.domain.instants import days_before, utc_day
from provenloop.domain.recommendation import Metric
from provenloop.domain.rollup import Rollup, RowId, SignatureDay, ToolDay

BASELINE_DAYS = 30


def baseline_rows(watch: Watch) -> tuple[RowId, ...]:
    """The ids of the rows that a baseline is made of; none of facts, whose baseline is no rate."""
    if watch.of != "tool":
        return ()
    last = utc_day(watch.applied_at)
    days = [days_before(last, count) for count in range(BASELINE_DAYS)]
    tool = [(watch.subject_key, day) for day in days]
    return (*tool, *((*row, watch.signature) for row in tool if watch.signature is not None))


def with_baseline(metric: Metric, watch: Watch, rows: Iterable[Rollup]) -> Metric:
    """The metric with the baseline that those rows come to; as it was where no call is left in them."""
    found = list(rows)
    tool = [row for row in found if isinstance(row, ToolDay)]
    calls = sum(row.calls for row in tool) - watch.day_calls
    if calls <= 0:
        return metric
    failed = (row.errors for row in tool)
    if watch.signature is not None:
        failed = (row.n for row in found if isinstance(row, SignatureDay))
    errors = min(calls, max(0, sum(failed) - watch.day_errors))
    return replace(metric, baseline_errors=errors, baseline_calls=calls, window_days=BASELINE_DAYS)

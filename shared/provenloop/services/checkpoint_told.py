"""A metric and its checkpoints as callers see them."""

from __future__ import annotations

from typing import Any

from provenloop.domain.checkpoint import Checkpoint
from provenloop.domain.instants import format_instant
from provenloop.domain.recommendation import Metric


def checkpoint_told(checkpoint: Checkpoint) -> dict[str, Any]:
    """``{horizon_ms, due_at, verdict, reduced, errors, calls, measured_at, late}``; ``late`` is None where nothing came
    into the window after it was measured.
    """
    return {
        "horizon_ms": checkpoint.horizon_ms,
        "due_at": format_instant(checkpoint.due_at),
        "verdict": checkpoint.verdict,
        "reduced": checkpoint.is_reduced,
        "errors": checkpoint.errors,
        "calls": checkpoint.calls,
        "measured_at": _time(checkpoint.measured_at),
        "late": _late(checkpoint),
    }


def metric_told(metric: Metric | None) -> dict[str, Any] | None:
    """What is measured again, and what it was before the apply."""
    if metric is None:
        return None
    return {
        "name": metric.name,
        "baseline_errors": metric.baseline_errors,
        "baseline_calls": metric.baseline_calls,
        "window_days": metric.window_days,
    }


def _late(checkpoint: Checkpoint) -> dict[str, Any] | None:
    if not checkpoint.late_errors and not checkpoint.late_calls:
        return None
    return {
        "errors": checkpoint.late_errors,
        "calls": checkpoint.late_calls,
        "corrected_at": _time(checkpoint.corrected_at),
    }


def _time(at: int | None) -> str | None:
    return None if at is None else format_instant(at)

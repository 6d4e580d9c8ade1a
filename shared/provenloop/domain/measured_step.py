"""The step of a chain by which a measurement is told: an applied change stays applied, and its verdict is on record.

Of each horizon at most one, shorter ones first, and of the latest one more where what came late turned its verdict of
held into regressed. It is about the proposal that was applied. Nothing else may stand in such an entry, and nobody but
the engine writes it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple, get_args

from provenloop.domain.audit import engine_author
from provenloop.domain.checkpoint import HORIZONS_MS, Checkpoint, Verdict
from provenloop.domain.recommendation import Recommendation

MEASURER = "engine:measure"
_DIGEST = re.compile(r"[0-9a-f]{64}\Z")
_COUNTS = ("errors", "calls", "late_errors", "late_calls", "baseline_errors", "baseline_calls")
#: What every entry says of the recommendation it is about.
_ABOUT = ("revision", "severity", "proposal")
_EFFECTS = frozenset({*_ABOUT, "horizon_ms", "verdict", *_COUNTS})


class Told(NamedTuple):
    """What the last measured entry of a chain says."""

    horizon_ms: int
    verdict: str


def measured_effects(rec: Recommendation, checkpoint: Checkpoint) -> dict[str, Any]:
    """What the entry of a measured checkpoint holds: numbers, and the verdict they come to."""
    metric = rec.metric
    return {
        "revision": rec.revision,
        "severity": rec.severity,
        "proposal": rec.proposal_digest,
        "horizon_ms": checkpoint.horizon_ms,
        "verdict": checkpoint.verdict,
        "errors": checkpoint.errors,
        "calls": checkpoint.calls,
        "late_errors": checkpoint.late_errors,
        "late_calls": checkpoint.late_calls,
        "baseline_errors": metric.baseline_errors if metric is not None else 0,
        "baseline_calls": metric.baseline_calls if metric is not None else 0,
    }


def is_measured(body: Mapping[str, Any]) -> bool:
    """Whether an entry's fields are those of a measurement that is told."""
    return body.get("from") == "applied" == body.get("to")


def proposal_of(body: Mapping[str, Any]) -> str | None:
    """The digest of the proposal that an entry is about; None where it names none."""
    effects = body.get("effects")
    named = effects.get("proposal") if isinstance(effects, dict) else None
    return named if isinstance(named, str) and _DIGEST.match(named) else None


def told_by(body: Mapping[str, Any], before: Told | None, applied: str | None) -> Told | None:
    """What a measured entry says after the one ``before``; None where no measurement writes such an entry.

    Args:
        applied: the digest of the proposal that was applied.
    """
    effects = body.get("effects")
    if body.get("by") != dict(engine_author(MEASURER)) or body.get("because") is not None:
        return None
    if not isinstance(effects, dict) or effects.keys() != _EFFECTS or not _is_well_formed(effects):
        return None
    if applied is None or proposal_of(body) != applied:
        return None
    told = Told(effects["horizon_ms"], effects["verdict"])
    is_next = before is None or told.horizon_ms > before.horizon_ms
    is_corrected = before == Told(told.horizon_ms, "held") and told.verdict == "regressed"
    if is_next and not effects["late_errors"] and not effects["late_calls"]:
        return told
    return told if is_corrected and effects["late_errors"] > 0 else None


def _is_well_formed(effects: Mapping[str, Any]) -> bool:
    numbers = [effects["horizon_ms"], *(effects[name] for name in _COUNTS)]
    are_counts = all(type(number) is int and number >= 0 for number in numbers)
    return are_counts and effects["horizon_ms"] in HORIZONS_MS and effects["verdict"] in get_args(Verdict)

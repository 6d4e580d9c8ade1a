"""Planned re-measurements of an applied change, and the counters that feed them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from provenloop.domain.recommendation import DAY_MS

Verdict = Literal["held", "regressed", "inconclusive"]
HORIZONS_MS: tuple[int, ...] = (DAY_MS, 7 * DAY_MS, 30 * DAY_MS)
GRACE_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One planned measurement: horizon after the apply, when it falls due, and the verdict once it is measured."""

    recommendation: str
    horizon_ms: int
    due_at: int
    rev: int = 1
    verdict: Verdict | None = None
    errors: int = 0
    calls: int = 0
    measured_at: int | None = None


@dataclass(frozen=True, slots=True)
class Watch:
    """Counts, per horizon, what happens to a tool (and signature) after a lesson about it was applied.

    Only events of later commits than the apply's (``seq``) with ``applied_at < occurred_at <= applied_at + horizon``
    count. ``calls`` and ``errors`` map a horizon in ms to a number.
    """

    recommendation: str
    tool_key: str
    signature: str | None
    applied_at: int
    seq: int
    rev: int = 1
    calls: Mapping[int, int] = field(default_factory=dict)
    errors: Mapping[int, int] = field(default_factory=dict)

    def counts(self, *, seq: int, occurred_at: int) -> bool:
        """Whether an event of that commit and time is measured at all."""
        return seq > self.seq and self.applied_at < occurred_at <= self.applied_at + HORIZONS_MS[-1]

    def with_call(self, *, occurred_at: int, is_match: bool) -> Watch:
        """The watch after one more call of the tool; ``is_match`` when it failed with the watched signature."""
        spans = [horizon for horizon in HORIZONS_MS if occurred_at <= self.applied_at + horizon]
        return replace(
            self,
            calls={horizon: self.calls.get(horizon, 0) + (horizon in spans) for horizon in HORIZONS_MS},
            errors={horizon: self.errors.get(horizon, 0) + (is_match and horizon in spans) for horizon in HORIZONS_MS},
        )

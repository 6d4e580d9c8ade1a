"""Planned re-measurements of an applied change, what they come to, and the counters that feed them.

A checkpoint looks at its own window, however late it is measured: events of later commits than the apply's that
occurred after the apply and not after the horizon. It falls due an hour after the horizon, for what arrives late; what
arrives later still is told beside it until the next horizon is reached, after the last one for a week.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from provenloop.domain.address import ENTITY_CHARS
from provenloop.domain.commit import Change, LogEntry
from provenloop.domain.instants import utc_day
from provenloop.domain.recommendation import DAY_MS, Metric

Verdict = Literal["held", "regressed", "inconclusive"]
HORIZONS_MS: tuple[int, ...] = (DAY_MS, 7 * DAY_MS, 30 * DAY_MS)
GRACE_MS = 3_600_000
#: How long after it fell due the last horizon may still be corrected; the others may until the next one is reached.
LATE_MS = 7 * DAY_MS
TOOL_ERRORS = "tool_error_recurrence"
#: Of a normal distribution, for a two-sided interval of 95 %.
_Z = 1.959963984540054
#: What uses a fact: it is said, in whatever way, or read.
_USES_OF_FACTS = frozenset({"add", "revive", "restate", "change", "read"})


class Reading(NamedTuple):
    """What happened in a window: how often the fault came back, out of how many occasions.

    Occasions are calls of the tool, or writes and reads of the subject's facts.
    """

    errors: int
    calls: int


def wilson_upper(errors: int, calls: int) -> float:
    """Upper bound of the 95 % Wilson interval of a rate; 1 without calls."""
    if calls <= 0:
        return 1.0
    rate, spread = min(errors / calls, 1.0), _Z * _Z / calls
    root = math.sqrt(rate * (1 - rate) / calls + spread / (4 * calls))
    return min(1.0, max(rate, (rate + spread / 2 + _Z * root) / (1 + spread)))


def verdict_of(metric: Metric, reading: Reading) -> Verdict:
    """What a window says. Without any occasion it says nothing.

    A failing tool has held where even the upper bound of its rate is under half the rate from before the apply; of
    facts, any recurrence is one too many.
    """
    if reading.errors <= 0:
        return "held" if reading.calls > 0 else "inconclusive"
    if metric.name != TOOL_ERRORS:
        return "regressed"
    baseline = metric.baseline_errors / metric.baseline_calls if metric.baseline_calls else 0.0
    return "regressed" if wilson_upper(*reading) >= baseline / 2 else "held"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One planned measurement: horizon after the apply, when it falls due, and the verdict once it is measured.

    ``errors`` and ``calls`` are the reading at ``measured_at``; ``late_errors`` and ``late_calls`` what came into the
    window since. ``corrected_at`` is when that turned a verdict of held into regressed, once.
    """

    recommendation: str
    horizon_ms: int
    due_at: int
    rev: int = 1
    verdict: Verdict | None = None
    errors: int = 0
    calls: int = 0
    measured_at: int | None = None
    late_errors: int = 0
    late_calls: int = 0
    corrected_at: int | None = None

    @property
    def ends_at(self) -> int:
        """The last instant of its window."""
        return self.due_at - GRACE_MS

    @property
    def begins_at(self) -> int:
        """The instant of the apply, which the window begins after."""
        return self.ends_at - self.horizon_ms

    @property
    def is_reduced(self) -> bool:
        """Whether the fault came back, and yet much less often than before."""
        return self.verdict == "held" and self.errors > 0

    @property
    def told_at(self) -> int:
        """When its verdict became what it is; 0 while it has none."""
        return self.corrected_at or self.measured_at or 0

    @property
    def whole(self) -> Reading:
        """The reading with what came late."""
        return Reading(self.errors + self.late_errors, self.calls + self.late_calls)

    def next(self) -> Checkpoint | None:
        """The one of the next horizon as it was planned, None after the last."""
        longer = next((horizon for horizon in HORIZONS_MS if horizon > self.horizon_ms), None)
        return None if longer is None else Checkpoint(self.recommendation, longer, self.begins_at + longer + GRACE_MS)

    def measured(self, metric: Metric, reading: Reading, now: int) -> Checkpoint:
        """The checkpoint with its verdict."""
        return replace(
            self,
            verdict=verdict_of(metric, reading),
            errors=reading.errors,
            calls=reading.calls,
            measured_at=now,
            rev=self.rev + 1,
        )

    def with_late(self, metric: Metric, reading: Reading, now: int) -> Checkpoint:
        """The measured checkpoint with what came late beside its verdict, which that may correct once."""
        late = replace(
            self,
            late_errors=max(0, reading.errors - self.errors),
            late_calls=max(0, reading.calls - self.calls),
            rev=self.rev + 1,
        )
        if self.verdict == "held" and verdict_of(metric, late.whole) == "regressed":
            return replace(late, verdict="regressed", corrected_at=now)
        return late


def last_verdict(checkpoints: Iterable[Checkpoint]) -> Checkpoint | None:
    """Of the measured checkpoints the longest that says something; where none does, the longest."""
    ordered = sorted(checkpoints, key=lambda checkpoint: checkpoint.horizon_ms)
    measured = [checkpoint for checkpoint in ordered if checkpoint.verdict is not None]
    telling = [checkpoint for checkpoint in measured if checkpoint.verdict != "inconclusive"]
    return next(reversed(telling or measured), None)


@dataclass(frozen=True, slots=True)
class Regression:
    """On record: the last horizon that said anything of an applied recommendation said that it did not hold."""

    recommendation: str
    at: int = 0


@dataclass(frozen=True, slots=True)
class Watch:
    """Counts, per horizon, what happens to a tool (and signature), or to a subject, after a change was applied.

    Only events of later commits than the apply's (``seq``) with ``applied_at < occurred_at <= applied_at + horizon``
    count. ``calls`` and ``errors`` map a horizon in ms to a number; of facts there are no errors. ``subject_key`` is
    the tool's key, or the cluster of the facts, of which the subject counts. ``day_calls`` and ``day_errors`` are those
    on the UTC day of the apply. ``caught_up`` tells that later commits than the apply's were folded before it, and have
    been counted since.
    """

    recommendation: str
    subject_key: str
    signature: str | None
    applied_at: int
    seq: int
    rev: int = 1
    calls: Mapping[int, int] = field(default_factory=dict)
    errors: Mapping[int, int] = field(default_factory=dict)
    of: Literal["tool", "subject"] = "tool"
    day_calls: int = 0
    day_errors: int = 0
    caught_up: bool = False

    @property
    def ends_at(self) -> int:
        """When nothing it counts is asked for any more."""
        return self.applied_at + HORIZONS_MS[-1] + GRACE_MS + LATE_MS

    @property
    def watched(self) -> str:
        """What :func:`watched_by` gives of a change that this may count."""
        return self.subject_key if self.of == "tool" else self.subject_key[:ENTITY_CHARS]

    def counts(self, *, seq: int, occurred_at: int) -> bool:
        """Whether an event of that commit and time is measured at all."""
        return seq > self.seq and self.applied_at < occurred_at <= self.applied_at + HORIZONS_MS[-1]

    def reading(self, horizon_ms: int) -> Reading:
        """What was counted up to a horizon."""
        return Reading(self.errors.get(horizon_ms, 0), self.calls.get(horizon_ms, 0))

    def fed(self, entry: LogEntry, change: Change) -> Watch | None:
        """The watch with a change counted, or taken back; None where it does not count."""
        at, seq = _occurred_at(entry, change), entry.seq
        if self.of == "subject":
            times = 1 if change.op in _USES_OF_FACTS else 0
        elif change.op == "forget":
            times, seq = -1, change.counted_in or 0
        else:
            times = 1 if change.op == "add" else 0
        if not times or not self.counts(seq=seq, occurred_at=at):
            return None
        is_match = change.is_error and self.signature in (None, change.signature)
        return self._moved(at, times, times if is_match and self.of == "tool" else 0)

    def late_for(self, entry: LogEntry, change: Change, now: int) -> int | None:
        """The horizon (ms) whose window a change came into after it was measured, while that may still be corrected."""
        passed = [horizon for horizon in HORIZONS_MS if self.applied_at + horizon + GRACE_MS <= now]
        if not passed or now >= self._corrected_until(passed[-1]):
            return None
        is_inside = _occurred_at(entry, change) <= self.applied_at + passed[-1]
        return passed[-1] if is_inside and self.fed(entry, change) is not None else None

    def _corrected_until(self, horizon_ms: int) -> int:
        longer = next((horizon for horizon in HORIZONS_MS if horizon > horizon_ms), None)
        return self.ends_at if longer is None else self.applied_at + longer

    def _moved(self, occurred_at: int, calls: int, errors: int) -> Watch:
        spans = [horizon for horizon in HORIZONS_MS if occurred_at <= self.applied_at + horizon]
        on_the_day = utc_day(occurred_at) == utc_day(self.applied_at)
        return replace(
            self,
            day_calls=self.day_calls + calls * on_the_day,
            day_errors=self.day_errors + errors * on_the_day,
            calls={horizon: self.calls.get(horizon, 0) + calls * (horizon in spans) for horizon in HORIZONS_MS},
            errors={horizon: self.errors.get(horizon, 0) + errors * (horizon in spans) for horizon in HORIZONS_MS},
        )


def _occurred_at(entry: LogEntry, change: Change) -> int:
    """When a change happened; what is not dated, when it was committed."""
    return change.occurred_at if change.occurred_at is not None else entry.at


def watched_by(change: Change) -> str | None:
    """Which watches may count a change, by :attr:`Watch.watched`."""
    if change.kind == "tool_call":
        return change.tool_key
    return change.address[:ENTITY_CHARS] if change.kind == "fact" else None


def after_undo(recommendation: str) -> str:
    """Whose watch counts, once a change that did not hold was undone, the evidence that its finding needs anew."""
    return f"{recommendation}+undone"


def watch_of(recommendation: str, metric: Metric, *, at: int, seq: int) -> Watch:
    """A new watch, for what a metric measures from ``at`` (epoch ms) and commit ``seq`` on."""
    of: Literal["tool", "subject"] = "tool" if metric.name == TOOL_ERRORS else "subject"
    return Watch(recommendation, metric.subject_key, metric.signature, at, seq, of=of)

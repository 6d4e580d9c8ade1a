"""What a checkpoint reads of its window: how often what a change was to prevent came back, and how often it could have.

How often is what the watch counted, whatever the metric. Errors of a tool are there too; of facts, one query of the
cluster tells which values were live at the window's end, and which of them came after the apply.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from provenloop.analyzers.reading import by_value, facts_by_cluster, value_of
from provenloop.domain.checkpoint import TOOL_ERRORS, Checkpoint, Reading, Watch
from provenloop.domain.grain import Grain
from provenloop.domain.instants import utc_day
from provenloop.domain.names import MemoryId
from provenloop.domain.recommendation import MAX_EVIDENCE, Metric, Recommendation
from provenloop.services.as_of import live_at
from provenloop.services.ports import Store

DUPLICATES = "duplicate_recurrence"


@dataclass(frozen=True, slots=True)
class Window:
    """A checkpoint's window: events of later commits than ``seq`` that occurred after ``begins_at``, up to ``ends_at``
    (epoch ms).
    """

    seq: int
    begins_at: int
    ends_at: int

    def holds(self, grain: Grain) -> bool:
        """Whether a version of a grain came about in the window."""
        occurred_at = grain.occurred_at if grain.occurred_at is not None else grain.since
        return grain.seq > self.seq and self.begins_at < occurred_at <= self.ends_at


def reading_of(
    store: Store, memory: MemoryId, rec: Recommendation, metric: Metric, checkpoint: Checkpoint, watch: Watch | None,
    now: int,
) -> Reading:  # fmt: skip
    """What happened in a checkpoint's window. Where nothing has watched, nothing is known to have happened."""
    if watch is None:
        return Reading(0, 0)
    counted = watch.reading(checkpoint.horizon_ms)
    if metric.name == TOOL_ERRORS:
        return counted
    window = Window(watch.seq, checkpoint.begins_at, checkpoint.ends_at)
    grains = store.grains_by_prefix(memory, metric.subject_key, now)
    facts = _found_among(rec, grains)
    live = list(_live(store, memory, facts, window))
    again = _copies_again(rec, facts, live, window) if metric.name == DUPLICATES else _values_again(live, window)
    return Reading(again, counted.calls)


def happened_again(
    store: Store, memory: MemoryId, rec: Recommendation, metric: Metric, checkpoint: Checkpoint, now: int
) -> tuple[str, ...]:
    """Addresses of what a checkpoint's window brought again, newest first, at most 64: failed calls, or facts."""
    window = Window(0, checkpoint.begins_at, checkpoint.ends_at)
    if metric.name == TOOL_ERRORS:
        return _failed_calls(store, memory, metric, window)
    facts = _found_among(rec, store.grains_by_prefix(memory, metric.subject_key, now))
    came = {grain.address: grain for grain in _live(store, memory, facts, window) if window.holds(grain)}
    return tuple(sorted(came, key=lambda address: (-came[address].recorded_at, address)))[:MAX_EVIDENCE]


def _failed_calls(store: Store, memory: MemoryId, metric: Metric, window: Window) -> tuple[str, ...]:
    """Of the calls that each day keeps of each signature, those in the window."""
    days = store.tool_window(memory, metric.subject_key, utc_day(window.begins_at), utc_day(window.ends_at))
    kept = (pair for row in days.signatures if metric.signature in (None, row.signature) for pair in row.newest)
    came = sorted((-at, address) for at, address in kept if window.begins_at < at <= window.ends_at)
    return tuple(address for _, address in came)[:MAX_EVIDENCE]


def _found_among(rec: Recommendation, grains: Sequence[Grain]) -> Sequence[Grain]:
    """The facts of the subject and relation that the evidence is about; prefixes of addresses may collide."""
    cited = frozenset(rec.evidence)
    groups = facts_by_cluster(grains).values()
    return next((facts for facts in groups if any(grain.address in cited for grain in facts)), ())


def _live(store: Store, memory: MemoryId, facts: Sequence[Grain], window: Window) -> Iterator[Grain]:
    """What was live at the window's end, as far as it is known by now."""
    yield from live_at(store, memory, facts, window.ends_at)
    for grain in facts:
        came_late = grain.recorded_at > window.ends_at and window.holds(replace(grain, changed_at=None))
        if came_late and grain.generation == 1 and replace(grain, state="current").is_live(window.ends_at):
            yield grain


def _values_again(live: Sequence[Grain], window: Window) -> int:
    """Values beyond the one that is meant to be there, no more than came in the window."""
    values = by_value(live).values()
    came = sum(1 for grains in values if any(map(window.holds, grains)))
    return max(0, min(len(values) - 1, came))


def _copies_again(rec: Recommendation, facts: Sequence[Grain], live: Sequence[Grain], window: Window) -> int:
    """Copies of the fact beyond one, no more than came in the window."""
    cited = {value_of(grain) for grain in facts if grain.address in rec.evidence}
    copies = [grain for grain in live if value_of(grain) in cited]
    return max(0, min(len(copies) - 1, sum(map(window.holds, copies))))

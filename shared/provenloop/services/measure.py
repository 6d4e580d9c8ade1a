"""Measuring: each checkpoint once, over its own window, and once more where something came late.

The verdict, its audit entry and event, what it means for the dedup key, and the record that a change did not hold are
one transaction. It requires the pass's head and the recommendation as read: a pass that lost its lease measures
nothing, and neither does one that an undo overtakes. A checkpoint that is found measured stays as it is, so a crash
repeats nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from provenloop.domain.audit import engine_author, head_after, next_entry
from provenloop.domain.baseline import baseline_rows, with_baseline
from provenloop.domain.checkpoint import HORIZONS_MS, Checkpoint, Reading, Regression, Watch
from provenloop.domain.commit import PassHead
from provenloop.domain.errors import BusyError
from provenloop.domain.lifecycle import require_step
from provenloop.domain.measured_step import MEASURER, measured_effects
from provenloop.domain.names import MemoryId
from provenloop.domain.recommendation import Metric, Recommendation
from provenloop.domain.records import Due
from provenloop.domain.rollup import RowId
from provenloop.services.blame import DUE_WATCH, blame_writes, due_of
from provenloop.services.lease import LeaseLostError
from provenloop.services.outbox import audited
from provenloop.services.ports import Remove, Replace, Require, Store, Write, WriteRefusedError
from provenloop.services.recurrence import reading_of

_MAX_ROUNDS = 5

Writes = Callable[[Recommendation, Metric, Checkpoint], list[Write]]


@dataclass
class Measuring:
    """The measuring of one pass.

    Args:
        folds: gives the pass's head as it is now; every write requires its revision.
        watches: by recommendation, with everything counted so far; those that are done with are taken out.
    """

    store: Store
    memory: MemoryId
    now: int
    folds: Callable[[], PassHead]
    watches: dict[str, Watch]
    measured: int = 0
    touched: dict[str, None] = field(default_factory=dict)

    def measure(self, recommendation: str, horizon_ms: int) -> Due | None:
        """Measure a checkpoint whose time has come, and those after it whose time has come too; what is due next: the
        one after them, or after the last one the end of its watch.

        ``touched`` gains what a review of outcomes has to look at.

        Raises:
            LeaseLostError: another pass took over.
            BusyError: decisions on it kept coming in between.
        """
        for horizon in HORIZONS_MS[HORIZONS_MS.index(horizon_ms) :]:
            rows = self._baseline_rows(recommendation, horizon)
            checkpoint, is_written = self._settled(recommendation, horizon, self._due_writes, rows)
            if checkpoint is None:
                self.stop_watching(recommendation)
                return None
            self.measured += is_written
            following = checkpoint.next()
            if following is not None and following.due_at > self.now:
                return due_of(following)
        watch = self.watches.get(recommendation)
        return None if watch is None else Due(watch.ends_at, DUE_WATCH, recommendation)

    def look_again(self, recommendation: str, horizon_ms: int) -> None:
        """Bring a measured checkpoint up to date with what came late. Raises as :meth:`measure`."""
        self._settled(recommendation, horizon_ms, self._late_writes)

    def stop_watching(self, recommendation: str) -> None:
        """Remove a watch that is done with; only a pass feeds one, and it must have its lease."""
        watch = self.watches.get(recommendation)
        if watch is not None:
            self._is_written([Remove(watch)])

    def _settled(
        self, recommendation: str, horizon_ms: int, writes: Writes, rows: Sequence[RowId] = ()
    ) -> tuple[Checkpoint | None, bool]:
        """The checkpoint as read, None of what is not applied, and whether there was something to write, which is
        written now. ``rows`` are those that the baseline is made of, where it is still to be taken.
        """
        for _ in range(_MAX_ROUNDS):
            rec, checkpoint, counts = self.store.planned(self.memory, recommendation, horizon_ms, rows)
            self.touched[recommendation] = None
            if rec is None or rec.status != "applied" or rec.metric is None or checkpoint is None:
                return None, False
            watch = self.watches.get(recommendation)
            metric = with_baseline(rec.metric, watch, counts) if watch is not None and rows else rec.metric
            wanted = writes(rec, metric, checkpoint)
            if not wanted or self._is_written(wanted):
                return checkpoint, bool(wanted)
        raise BusyError("decisions on one recommendation keep coming in")

    def _baseline_rows(self, recommendation: str, horizon_ms: int) -> Sequence[RowId]:
        """The baseline is taken with the first horizon, and stands from then on."""
        watch = self.watches.get(recommendation)
        return baseline_rows(watch) if watch is not None and horizon_ms == HORIZONS_MS[0] else ()

    def _due_writes(self, rec: Recommendation, metric: Metric, checkpoint: Checkpoint) -> list[Write]:
        if checkpoint.verdict is not None:
            return []
        after = checkpoint.measured(metric, self._reading(rec, metric, checkpoint), self.now)
        told = self._told(replace(rec, metric=metric), checkpoint, after)
        return [*told, *self._meant(rec, after), *self._watch_done(rec, checkpoint)]

    def _late_writes(self, rec: Recommendation, metric: Metric, checkpoint: Checkpoint) -> list[Write]:
        if checkpoint.verdict is None:
            return []
        after = checkpoint.with_late(metric, self._reading(rec, metric, checkpoint), self.now)
        if after.whole == checkpoint.whole:
            return []
        if after.verdict == checkpoint.verdict:
            return [Require(rec, expected=rec.rev), Replace(after, expected=checkpoint.rev)]
        return [*self._told(rec, checkpoint, after), *self._meant(rec, after)]

    def _told(self, rec: Recommendation, before: Checkpoint, after: Checkpoint) -> list[Write]:
        """The verdict as it is now, on the recommendation's chain as well."""
        require_step(rec.status, "applied", "engine")
        entry = next_entry(
            rec.chain,
            subject=rec.id,
            before=rec.status,
            after="applied",
            by=engine_author(MEASURER),
            at=self.now,
            effects=measured_effects(rec, after),
        )
        measured = replace(rec, chain=head_after(entry), rev=rec.rev + 1)
        return [Replace(measured, expected=rec.rev), *audited(entry), Replace(after, expected=before.rev)]

    def _reading(self, rec: Recommendation, metric: Metric, checkpoint: Checkpoint) -> Reading:
        watch = self.watches.get(rec.id)
        return reading_of(self.store, self.memory, rec, metric, checkpoint, watch, self.now)

    def _meant(self, rec: Recommendation, checkpoint: Checkpoint) -> Iterator[Write]:
        """What a verdict changes beside the checkpoint."""
        if checkpoint.verdict == "regressed":
            yield from blame_writes(self.store, self.memory, rec, self.now)
        elif checkpoint.verdict == "held" and checkpoint.horizon_ms != HORIZONS_MS[0]:
            yield Remove(Regression(rec.id))

    def _watch_done(self, rec: Recommendation, checkpoint: Checkpoint) -> Iterator[Write]:
        """A watch whose last horizon is measured after all that might correct it has no use any more."""
        watch = self.watches.get(rec.id)
        if watch is not None and checkpoint.next() is None and self.now >= watch.ends_at:
            yield Remove(watch)

    def _is_written(self, writes: list[Write]) -> bool:
        """Whether the transaction came through; if not, what it found moved is to be read anew."""
        head = self.folds()
        try:
            self.store.transact(self.memory, [Require(head, expected=head.rev), *writes], self.now)
        except WriteRefusedError as refused:
            if any(failure.index == 0 for failure in refused.failures):
                raise LeaseLostError from refused
            return False
        for write in writes:
            if isinstance(write, Remove) and isinstance(write.entity, Watch):
                self.watches.pop(write.entity.recommendation, None)
        return True

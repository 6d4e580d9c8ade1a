"""Fold: every commit is counted exactly once, whatever crashes.

A chunk of changes, the rollups and watches they feed, and the moved watermark are one transaction, conditional on the
pass's own head as it was: so a chunk that is sent twice, or by a pass that lost its lease, changes nothing. A missing
number is never waited for: it becomes a hole that each pass looks at again. One that appears is folded then; one older
than 15 minutes, longer than any writer lives, is closed with an empty entry, so that nobody can write it afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from provenloop.domain.checkpoint import Watch, watched_by
from provenloop.domain.commit import Change, LogEntry, PassHead
from provenloop.domain.errors import TooLargeError
from provenloop.domain.names import MemoryId
from provenloop.domain.rollup import Rollup, RowId, Tally, counted, rows_of
from provenloop.services.catch_up import caught_up
from provenloop.services.lease import LeaseLostError
from provenloop.services.ports import Failure, Put, Replace, Require, Store, Write, WriteRefusedError

HOLE_CLOSES_AFTER_MS = 900_000
MAX_HOLES = 256
MAX_ROWS_A_CHUNK = 90
PAGE = 500
MAX_ENTRIES_A_PASS = 2_000


@dataclass(frozen=True, slots=True)
class Step:
    """One change of one entry, by its place."""

    entry: LogEntry
    index: int

    @property
    def change(self) -> Change:
        """The change itself."""
        return self.entry.changes[self.index]


@dataclass
class Folding:
    """What one pass folds: the moving head, and what was seen on the way."""

    folds: PassHead
    entries: list[LogEntry] = field(default_factory=list)

    @property
    def changes(self) -> Iterator[Change]:
        """Every change that is not analyzed yet."""
        return (change for entry in self.entries for change in entry.changes)

    @property
    def new_grains(self) -> int:
        """Grains stored since the last analyzed pass."""
        return sum(entry.grains for entry in self.entries)

    @property
    def new_errors(self) -> int:
        """Failed tool calls among them."""
        return sum(entry.errors for entry in self.entries)


class Fold:
    """Folds a memory's log up to a number.

    Args:
        watches: the watches that are still counting.
        spent: whether the pass has used up its time; what is left then is folded by the next one.
    """

    def __init__(
        self,
        store: Store,
        memory: MemoryId,
        *,
        now: int,
        watches: Sequence[Watch],
        spent: Callable[[], bool] = lambda: False,
    ) -> None:
        self._store = store
        self._memory = memory
        self._now = now
        self._spent = spent
        self._watches = {watch.recommendation: watch for watch in watches}

    @property
    def watches(self) -> Mapping[str, Watch]:
        """The watches with everything counted so far, by recommendation."""
        return self._watches

    def run(self, folds: PassHead, upto: int) -> Folding:
        """Fold everything up to number ``upto`` that is there, and say what is not analyzed yet.

        Raises:
            LeaseLostError: another pass took over.
        """
        state = Folding(folds)
        state.entries.extend(self._folded_but_not_analyzed(folds))
        self._fold_holes(state)
        upto = min(upto, folds.folded + MAX_ENTRIES_A_PASS)
        while state.folds.folded < upto and len(state.folds.holes) < MAX_HOLES and not self._spent():
            page_end = min(upto, state.folds.folded + PAGE)
            self._fold_range(state, page_end)
        return state

    def _folded_but_not_analyzed(self, folds: PassHead) -> Iterator[LogEntry]:
        """Entries that an earlier pass counted and did not analyze, except those still to be counted."""
        between = self._store.log_entries(self._memory, folds.analyzed, folds.folded)
        yield from (entry for entry in between if entry.seq not in folds.holes and entry.seq not in folds.late)
        if folds.late:
            yield from self._store.log_entries_at(self._memory, folds.late).values()

    def _fold_holes(self, state: Folding) -> None:
        if not state.folds.holes:
            return
        found = dict(self._store.log_entries_at(self._memory, state.folds.holes))
        for seq, missed_at in sorted(state.folds.holes.items()):
            if seq not in found and self._now - missed_at > HOLE_CLOSES_AFTER_MS:
                found[seq] = self._close(seq)
        self._learn_watches(found.values())
        for watch in [watch for watch in self._watches.values() if watch.seq in found and not watch.caught_up]:
            self._catch_up(state, watch)
        self._fold_entries(state, [found[seq] for seq in sorted(found)], ())

    def _learn_watches(self, entries: Iterable[LogEntry]) -> None:
        """Look for watches that were planted after this pass has read those there were."""
        planted = {name for entry in entries for name in entry.watches} - self._watches.keys()
        if planted:
            found = (watch for watch in self._store.watches(self._memory) if watch.recommendation in planted)
            self._watches = {**self._watches, **{watch.recommendation: watch for watch in found}}

    def _catch_up(self, state: Folding, watch: Watch) -> None:
        counted_on = caught_up(self._store, self._memory, watch, state.folds)
        writes: list[Write] = [Require(state.folds, expected=state.folds.rev), Replace(counted_on, expected=watch.rev)]
        try:
            self._store.transact(self._memory, writes, self._now)
        except WriteRefusedError as refused:
            self._forget_removed_watches(refused)
        else:
            self._watches = {**self._watches, watch.recommendation: counted_on}

    def _close(self, seq: int) -> LogEntry:
        """Give a number up; the entry that takes it, ours or one written in the last moment."""
        closing = LogEntry(seq, "closed", self._now, "engine:fold", closed=True)
        try:
            self._store.transact(self._memory, [Put(closing)], self._now)
        except WriteRefusedError:
            return self._store.log_entries_at(self._memory, [seq])[seq]
        return closing

    def _fold_range(self, state: Folding, upto: int) -> None:
        after = state.folds.folded
        entries = self._store.log_entries(self._memory, after, upto)
        there = {entry.seq for entry in entries}
        missing = [seq for seq in range(after + 1, upto + 1) if seq not in there]
        room = MAX_HOLES - len(state.folds.holes)
        if len(missing) > room:
            upto = missing[room] - 1
            entries = tuple(entry for entry in entries if entry.seq <= upto)
            missing = missing[:room]
        self._learn_watches(entries)
        self._fold_entries(state, entries, missing)
        holes = {**state.folds.holes, **dict.fromkeys(missing, self._now)}
        state.folds = replace(state.folds, folded=max(upto, after), holes=holes)

    def _fold_entries(self, state: Folding, entries: Sequence[LogEntry], missing: Sequence[int]) -> None:
        steps: list[Step] = []
        for entry in entries:
            begun = state.folds.partial.get(entry.seq, 0)
            steps.extend(Step(entry, index) for index in range(begun, len(entry.changes)))
        for chunk in chunks(steps):
            self._commit(state, chunk, missing)
        for entry in entries:
            state.folds = _with_entry_done(state.folds, entry)
            state.entries.append(entry)

    def _commit(self, state: Folding, chunk: Sequence[Step], missing: Sequence[int]) -> None:
        """One transaction; what is over a limit is halved, and a single change that cannot be counted is set aside."""
        if not any(counted(step.change) or self._watching(step) for step in chunk):
            return
        try:
            self._send(state, chunk, missing)
        except TooLargeError:
            if len(chunk) == 1:
                aside = (*state.folds.set_aside, chunk[0].entry.seq)
                state.folds = replace(state.folds, set_aside=aside)
                return
            middle = len(chunk) // 2
            self._commit(state, chunk[:middle], missing)
            self._commit(state, chunk[middle:], missing)

    def _send(self, state: Folding, chunk: Sequence[Step], missing: Sequence[int]) -> None:
        ids = dict.fromkeys(row for step in chunk for row in rows_of(step.change))
        tally = Tally(self._store.rollups(self._memory, ids, self._now))
        for step in chunk:
            tally.add(step.change)
        watches = self._feed_watches(chunk)
        folds = _with_chunk_done(state.folds, chunk, missing, self._now)
        writes: list[Write] = [Replace(folds, expected=state.folds.rev)]
        writes += [_saved(row) for row in tally.touched]
        writes += [Replace(replace(watch, rev=watch.rev + 1), expected=watch.rev) for watch in watches]
        try:
            self._store.transact(self._memory, writes, self._now)
        except WriteRefusedError as refused:
            self._forget_removed_watches(refused)
            self._send(state, chunk, missing)
            return
        state.folds = folds
        self._watches |= {watch.recommendation: replace(watch, rev=watch.rev + 1) for watch in watches}

    def _forget_removed_watches(self, refused: WriteRefusedError) -> None:
        """A rollback may take a watch away while we count; any other refusal means that another pass took over."""
        gone = {watch.recommendation for watch in map(_watch_of, refused.failures) if watch is not None}
        if len(gone) < len(refused.failures):
            raise LeaseLostError from refused
        self._watches = {rec: watch for rec, watch in self._watches.items() if rec not in gone}

    def _watching(self, step: Step) -> tuple[Watch, ...]:
        """The watches that a step moves, as they are before it."""
        watched = watched_by(step.change)
        if watched is None:
            return ()
        known = (watch for watch in self._watches.values() if watch.watched == watched)
        return tuple(watch for watch in known if watch.fed(step.entry, step.change) is not None)

    def _feed_watches(self, chunk: Sequence[Step]) -> tuple[Watch, ...]:
        """The watches that the chunk's changes move, with those changes counted."""
        fed: dict[str, Watch] = {}
        for step in chunk:
            for watch in self._watching(step):
                current = fed.get(watch.recommendation, watch)
                fed[watch.recommendation] = current.fed(step.entry, step.change) or current
        return tuple(fed.values())


def chunks(steps: Iterable[Step]) -> Iterator[list[Step]]:
    """Runs of steps whose rows fit into one transaction, with room for the head and the watches."""
    chunk: list[Step] = []
    rows: set[RowId] = set()
    for step in steps:
        more = rows | set(rows_of(step.change))
        if chunk and len(more) > MAX_ROWS_A_CHUNK:
            yield chunk
            chunk, more = [], set(rows_of(step.change))
        chunk.append(step)
        rows = more
    if chunk:
        yield chunk


def _watch_of(failure: Failure) -> Watch | None:
    write = failure.write
    return write.entity if isinstance(write, Replace) and isinstance(write.entity, Watch) else None


def _saved(row: Rollup) -> Write:
    """A rollup row's write: new, or in place of the version that was read."""
    stored = replace(row, rev=row.rev + 1)
    return Put(stored) if row.rev == 0 else Replace(stored, expected=row.rev)


def _with_chunk_done(folds: PassHead, chunk: Sequence[Step], missing: Sequence[int], now: int) -> PassHead:
    """The head once a chunk is counted: entries wholly inside it are done, the last one may be partial."""
    last = chunk[-1]
    done = {step.entry.seq: step.entry for step in chunk}
    for entry in done.values():
        if entry.seq != last.entry.seq or last.index == len(entry.changes) - 1:
            folds = _with_entry_done(folds, entry)
    if last.index < len(last.entry.changes) - 1:
        folds = replace(folds, partial={**folds.partial, last.entry.seq: last.index + 1})
    passed = {seq: now for seq in missing if seq <= folds.folded}
    return replace(folds, holes={**passed, **folds.holes}, rev=folds.rev + 1)


def _with_entry_done(folds: PassHead, entry: LogEntry) -> PassHead:
    """The head once an entry is counted whole. Doing it twice changes nothing."""
    partial = {seq: count for seq, count in folds.partial.items() if seq != entry.seq}
    if entry.unreadable and entry.seq not in folds.set_aside:
        folds = replace(folds, set_aside=(*folds.set_aside, entry.seq))
    if entry.seq in folds.holes:
        holes = {seq: at for seq, at in folds.holes.items() if seq != entry.seq}
        dropped = folds.dropped + (1 if entry.closed else 0)
        late = folds.late if entry.closed else (*folds.late, entry.seq)
        return replace(folds, holes=holes, partial=partial, late=late, dropped=dropped)
    return replace(folds, folded=max(folds.folded, entry.seq), partial=partial)

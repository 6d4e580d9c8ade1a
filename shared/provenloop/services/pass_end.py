"""The last writes of a pass: declared instants, then watermark, timer and outcome in one transaction.

The timer is set to the earliest instant that is still planted, conditional on its revision, so that an instant planted
meanwhile by a decision is not lost. Only then is the memory taken out of the wake index, and only when nothing was
written since and no number is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from provenloop.domain.commit import Heads, PassHead, TimerHead
from provenloop.domain.errors import BusyError
from provenloop.domain.names import MemoryId
from provenloop.domain.records import Due, Run
from provenloop.services.fold import Folding
from provenloop.services.lease import LeaseLostError
from provenloop.services.ports import Put, Remove, Replace, Require, Store, Write, WriteRefusedError

_MAX_ROUNDS = 5
_ROWS_A_TRANSACTION = 90
END_OF_TIME = 10**14


@dataclass(frozen=True, slots=True)
class PassEnd:
    """What a pass leaves behind. ``due`` are the instants it has dealt with, ``planted`` those it declares."""

    memory: MemoryId
    now: int
    heads: Heads
    folding: Folding
    due: Sequence[Due]
    planted: Sequence[Due]
    run_id: str
    outcome: Mapping[str, Any]
    body_digest: str = ""


def finish(store: Store, end: PassEnd, usage: Callable[[], dict[str, float]]) -> dict[str, Any]:
    """Write the end of a pass; the outcome with what the pass used.

    Raises:
        LeaseLostError: another pass took over; the watermark did not move.
        BusyError: decisions kept moving the timer.
    """
    _plant(store, end)
    for _ in range(_MAX_ROUNDS):
        outcome = {**end.outcome, "usage": usage()}
        try:
            _commit_end(store, end, outcome)
        except WriteRefusedError as refused:
            if any(isinstance(failure.write, Replace) and isinstance(failure.write.entity, PassHead)
                   for failure in refused.failures):  # fmt: skip
                raise LeaseLostError from refused
            continue
        if head_is_clean(end):
            store.clear_wake(end.memory, end.heads.log.seq)
        return outcome
    raise BusyError("decisions keep moving the memory's timer")


def _plant(store: Store, end: PassEnd) -> None:
    """Declare the instants that are not declared yet. Planting one twice is harmless, so they need no transaction."""
    present = store.due_present(end.memory, end.planted) if end.planted else frozenset()
    fresh = [row for row in end.planted if row not in present]
    for rows in _chunks(fresh):
        try:
            store.transact(end.memory, [*(Put(row) for row in rows)], end.now)
        except WriteRefusedError:
            _plant_singly(store, end, rows)


def _plant_singly(store: Store, end: PassEnd, rows: Sequence[Due]) -> None:
    """Somebody planted one of them in between: each on its own."""
    for row in rows:
        try:
            store.transact(end.memory, [Put(row)], end.now)
        except WriteRefusedError:
            continue


def _chunks(rows: Sequence[Due]) -> Iterator[Sequence[Due]]:
    stream = iter(rows)
    while chunk := tuple(islice(stream, _ROWS_A_TRANSACTION)):
        yield chunk


def _commit_end(store: Store, end: PassEnd, outcome: Mapping[str, Any]) -> None:
    heads = store.heads(end.memory)
    timer = heads.timer if heads is not None else end.heads.timer
    folds = end.folding.folds
    writes: list[Write] = [
        Replace(head_at_end(folds, end.heads, now=end.now), expected=folds.rev),
        Put(Run(end.run_id, end.now, outcome, end.body_digest)),
        *(Remove(row) for row in end.due),
    ]
    writes.append(_timer_write(timer, _next_due(store, end), is_moved=bool(end.due)))
    store.transact(end.memory, writes, end.now)


def _timer_write(timer: TimerHead, next_due: int | None, *, is_moved: bool) -> Write:
    """Sets the timer, on condition that nobody has declared anything since it was read.

    Its revision moves also where instants are taken away: whoever saw one of them declared is to look again.
    """
    if is_moved or next_due != timer.due_at:
        return Replace(TimerHead(timer.rev + 1, next_due), expected=timer.rev)
    return Require(timer, expected=timer.rev)


def _next_due(store: Store, end: PassEnd) -> int | None:
    """The earliest instant still planted once those dealt with are gone."""
    done = set(end.due)
    left = (row.due_at for row in store.due(end.memory, END_OF_TIME, len(done) + 1) if row not in done)
    return next(left, None)


def head_at_end(folds: PassHead, heads: Heads, *, now: int) -> PassHead:
    """The pass head once everything folded is analyzed and the lease is given back.

    The counters of the log head are taken over only when everything they count is folded or known to be missing.
    """
    complete = folds.folded >= heads.log.seq
    return replace(
        folds,
        analyzed=folds.folded,
        late=(),
        grains_at=heads.log.grains if complete else folds.grains_at,
        errors_at=heads.log.errors if complete else folds.errors_at,
        last_run_at=now,
        lease_owner=None,
        lease_until=0,
        rev=folds.rev + 1,
    )


def head_is_clean(end: PassEnd) -> bool:
    """Whether nothing that was reserved before the pass is still to be folded."""
    return end.folding.folds.folded >= end.heads.log.seq and not end.folding.folds.holes

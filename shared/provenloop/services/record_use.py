"""Telemetry of recall: what was asked, what was returned, as one commit of the log by the principal ``telemetry``.

It counts for nothing that is new, and it never fails or delays a recall: it is tried once, and what cannot be written
is given up and counted. A question is kept as a grain of its own kind, put the first time it is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from provenloop.domain.address import Addresses
from provenloop.domain.commit import Change, LogEntry, LogHead
from provenloop.domain.errors import LoopError
from provenloop.domain.grain import Grain, GrainDraft
from provenloop.domain.policy import TelemetryMode
from provenloop.domain.recallable import RECALLED_KINDS
from provenloop.domain.records import RecallRow
from provenloop.services.call import Call
from provenloop.services.log_number import NOT_WRITTEN, next_slot
from provenloop.services.ports import Put, Reservation, Store, Write, WriteRefusedError

BY = "telemetry"
MAX_READS = 100


@dataclass(frozen=True, slots=True)
class Telemetry:
    """How uses of memory are recorded: not at all, as counts, or each by itself as well.

    ``lost`` is told of every use that could not be recorded.
    """

    mode: TelemetryMode = "aggregate"
    lost: Callable[[], None] = lambda: None


@dataclass(frozen=True, slots=True)
class Use:
    """One use: the grains returned, and the question, if it was one that should be counted. Empty means a miss."""

    namespace: str
    returned: Sequence[Grain] = ()
    question: GrainDraft | None = None
    run_id: str | None = None


def record_use(store: Store, call: Call, use: Use, telemetry: Telemetry) -> None:
    """Record one use, or give it up."""
    if telemetry.mode == "off" or (use.question is None and not reads_of(use.returned, call.now)):
        return
    try:
        head = store.reserve(call.memory, Reservation(0, 0, frozenset(), call.now, next_slot(call.now)))
        if head is not None:
            _Recording(store, call, head, use, telemetry.mode).write()
    except (LoopError, WriteRefusedError):
        telemetry.lost()


def question_grain(draft: GrainDraft, address: str, *, seq: int, by: str, now: int) -> Grain:
    """The grain that keeps a question's text."""
    return Grain(address, draft.kind, draft.namespace, draft.body, now, now, seq, by)


def reads_of(returned: Sequence[Grain], now: int) -> tuple[Change, ...]:
    """One change for each grain that was returned as memory; calls and questions are none."""
    return tuple(
        Change("read", grain.kind, grain.address, grain.namespace, occurred_at=now)
        for grain in returned[:MAX_READS]
        if grain.kind in RECALLED_KINDS and grain.state != "forgotten"
    )


class _Recording:
    """One use under the number it was given."""

    def __init__(self, store: Store, call: Call, head: LogHead, use: Use, mode: TelemetryMode) -> None:
        self._store, self._call, self._use, self._mode, self._seq = store, call, use, mode, head.seq
        self._commit_id = f"{call.request_id}/{head.seq}"
        self._question: Grain | None = None
        self._is_kept = False
        if use.question is not None:
            address = Addresses(head.key).address(use.question)
            self._question = question_grain(use.question, address, seq=head.seq, by=BY, now=call.now)

    def write(self) -> None:
        """Write it; where the question is kept already, without its grain.

        Raises:
            LoopError, WriteRefusedError: it could not be written.
        """
        if self._question is not None:
            wanted = self._question.address
            kept = self._store.grains(self._call.memory, [wanted], self._call.now).get(wanted)
            self._learn(kept)
        try:
            self._send()
        except WriteRefusedError as refused:
            found = {type(failure.found): failure.found for failure in refused.failures}
            taken, there = found.get(LogEntry), found.get(Grain)
            if isinstance(taken, LogEntry):
                # Ours when a reply was lost after the store had written.
                if taken.commit_id != self._commit_id:
                    raise
                return
            self._learn(there if isinstance(there, Grain) else None)
            self._send()

    def _learn(self, kept: Grain | None) -> None:
        """Take in whether the question was asked before. One that was forgotten is counted no more."""
        self._is_kept = kept is not None
        if kept is not None and kept.state == "forgotten":
            self._question = None

    def _send(self) -> None:
        try:
            self._store.transact(self._call.memory, self._writes(), self._call.now, tries=1)
        except NOT_WRITTEN:
            # Else every pass would look for the number until it is given up.
            with suppress(LoopError, WriteRefusedError):
                empty = LogEntry(self._seq, "", self._call.now, BY)
                self._store.transact(self._call.memory, [Put(empty)], self._call.now, tries=1)
            raise

    def _writes(self) -> list[Write]:
        call = self._call
        entry = LogEntry(self._seq, self._commit_id, call.now, BY, self._changes())
        writes: list[Write] = [Put(entry)]
        if self._question is not None and not self._is_kept:
            writes.append(Put(self._question))
        if self._mode == "full":
            writes.append(Put(self._row()))
        return writes

    def _changes(self) -> tuple[Change, ...]:
        reads = reads_of(self._use.returned, self._call.now)
        if self._question is None:
            return reads
        ask = Change(
            "ask", "question", self._question.address, self._use.namespace, occurred_at=self._call.now,
            is_miss=not reads,
        )  # fmt: skip
        return (ask, *reads)

    def _row(self) -> RecallRow:
        asked = None if self._question is None else self._question.address
        returned = tuple(grain.address for grain in self._use.returned[:MAX_READS])
        return RecallRow(
            self._call.now, f"{self._seq}", self._use.namespace, asked, returned, not returned, self._use.run_id
        )

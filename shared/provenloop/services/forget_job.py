"""Forgetting a subject of many grains, a stretch at a time: each is a commit of its own, with its audit entry.

What goes with a stretch (earlier versions, reasons, questions that repeat it) goes before its grains: as long as they
are not tombstones, what is left can be found again by what they say. Every transaction moves the job as well, so a
crash anywhere repeats nothing and counts nothing twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from provenloop.domain.address import Addresses
from provenloop.domain.audit import Note, new_chain
from provenloop.domain.errors import BusyError, ConflictError, IntegrityError
from provenloop.domain.grain import Grain
from provenloop.domain.job import BECAUSE_NOTE, MAX_LESSONS, SUBJECT_NOTE, Job, ended, moved
from provenloop.domain.text import normalise
from provenloop.services.call import Call
from provenloop.services.commit_change import commit_change
from provenloop.services.decision import lost_race
from provenloop.services.erasing import Erasures, erasures_of
from provenloop.services.forget_plan import TOPIC_FIELDS, Plan, is_about, lessons_of
from provenloop.services.forgetting import Forgetting
from provenloop.services.memories import require_heads
from provenloop.services.ports import Remove, Replace, Store, Write, WriteRefusedError
from provenloop.services.scrub_use import scrub_use

#: Grains, or questions, of one commit: with the log, the audit and the job they fit into one transaction.
GRAINS_A_STRETCH = 80
_ROUTE = "forget"
_MAX_ROUNDS = 5
_KINDS = tuple(TOPIC_FIELDS)
T = TypeVar("T")


def continue_forget(store: Store, call: Call, job: Job, spent: Callable[[], bool]) -> Job:
    """Go on until all is forgotten or the time is spent; the job as it is then.

    Raises:
        BusyError: others keep changing the same grains; going on later helps.
        NotFoundError: the memory is gone.
    """
    rounds = 0
    while job.is_running and not spent():
        try:
            job = _Stretch.of(store, call, job).forget()
            rounds = 0
        except ConflictError as lost:
            rounds += 1
            if rounds >= _MAX_ROUNDS:
                raise BusyError("others keep changing the same grains; try again") from lost
            job = store.job(call.memory, job.id) or job
    return job


def end_job(store: Store, call: Call, job: Job, error: str | None = None) -> Job:
    """End a job, and drop the texts it needed.

    Raises:
        ConflictError: somebody moved it in between.
    """
    over = ended(job, call.now, error)
    texts = store.notes(call.memory, job.notes).values()
    _write(store, call, [Replace(over, expected=job.rev), *map(Remove, texts)])
    return over


@dataclass
class _Stretch:
    """One stretch of a job."""

    store: Store
    call: Call
    job: Job
    addresses: Addresses
    because: str
    subject: str

    @classmethod
    def of(cls, store: Store, call: Call, job: Job) -> _Stretch:
        heads = require_heads(store, call.memory)
        texts = store.notes(call.memory, job.notes)
        if not {BECAUSE_NOTE, SUBJECT_NOTE} <= texts.keys():
            now = store.job(call.memory, job.id)
            # Another runner may have ended it since it was read.
            raise lost_race() if now != job else IntegrityError("a running job has lost what it was asked for")
        return cls(store, call, job, Addresses(heads.log.key), texts[BECAUSE_NOTE].because, texts[SUBJECT_NOTE].because)

    def forget(self) -> Job:
        """The next grains, with all that goes with them; at the end, what was asked or written meanwhile."""
        cursor, grains = self._next()
        found = [grain for grain in grains if self._is_wanted(grain)]
        said = frozenset({normalise(self.subject)})
        with_them = erasures_of(self.store, self.call, found, said=said, chain=self.job.chain)
        if not grains and not with_them.questions and not with_them.notes and not with_them.remarks:
            return end_job(self.store, self.call, self.job)
        live = [grain for grain in found if grain.state != "forgotten"]
        lessons = sorted({*self.job.lessons, *lessons_of(self.store, self.call, live)})[:MAX_LESSONS]
        self.job = replace(self.job, lessons=tuple(lessons))
        for questions in _batches(with_them.questions, GRAINS_A_STRETCH):
            self._commit((), Erasures(self.call.now, questions=tuple(questions)), self.job.cursor)
        # Questions are found by their counts, so those go last.
        scrub_use(self.store, self.call, self.addresses, (*live, *with_them.texts), with_them.remarks)
        self._erase(with_them)
        if live:
            self._commit(tuple(live), Erasures(self.call.now, calls=with_them.calls), cursor)
        elif cursor != self.job.cursor:
            self._move([], cursor=cursor)
        return self.job

    def _next(self) -> tuple[str, Sequence[Grain]]:
        """The next grains, and the cursor behind them: ``<kind>/<address>``. No grains are the end."""
        kind, _, after = (self.job.cursor or f"{_KINDS[0]}/").partition("/")
        for each in _KINDS[_KINDS.index(kind) :]:
            prefix = self.addresses.entity_prefix(each, self.job.namespace, self.subject)
            grains = self.store.grains_after(
                self.call.memory, prefix, after if each == kind else "", GRAINS_A_STRETCH, self.call.now
            )
            if grains:
                return f"{each}/{grains[-1].address}", grains
        return self.job.cursor, ()

    def _is_wanted(self, grain: Grain) -> bool:
        is_of = grain.kind in TOPIC_FIELDS and grain.namespace == self.job.namespace
        return is_of and is_about(grain, self.subject)

    def _erase(self, with_them: Erasures) -> None:
        """Remarks and reasons first, then earlier versions, by whose texts they and questions are found again."""
        for remarks in _batches(with_them.said, GRAINS_A_STRETCH):
            self._move(remarks)
        only = Erasures(with_them.at, versions=with_them.versions, notes=with_them.notes)
        for writes in _batches(only.writes, GRAINS_A_STRETCH):
            reasons = sum(isinstance(write, Remove) and isinstance(write.entity, Note) for write in writes)
            self._move(writes, reasons=reasons, versions=len(writes) - reasons)

    def _move(self, writes: Sequence[Write], *, cursor: str | None = None, **done: int) -> None:
        after = moved(self.job, self.call.now, done, cursor=cursor)
        _write(self.store, self.call, [Replace(after, expected=self.job.rev), *writes])
        self.job = after

    def _commit(self, grains: tuple[Grain, ...], with_them: Erasures, cursor: str) -> None:
        done = {"grains": len(grains), "questions": len(with_them.questions)}
        after = moved(self.job, self.call.now, done, cursor=cursor)
        end = self.store.chain_end(self.call.memory, self.job.chain) or new_chain(self.job.chain)
        plan = Plan(end, grains, with_them)
        beside = [Replace(after, expected=self.job.rev)]
        forgetting = Forgetting(self.store, self.call, self.because, plan, beside=beside)
        commit_change(self.store, self.call, _ROUTE, lambda: None, forgetting.build, forgetting.learn)
        self.job = after


def _write(store: Store, call: Call, writes: Sequence[Write]) -> None:
    try:
        store.transact(call.memory, writes, call.now)
    except WriteRefusedError as refused:
        raise lost_race() from refused


def _batches(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    return (items[start : start + size] for start in range(0, len(items), size))

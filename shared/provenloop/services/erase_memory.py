"""Erasing a whole memory: it is closed at once, then a job deletes what it held, and looks again for what came late.

The key goes with the closing, so digests that stay confirm nothing. What stays: the audit entries (addresses and
digests only, which nobody may delete), the row that keeps the name from being given again, the job, and where the last
audit chain ends, so that it is anchored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from provenloop.domain.audit import AuditEntry, author_of, new_chain
from provenloop.domain.errors import BusyError, ConflictError, MemoryErasedError, TooLargeError
from provenloop.domain.instants import MINUTE_MS
from provenloop.domain.job import ERASURE_CHAIN, Job, moved
from provenloop.domain.names import tenant_itself
from provenloop.services.call import Call
from provenloop.services.decision import lost_race, require_because
from provenloop.services.erasure_port import ItemClass
from provenloop.services.forget_job import end_job
from provenloop.services.job_port import JobQueue
from provenloop.services.jobs import FIRST_DELAY_S, job_id_of, shown
from provenloop.services.memories import unknown_memory
from provenloop.services.outbox import ChainStep, chain_step, reason_on
from provenloop.services.ports import Put, Replace, Store, Write, WriteRefusedError
from provenloop.services.tenant_trail import Happening, memory_chain, step

ERASED: Happening = "erased"
#: No function lives longer, so whoever was writing when the memory was closed has ended by then.
LATE_MS = 15 * MINUTE_MS
AT_ONCE = 90
#: Everything but the audit trail; what passes need to go on comes last.
CLASSES: tuple[ItemClass, ...] = (
    "GRAIN", "INDEX", "LESSON", "LOG", "LOOP", "RECIPE", "NOTE", "REPLAY", "OUTBOX", "HEAD",
)  # fmt: skip
_LAST_LOOK = "last look"
_MAX_ROUNDS = 5


def begin_erasure(store: Store, jobs: JobQueue, call: Call, because: str) -> dict[str, Any]:
    """Close the memory and begin to erase it; for one that is being erased, the same job again.

    Returns:
        the job, as :func:`~provenloop.services.jobs.shown`.

    Raises:
        ScopeDeniedError, InvalidInputError, NotFoundError: nothing was done.
        MemoryErasedError: it was erased so long ago that nothing is known of the job any more.
    """
    call.require("admin")
    reason = require_because(because)
    record = store.memory_record(call.memory)
    if record is None:
        raise unknown_memory()
    if record.erasure is not None:
        return shown(_known(store, jobs, call, record.erasure))
    job = _job(call)
    jobs.send(call.memory, job.id, FIRST_DELAY_S)
    closed = replace(record, erased_at=call.now, erasure=job.id, rev=record.rev + 1)
    try:
        last = _last_step(call, job, reason)
        told = _told(store, call, job, last.entry)
        store.close_memory(call.memory, closed, [Put(job), *last.writes], told, call.now)
    except WriteRefusedError as refused:
        raise lost_race() from refused
    return shown(job)


def _told(store: Store, call: Call, job: Job, entry: AuditEntry) -> list[Write]:
    """What the tenant's own trail says of it, which stays readable."""
    chain = memory_chain(call.memory.name)
    end = store.chain_end(tenant_itself(call.memory.tenant), chain)
    return step(chain, end, ERASED, call.principal, call.now, {"job": job.id, "entry": entry.id})


def continue_erasure(store: Store, call: Call, job: Job, spent: Callable[[], bool]) -> Job:
    """Go on until nothing is left, or the time is spent, or it is time to wait; the job as it is then.

    Raises:
        BusyError: others keep moving the same job; going on later helps.
    """
    rounds = 0
    while job.is_running and job.not_before <= call.now and not spent():
        try:
            job = _stretch(store, call, job)
            rounds = 0
        except (ConflictError, WriteRefusedError) as lost:
            rounds += 1
            if rounds >= _MAX_ROUNDS:
                raise BusyError("others keep moving this job; try again") from lost
            job = store.job(call.memory, job.id) or job
    return job


def _known(store: Store, jobs: JobQueue, call: Call, job_id: str) -> Job:
    """The job that erases the memory; sent once more, which does no harm and helps where its message was lost."""
    job = store.job(call.memory, job_id)
    if job is None:
        raise MemoryErasedError("that memory was erased", field="memory")
    if job.is_running:
        jobs.send(call.memory, job.id, 0)
    return job


def _job(call: Call) -> Job:
    return Job(
        id=job_id_of(call, "erase"),
        kind="erase",
        by=author_of(call.principal),
        created_at=call.now,
        changed_at=call.now,
        chain=ERASURE_CHAIN,
    )


def _last_step(call: Call, job: Job, because: str) -> ChainStep:
    """The last entry of the trail, and its reason, which goes with everything else."""
    begin = new_chain(ERASURE_CHAIN)
    note = reason_on(begin, because, call.entropy)
    return chain_step(begin, ERASED, author_of(call.principal), call.now, {"job": job.id}, note)


def _stretch(store: Store, call: Call, job: Job) -> Job:
    """Delete some items; where none is left, wait for those who may still be writing, and in the end be done."""
    for item_class in CLASSES:
        items = store.items_of(call.memory, item_class, AT_ONCE)
        if items:
            return _erase(store, call, job, item_class, items)
    if job.cursor == _LAST_LOOK:
        return end_job(store, call, job)
    waiting = replace(moved(job, call.now, {}, cursor=_LAST_LOOK), not_before=call.now + LATE_MS)
    store.transact(call.memory, [Replace(waiting, expected=job.rev)], call.now)
    return waiting


def _erase(store: Store, call: Call, job: Job, item_class: ItemClass, items: Sequence[str]) -> Job:
    """Delete the items, or as many of them as one transaction takes: large ones may be too much together."""
    after = moved(job, call.now, {item_class.lower(): len(items)})
    try:
        store.erase_items(call.memory, item_class, items, after, call.now)
    except TooLargeError:
        if len(items) == 1:
            raise
        return _erase(store, call, job, item_class, items[: len(items) // 2])
    return after

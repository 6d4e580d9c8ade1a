"""Carrying a job out: one message of the queue, as far as its time goes; what is left is sent on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from provenloop.domain.audit import acting_for
from provenloop.domain.errors import IntegrityError, InternalError, NotFoundError
from provenloop.domain.job import Job
from provenloop.domain.names import MemoryId
from provenloop.services.call import Call
from provenloop.services.erase_memory import continue_erasure
from provenloop.services.forget_job import continue_forget, end_job
from provenloop.services.job_port import JobQueue
from provenloop.services.ports import Entropy, Store

Outcome = Literal["done", "failed", "sent on", "over"]
_LONGEST_DELAY_MS = 900_000


@dataclass(frozen=True, slots=True)
class Occasion:
    """One delivery of a job's message: when, and how to tell that its time is spent."""

    message_id: str
    now: int
    entropy: Entropy
    spent: Callable[[], bool]


def run_job(store: Store, jobs: JobQueue, memory: MemoryId, job_id: str, occasion: Occasion) -> Outcome:
    """Go on with a job.

    Returns:
        what became of it; ``over`` where another delivery had ended it.

    Raises:
        NotFoundError: there is no such job, or not yet.
        LoopError: an outside reason; the same message may come again.
    """
    job = store.job(memory, job_id)
    if job is None:
        raise NotFoundError("no such job", field="job")
    if not job.is_running:
        return "over"
    after = _go_on(store, job, _call_of(job, memory, occasion), occasion)
    if after.is_running:
        wait_ms = min(max(after.not_before - occasion.now, 0), _LONGEST_DELAY_MS)
        jobs.send(memory, job_id, -(-wait_ms // 1000))
        return "sent on"
    return "done" if after.status == "done" else "failed"


def _go_on(store: Store, job: Job, call: Call, occasion: Occasion) -> Job:
    if job.kind == "erase":
        return continue_erasure(store, call, job, occasion.spent)
    try:
        return continue_forget(store, call, job, occasion.spent)
    except (IntegrityError, InternalError) as error:
        # No delivery of the same message would end otherwise.
        return end_job(store, call, store.job(call.memory, job.id) or job, error.code)


def _call_of(job: Job, memory: MemoryId, occasion: Occasion) -> Call:
    """The request that a stretch acts as: whoever asked for the job, under the message's id."""
    return Call(
        principal=acting_for(job.by, memory, "admin"),
        memory=memory,
        now=occasion.now,
        request_id=occasion.message_id,
        idempotency_key=None,
        entropy=occasion.entropy,
    )

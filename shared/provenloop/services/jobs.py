"""Jobs: started by a request that is too large for one, carried out from a queue, looked up by their id.

The message is sent before the job is stored: a job that is there is on its way, whoever crashes in between. A message
whose job was never stored ends among the dead letters.

No job is stuck: the request that began it, sent again, finds it (without an Idempotency-Key as long as it is not done).
One that gave up begins again, with the texts of the request, for none are kept of what failed; one that stands still is
sent once more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from provenloop.domain.address import Addresses
from provenloop.domain.audit import author_of
from provenloop.domain.canonical import canonical_json, sha256_hex
from provenloop.domain.errors import IdempotencyMismatchError, NotFoundError
from provenloop.domain.instants import MINUTE_MS, format_instant
from provenloop.domain.job import BECAUSE_NOTE, ID_CHARS, Job, JobKind, begun_again
from provenloop.services.call import Call
from provenloop.services.decision import require_because
from provenloop.services.forget import forget
from provenloop.services.forget_plan import TooManyGrainsError, Wanted
from provenloop.services.job_port import JobQueue
from provenloop.services.memories import require_heads
from provenloop.services.outbox import salted
from provenloop.services.ports import Entropy, Put, Replace, Store, Write, WriteRefusedError
from provenloop.services.replay import replay_key

#: So much later than it is sent, a message finds its job stored.
FIRST_DELAY_S = 5
#: A job that has not moved for so long is sent once more: no function runs longer. Too often does no harm.
STANDS_STILL_MS = 15 * MINUTE_MS
_FORGET: JobKind = "forget"


def job_id_of(call: Call, route: str) -> str:
    """Of a request with an Idempotency-Key always the same, so that it is one job; else a new one."""
    if call.idempotency_key is None:
        return call.entropy(ID_CHARS // 2).hex()
    return replay_key(call, f"job:{route}")[:ID_CHARS]


def forget_or_begin(store: Store, jobs: JobQueue, call: Call, wanted: Wanted, because: str) -> tuple[bool, Any]:
    """Forget at once, or begin a job where that is too much for one request.

    Returns:
        whether it is done, and the answer: as :func:`forget`, or the job as :func:`shown`.

    Raises:
        LoopError: as :func:`forget`; nothing was erased.
    """
    call.require("admin")
    job_id = job_id_of(call, _FORGET)
    known = known_job(store, call, job_id)
    if known is not None:
        return False, shown(_taken_up(store, jobs, call, known, _texts(wanted, because)))
    try:
        return True, forget(store, call, wanted, because)
    except TooManyGrainsError as too_many:
        texts = _texts(wanted, because)
        job_id, known = (job_id, None) if call.idempotency_key is not None else _unkeyed(store, call, job_id)
        if known is not None:
            return False, shown(_taken_up(store, jobs, call, known, texts))
        return False, shown(_begin(store, jobs, call, new_job(store, call, job_id, wanted, too_many.chain), texts))


def _unkeyed(store: Store, call: Call, new_id: str) -> tuple[str, Job | None]:
    """The id of a request without a key, and the job if it is begun; once that is done, the same words ask anew."""
    own = sha256_hex(canonical_json([_request_of(store, call), call.principal.id]))[:ID_CHARS]
    job = store.job(call.memory, own)
    return (new_id, None) if job is not None and job.status == "done" else (own, job)


def _texts(wanted: Wanted, because: str) -> list[str]:
    """What a job needs to be told: why, and about whom."""
    return [require_because(because), wanted.subject or ""]


def _taken_up(store: Store, jobs: JobQueue, call: Call, job: Job, texts: Sequence[str]) -> Job:
    """The job, on its way again if it was not."""
    if job.status == "failed":
        jobs.send(call.memory, job.id, FIRST_DELAY_S)
        again = begun_again(job, call.now)
        try:
            writes = [Replace(again, expected=job.rev), *notes_of(job, texts, call.entropy)]
            store.transact(call.memory, writes, call.now)
        except WriteRefusedError:
            # The same request, sent twice at the same time.
            return known_job(store, call, job.id) or job
        return again
    if job.is_running and call.now - max(job.changed_at, job.not_before) > STANDS_STILL_MS:
        jobs.send(call.memory, job.id, 0)
    return job


def known_job(store: Store, call: Call, job_id: str) -> Job | None:
    """The job that this very request has begun before.

    Raises:
        IdempotencyMismatchError: the Idempotency-Key came with another body.
    """
    job = store.job(call.memory, job_id) if call.idempotency_key is not None else None
    if job is not None and job.request != _request_of(store, call):
        raise IdempotencyMismatchError("this Idempotency-Key was used with another body")
    return job


def show_job(store: Store, call: Call, job_id: str) -> dict[str, Any]:
    """How far a job is.

    Raises:
        ScopeDeniedError, NotFoundError.
    """
    call.require("admin")
    job = store.job(call.memory, job_id)
    if job is None:
        raise NotFoundError("no such job", field="job")
    return shown(job)


def shown(job: Job) -> dict[str, Any]:
    """A job as callers see it."""
    return {
        "job": job.id,
        "kind": job.kind,
        "status": job.status,
        "counts": dict(sorted(job.counts.items())),
        "lessons": list(job.lessons),
        "created_at": format_instant(job.created_at),
        "changed_at": format_instant(job.changed_at),
        "by": job.by["label"],
        "error": job.error,
    }


def notes_of(job: Job, texts: Sequence[str], entropy: Entropy) -> list[Write]:
    """The notes that hold a job's texts until it ends: the reason first."""
    numbered = enumerate(texts, start=BECAUSE_NOTE)
    return [Put(salted(job.notes, number, text, entropy)) for number, text in numbered]


def _request_of(store: Store, call: Call) -> str:
    """The request's body under the memory's key: what was asked for cannot be confirmed by trial."""
    return Addresses(require_heads(store, call.memory).log.key).short("request", call.body_digest)


def new_job(store: Store, call: Call, job_id: str, wanted: Wanted, chain: str) -> Job:
    """A job that forgets a subject, not stored yet."""
    return Job(
        id=job_id,
        kind=_FORGET,
        by=author_of(call.principal),
        created_at=call.now,
        changed_at=call.now,
        chain=chain,
        namespace=wanted.namespace or "",
        request=_request_of(store, call),
    )


def _begin(store: Store, jobs: JobQueue, call: Call, job: Job, texts: Sequence[str]) -> Job:
    jobs.send(call.memory, job.id, FIRST_DELAY_S)
    try:
        store.transact(call.memory, [Put(job), *notes_of(job, texts, call.entropy)], call.now)
    except WriteRefusedError:
        # The same request, sent twice at the same time.
        return store.job(call.memory, job.id) or job
    return job

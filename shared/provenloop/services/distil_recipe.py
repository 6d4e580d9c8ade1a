"""Distilling: asked for by a request, carried out from a queue or at once, told of like a job.

The message is sent before the distillation is stored, as for jobs. Whoever carries it out claims it before the model is
asked, and stores the raw answer, with the row of what it cost, before a recipe is made of it. So a message that comes
twice, or a crash anywhere, pays nothing twice and counts nothing twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from provenloop.domain.address import Addresses
from provenloop.domain.audit import author_of
from provenloop.domain.canonical import canonical_json
from provenloop.domain.distillation import Distillation, EnvelopeText, begun_again, not_learnt, row_of_skip
from provenloop.domain.errors import ModelUnavailableError, NotFoundError, TooLargeError
from provenloop.domain.instants import MINUTE_MS, format_instant
from provenloop.domain.recipe import RecipeKind, RecipeScope
from provenloop.domain.secrets import redact_json
from provenloop.recipes.distillation import MAX_ENVELOPE_BYTES, Envelope, parse_envelope, passes_gate
from provenloop.recipes.scope import require_scope_of
from provenloop.services.call import Call
from provenloop.services.job_port import JobQueue
from provenloop.services.jobs import FIRST_DELAY_S
from provenloop.services.memories import require_heads
from provenloop.services.ports import Put, Replace, Store, Write, WriteRefusedError

#: So much later the queue takes up what a request that waits has not ended: longer than any request lives.
AFTER_REQUEST_S = 60
#: A distillation that has not moved for so long is sent once more when it is asked for again.
_STANDS_STILL_MS = 20 * MINUTE_MS


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be distilled, and for which scope.

    ``waits``: the request carries it out itself. ``own_key``: it brought the key.
    """

    envelope: Mapping[str, Any]
    scope: RecipeScope
    kind: RecipeKind = "answer"
    waits: bool = False
    own_key: bool = False
    log_fields: Mapping[str, str] = field(default_factory=dict)


def begin_distillation(store: Store, queue: JobQueue, call: Call, wanted: Wanted, *, has_model: bool) -> Distillation:
    """Begin to distil, unless the same envelope in the same scope was distilled before.

    Secrets are taken out before anything is stored. Where nothing speaks for the run, it is over at once.

    Raises:
        ScopeDeniedError, NotFoundError, InvalidInputError.
        TooLargeError: the envelope is.
        ModelUnavailableError: there is no model to ask; nothing was stored.
    """
    call.require("write")
    require_scope_of(wanted.kind, wanted.scope)
    envelope = _redacted(wanted.envelope)
    job, text = _job_of(store, call, wanted, envelope)
    known = store.distillation(call.memory, job.id)
    if known is not None and not known.may_begin_again:
        return _taken_up(queue, call, known)
    if not passes_gate(envelope.signals):
        row = row_of_skip(job, call.now, "gate_failed")
        return _stored(store, call, not_learnt(job, call.now, "gate_failed"), [Put(row)])
    if not has_model:
        raise ModelUnavailableError("no model is configured")
    queue.send(call.memory, job.id, AFTER_REQUEST_S if wanted.waits else FIRST_DELAY_S)
    if known is None:
        return _stored(store, call, job, [Put(text)])
    again = begun_again(known, call.now, own_key=wanted.own_key)
    return _stored(store, call, again, [Put(text)], expected=known.rev)


def show_distillation(store: Store, call: Call, job_id: str) -> dict[str, Any]:
    """How far a distillation is.

    Raises:
        ScopeDeniedError, NotFoundError.
    """
    call.require("write")
    job = store.distillation(call.memory, job_id)
    if job is None:
        raise unknown_job()
    return told(job)


def unknown_job() -> NotFoundError:
    """The error for a distillation that was never begun."""
    return NotFoundError("no such job", field="job")


def told(job: Distillation) -> dict[str, Any]:
    """A distillation as callers see it."""
    return {
        "job": job.id,
        "kind": "distil",
        "status": job.status if job.is_over else "running",
        "recipe": job.recipe_id or None,
        "reason": job.reason,
        "failure": job.failure or None,
        "created_at": format_instant(job.created_at),
        "changed_at": format_instant(job.changed_at),
        "by": job.by["label"],
    }


def _redacted(given: Mapping[str, Any]) -> Envelope:
    return parse_envelope(redact_json(parse_envelope(given).as_json())[0])


def _job_of(store: Store, call: Call, wanted: Wanted, envelope: Envelope) -> tuple[Distillation, EnvelopeText]:
    """The distillation, whose id is of scope and envelope under the memory's key, and its envelope."""
    text = canonical_json(envelope.as_json())
    if len(text.encode()) > MAX_ENVELOPE_BYTES:
        raise TooLargeError(f"an envelope has at most {MAX_ENVELOPE_BYTES} bytes", field="envelope")
    key = require_heads(store, call.memory).log.key
    job_id = Addresses(key).short("distil", canonical_json([asdict(wanted.scope), wanted.kind]), text)
    job = Distillation(
        id=job_id,
        by=author_of(call.principal),
        created_at=call.now,
        changed_at=call.now,
        scope=wanted.scope,
        kind=wanted.kind,
        own_key=wanted.own_key,
        session=envelope.session,
        log_fields=wanted.log_fields,
    )
    return job, EnvelopeText(job_id, text)


def _taken_up(queue: JobQueue, call: Call, job: Distillation) -> Distillation:
    """The distillation, sent once more where its message may be lost."""
    if not job.is_over and call.now - job.changed_at > _STANDS_STILL_MS:
        queue.send(call.memory, job.id, 0)
    return job


def _stored(
    store: Store, call: Call, job: Distillation, beside: list[Write], *, expected: int | None = None
) -> Distillation:
    first: Write = Put(job) if expected is None else Replace(job, expected=expected)
    try:
        store.transact(call.memory, [first, *beside], call.now)
    except WriteRefusedError:
        # The same request, sent twice at the same time.
        return store.distillation(call.memory, job.id) or job
    return job

"""Jobs: carried out by messages of the job queue, looked up over HTTP."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from provenloop.domain.errors import InvalidInputError, LoopError, NotFoundError
from provenloop.domain.job import ID_CHARS
from provenloop.domain.names import MemoryId, require_name
from provenloop.entry.models.forget import EraseRequest
from provenloop.entry.reply import Reply, json_reply
from provenloop.entry.request import Request
from provenloop.entry.telemetry import count, log_error, log_outcome
from provenloop.entry.time_left import spent
from provenloop.entry.wiring import wiring
from provenloop.services.erase_memory import begin_erasure
from provenloop.services.jobs import show_job as shown_job
from provenloop.services.run_job import Occasion, run_job

_OPERATION = "job"
_JOB_ID = re.compile(f"[0-9a-f]{{{ID_CHARS}}}")
#: A message is sent right before its job is stored. What is not there after this long never will be.
_GIVEN_UP_MS = 900_000


class _Sent(NamedTuple):
    """What a message says."""

    memory: MemoryId
    job: str


def show_job(request: Request) -> Reply:
    """How far a job is."""
    return json_reply(shown_job(request.wiring.store, request.call, request.need("job")))


def delete_memory(request: Request) -> Reply:
    """Begin to erase a memory."""
    because = request.body_as(EraseRequest).because
    answer = begin_erasure(request.wiring.store, request.wiring.jobs, request.call, because)
    return json_reply(answer, status=202)


def run_queued(event: Mapping[str, Any], context: object) -> dict[str, Any]:
    """One stretch of a job for each message of an SQS event.

    Returns:
        the partial batch answer: ids of the messages that must come again.
    """
    failed = [str(record["messageId"]) for record in event["Records"] if not _ran(record, context)]
    return {"batchItemFailures": [{"itemIdentifier": message_id} for message_id in failed]}


def _ran(record: Mapping[str, Any], context: object) -> bool:
    """Whether the message is done with. What fails comes again, then goes to the dead letters."""
    message_id = str(record["messageId"])
    try:
        sent = _sent(str(record["body"]))
        outcome = _run(sent, record, context)
    except LoopError as error:
        log_error(_OPERATION, error, detail=error.message, correlation_id=message_id, code=error.code)
        return False
    except Exception as error:  # noqa: BLE001 - one message's fault must not send back the whole batch
        log_error(_OPERATION, error, correlation_id=message_id)
        return False
    memory = sent.memory
    log_outcome(_OPERATION, outcome, correlation_id=message_id, tenant=memory.tenant, memory=memory.name, job=sent.job)
    return True


def _run(sent: _Sent, record: Mapping[str, Any], context: object) -> str:
    current = wiring()
    now = current.now()
    occasion = Occasion(str(record["messageId"]), now, current.entropy, spent(context))
    try:
        outcome = run_job(current.store, current.jobs, sent.memory, sent.job, occasion)
    except NotFoundError:
        # The request that sent it ended before its job was stored, or the memory was erased meanwhile.
        if now - _sent_at(record, now) > _GIVEN_UP_MS:
            return "never begun"
        raise
    count("JobsDone" if outcome == "done" else "JobsFailed", 1 if outcome in ("done", "failed") else 0)
    return outcome


def _sent(text: str) -> _Sent:
    try:
        body = json.loads(text)
        names = MemoryId(require_name(body["tenant"], field="tenant"), require_name(body["memory"], field="memory"))
        return _Sent(names, _JOB_ID.fullmatch(body["job"])[0])  # type: ignore[index]
    except (ValueError, KeyError, TypeError):
        raise InvalidInputError("a message names a tenant, a memory and a job", field="body") from None


def _sent_at(record: Mapping[str, Any], now: int) -> int:
    stamp = str(record.get("attributes", {}).get("SentTimestamp", ""))
    return int(stamp) if stamp.isdecimal() else now

"""Messages of the queues that bring jobs: each names a tenant, a memory and a job."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from provenloop.domain.errors import InvalidInputError, LoopError, NotFoundError
from provenloop.domain.job import ID_CHARS
from provenloop.domain.names import MemoryId, require_name
from provenloop.entry.telemetry import log_error, log_outcome
from provenloop.entry.wiring import wiring

_JOB_ID = re.compile(f"[0-9a-f]{{{ID_CHARS}}}")
#: A message is sent right before its job is stored. What is not there after this long never will be.
_GIVEN_UP_MS = 900_000


class JobMessage(NamedTuple):
    """What a message says, its own id, and the instant it is worked on (epoch ms)."""

    memory: MemoryId
    job: str
    id: str
    now: int


def run_each(event: Mapping[str, Any], operation: str, run: Callable[[JobMessage], str]) -> dict[str, Any]:
    """Work on each message of an SQS event; ``run`` gives the outcome for the log.

    Returns:
        the partial batch answer: ids of the messages that must come again.
    """
    failed = [str(record["messageId"]) for record in event["Records"] if not _ran(record, operation, run)]
    return {"batchItemFailures": [{"itemIdentifier": message_id} for message_id in failed]}


def _ran(record: Mapping[str, Any], operation: str, run: Callable[[JobMessage], str]) -> bool:
    """Whether the message is done with. What fails comes again, then goes to the dead letters."""
    message_id = str(record["messageId"])
    try:
        message = _read(record, message_id, wiring().now())
        outcome = _run(message, record, run)
    except LoopError as error:
        log_error(operation, error, detail=error.message, correlation_id=message_id, code=error.code)
        return False
    except Exception as error:  # noqa: BLE001 - one message's fault must not send back the whole batch
        log_error(operation, error, correlation_id=message_id)
        return False
    memory = message.memory
    log_outcome(
        operation, outcome, correlation_id=message_id, tenant=memory.tenant, memory=memory.name, job=message.job
    )
    return True


def _run(message: JobMessage, record: Mapping[str, Any], run: Callable[[JobMessage], str]) -> str:
    try:
        return run(message)
    except NotFoundError:
        # The request that sent it ended before its job was stored, or the memory was erased meanwhile.
        if message.now - _sent_at(record, message.now) > _GIVEN_UP_MS:
            return "never begun"
        raise


def _read(record: Mapping[str, Any], message_id: str, now: int) -> JobMessage:
    try:
        body = json.loads(str(record["body"]))
        names = MemoryId(require_name(body["tenant"], field="tenant"), require_name(body["memory"], field="memory"))
        return JobMessage(names, _JOB_ID.fullmatch(body["job"])[0], message_id, now)  # type: ignore[index]
    except (ValueError, KeyError, TypeError):
        raise InvalidInputError("a message names a tenant, a memory and a job", field="body") from None


def _sent_at(record: Mapping[str, Any], now: int) -> int:
    stamp = str(record.get("attributes", {}).get("SentTimestamp", ""))
    return int(stamp) if stamp.isdecimal() else now

"""Passes: asked for over HTTP, or by a message of the pass queue."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from provenloop.domain.errors import InvalidInputError, LoopError
from provenloop.domain.names import MemoryId, require_name
from provenloop.domain.principal import Principal
from provenloop.entry.models.loop import RunRequest
from provenloop.entry.publishing import publish_committed
from provenloop.entry.reply import Reply, json_reply
from provenloop.entry.request import Request
from provenloop.entry.telemetry import count, log_error, log_outcome
from provenloop.entry.time_left import HTTP_PASS_MS, left_ms, spent
from provenloop.entry.wiring import Wiring, wiring
from provenloop.services.analyze_memory import run_pass as run
from provenloop.services.call import Call
from provenloop.services.pass_gate import PassOptions, parse_if_stale
from provenloop.services.replay import replay_key

ENGINE = "engine:schedule"
_RUN_ID_BYTES = 16
_OPERATION = "scheduled_pass"


def run_pass(request: Request) -> Reply:
    """One pass over the memory, or a skip with its reason; 202 where it ran out of time and the schedule goes on."""
    options = _options(request.body_as(RunRequest))
    outcome = _pass(request.wiring, request.call, options, request.context, HTTP_PASS_MS)
    return json_reply(outcome, status=202 if outcome["more"] else 200)


def run_queued(event: Mapping[str, Any], context: object) -> dict[str, Any]:
    """One pass for each message of an SQS event.

    Returns:
        the partial batch answer: ids of the messages that must come again. After a failed message, later ones of the
        same memory are left for later too, so that a memory's messages keep their order.
    """
    failed: list[str] = []
    held: set[str] = set()
    for record in event["Records"]:
        group = str(record.get("attributes", {}).get("MessageGroupId", record["messageId"]))
        if group in held or not _ran(record, context):
            held.add(group)
            failed.append(record["messageId"])
    return {"batchItemFailures": [{"itemIdentifier": message_id} for message_id in failed]}


def engine_principal(memory: MemoryId) -> Principal:
    """Who runs a scheduled pass: the engine itself, for this one memory. No token can carry its reserved label."""
    return Principal(
        id=ENGINE,
        label=ENGINE,
        kind="service",
        tenant=memory.tenant,
        memories=memory.name,
        scopes=frozenset({"write"}),
        token_id=ENGINE,
        lineage=(ENGINE,),
    )


def _ran(record: Mapping[str, Any], context: object) -> bool:
    """Whether the message's pass ran or was rightly skipped. What fails comes again, then goes to the dead letters."""
    message_id = str(record["messageId"])
    try:
        memory = _memory_of(str(record["body"]))
        outcome = _pass(wiring(), _engine_call(memory, message_id), PassOptions(), context)
    except LoopError as error:
        log_error(_OPERATION, error, detail=error.message, correlation_id=message_id, code=error.code)
        return False
    except Exception as error:  # noqa: BLE001 - one message's fault must not send back the whole batch
        log_error(_OPERATION, error, correlation_id=message_id)
        return False
    finally:
        publish_committed(wiring())
    log_outcome(_OPERATION, outcome["outcome"], correlation_id=message_id, tenant=memory.tenant, memory=memory.name)
    return True


def _memory_of(text: str) -> MemoryId:
    try:
        body = json.loads(text)
        return MemoryId(require_name(body["tenant"], field="tenant"), require_name(body["memory"], field="memory"))
    except (ValueError, KeyError, TypeError):
        raise InvalidInputError("a message names a tenant and a memory", field="body") from None


def _engine_call(memory: MemoryId, message_id: str) -> Call:
    current = wiring()
    return Call(
        principal=engine_principal(memory),
        memory=memory,
        now=current.now(),
        request_id=message_id,
        idempotency_key=None,
        entropy=current.entropy,
    )


def _options(request: RunRequest) -> PassOptions:
    return PassOptions(
        min_new=request.min_new,
        min_new_errors=request.min_new_errors,
        if_stale_ms=None if request.if_stale is None else parse_if_stale(request.if_stale),
        full_sweep=request.full_sweep,
    )


def _run_id(current: Wiring, call: Call) -> str:
    """Of a request with an Idempotency-Key always the same, so that it is known again; else a new one."""
    if call.idempotency_key is None:
        return current.entropy(_RUN_ID_BYTES).hex()
    return replay_key(call, "run")[: 2 * _RUN_ID_BYTES]


def _pass(
    current: Wiring, call: Call, options: PassOptions, context: object, at_most_ms: int | None = None
) -> dict[str, Any]:
    outcome = run(
        current.store,
        call,
        options,
        run_id=_run_id(current, call),
        spent=spent(context, at_most_ms),
        policy=current.policy.policy,
        outside=current.outside(left_ms(context, at_most_ms)),
    )
    count("PassesRun" if outcome["outcome"] == "ran" else "PassesSkipped", 1)
    count("FindingsStored", outcome["stored"])
    return outcome

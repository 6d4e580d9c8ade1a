"""Events of agents that come by the bus, from the queue that a rule for each source puts them in.

The rule names the source, and the source's row says whose events they are. What the event says of itself is a batch
and the memory it is for, as the body and the path of a request are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from provenloop.domain.canonical import canonical_json, sha256_hex
from provenloop.domain.errors import InvalidInputError
from provenloop.domain.inbound_source import InboundSource, source_named
from provenloop.domain.names import MemoryId
from provenloop.entry.models.events import to_events
from provenloop.entry.models.inbound import AgentEvents, Envelope
from provenloop.entry.models.validation import read_model
from provenloop.entry.queued import Done, Message, each_message
from provenloop.entry.recording import record
from provenloop.entry.wiring import Wiring, wiring
from provenloop.services.call import Call


def run_queued(event: Mapping[str, Any], _context: object) -> dict[str, Any]:
    """Record what each message of an SQS event brings.

    Returns:
        the partial batch answer: ids of the messages that must come again.
    """
    return each_message(event, "inbound", _run)


def _run(message: Message) -> Done:
    current = wiring()
    envelope = read_model(Envelope, message.body)
    source = source_named(current.inbound_sources, envelope.source)
    batch = read_model(AgentEvents, envelope.event.get("detail"), root="detail")
    memory = MemoryId(source.tenant, _memory_of(batch, source))
    call = _call_of(current, source, memory, envelope, batch, message)
    call.require("write")
    answer = record(current, call, to_events(batch, call.now))
    told = {"source": source.name, "tenant": memory.tenant, "memory": memory.name, "seq": answer["seq"]}
    return Done("recorded", told)


def _memory_of(batch: AgentEvents, source: InboundSource) -> str:
    memory = batch.memory or source.only_memory
    if memory is None:
        raise InvalidInputError("needed, since this source has more than one memory", field="memory")
    return memory


def _call_of(
    current: Wiring, source: InboundSource, memory: MemoryId, envelope: Envelope, batch: AgentEvents, message: Message
) -> Call:
    """The request that an event stands for; without a key of its own it is known again by the id the bus gave it."""
    return Call(
        principal=source.principal,
        memory=memory,
        now=message.now,
        request_id=message.id,
        idempotency_key=batch.idempotency_key or f"event:{_id_of(envelope.event)}",
        entropy=current.entropy,
        body_digest=sha256_hex(canonical_json(envelope.event["detail"])),
    )


def _id_of(event: Mapping[str, Any]) -> str:
    event_id = event.get("id")
    if not isinstance(event_id, str) or not event_id:
        raise InvalidInputError("an event of the bus has an id", field="id")
    return event_id

"""Reads, decisions that change no grain, memories, tokens, and the service's own documents."""

from __future__ import annotations

from typing import Any

import provenloop
from provenloop.domain.errors import InvalidInputError
from provenloop.domain.instants import format_instant
from provenloop.domain.records import MemoryRecord
from provenloop.entry.handlers.decisions import (
    acknowledge,
    approve,
    batch_review,
    reject,
    request_review,
    snooze,
    wake,
)
from provenloop.entry.models.access import TokenRequest
from provenloop.entry.models.loop import (
    ConfigRequest,
)
from provenloop.entry.models.paths import (
    AuditExportQuery,
    AuditQuery,
    ExportQuery,
    HistoryQuery,
    QueueQuery,
    RecallQuery,
    TokensQuery,
)
from provenloop.entry.reply import Reply, json_lines_reply, json_reply
from provenloop.entry.request import Request
from provenloop.entry.telemetry import count
from provenloop.entry.time_left import spent
from provenloop.services import (
    audit_trail,
    export,
    findings_read,
    grain_read,
    history,
    loop_state,
    memories,
    outcomes,
    telemetry_read,
    tokens,
)
from provenloop.services import configure as configuring
from provenloop.services import policy as host_policy
from provenloop.services import recall as recall_service
from provenloop.services import revoke_token as revoking
from provenloop.services.audit_export import Span, export_page
from provenloop.services.call import Call
from provenloop.services.configure import ConfigChange
from provenloop.services.record_use import Telemetry

#: Answered here, written beside.
__all__ = ["acknowledge", "approve", "batch_review", "reject", "request_review", "snooze", "wake"]


def health(_: Request) -> Reply:
    """The service answers; nothing else is asked."""
    return json_reply({"status": "ok", "version": provenloop.__version__})


def openapi(_: Request) -> Reply:
    """The OpenAPI document."""
    # Its models are needed by nobody else: they would cost every cold start.
    from provenloop.entry.openapi import document

    return json_reply(document())


def create_memory(request: Request) -> Reply:
    """Make a memory: 201 when it was made now, 200 when it was there."""
    made, record = memories.create_memory(request.wiring.store, request.call)
    return json_reply(_memory(record), status=201 if made else 200)


def list_memories(request: Request) -> Reply:
    """The tenant's memories that the caller may use."""
    records = memories.list_memories(request.wiring.store, request.caller)
    return json_reply({"memories": [_memory(record) for record in records]})


def mint_token(request: Request) -> Reply:
    """A new token in the caller's tenant."""
    wiring, wanted = request.wiring, request.body_as(TokenRequest).to_mint()
    minted = tokens.mint_token(wiring.store, wiring.tokens, request.call_of_tenant, wanted)
    return json_reply({**minted.shown, "secret": minted.secret}, status=200 if minted.secret is None else 201)


def list_tokens(request: Request) -> Reply:
    """One page of the tenant's tokens."""
    query = request.query_as(TokensQuery)
    answer = revoking.list_tokens(request.wiring.tokens, request.caller, limit=query.limit, cursor=query.cursor)
    return json_reply(answer)


def revoke_token(request: Request) -> Reply:
    """Revoke a token."""
    wiring = request.wiring
    answer = revoking.revoke_token(wiring.store, wiring.tokens, request.caller, request.need("id"), now=request.now)
    return json_reply(answer)


def show_grain(request: Request) -> Reply:
    """One grain."""
    answer = grain_read.show_grain(request.wiring.store, request.call, request.need("address"), _telemetry(request))
    return json_reply(answer)


def show_entity(request: Request) -> Reply:
    """What is held about one subject."""
    answer = grain_read.show_entity(
        request.wiring.store, request.call, request.need("namespace"), request.need("subject"), _telemetry(request)
    )
    return json_reply(answer)


def recall(request: Request) -> Reply:
    """What answers."""
    query = request.query_as(RecallQuery)
    wanted = recall_service.Wanted(
        namespace=query.namespace,
        subject=query.subject,
        relation=query.relation,
        question=query.question,
        as_of=query.as_of,
        limit=query.limit,
        run_id=query.run_id,
    )
    answer = recall_service.recall(request.wiring.store, request.call, wanted, _telemetry(request))
    count("RecallsEmpty", 0 if answer["results"] else 1)
    return json_reply(answer)


def show_history(request: Request) -> Reply:
    """The versions of a grain, or the values of a relation."""
    asked = request.query_as(HistoryQuery)
    given = {name: value for name, value in asked if value is not None}
    if set(given) == {"address"}:
        return json_reply(history.grain_history(request.wiring.store, request.call, given["address"]))
    for name in ("namespace", "subject", "relation"):
        if name not in given:
            raise InvalidInputError("give an address, or namespace, subject and relation", field=name)
    if asked.address is not None:
        raise InvalidInputError("a grain has one history, whatever its subject", field="address")
    answer = history.relation_history(
        request.wiring.store, request.call, given["namespace"], given["subject"], given["relation"]
    )
    return json_reply(answer)


def list_recommendations(request: Request) -> Reply:
    """One page of the queue."""
    query = request.query_as(QueueQuery)
    answer = findings_read.list_recommendations(
        request.wiring.store,
        request.call,
        status=query.status,
        severity=query.severity,
        analyzer=query.analyzer,
        limit=query.limit,
        cursor=query.cursor,
    )
    return json_reply(answer)


def show_recommendation(request: Request) -> Reply:
    """One recommendation in full."""
    return json_reply(findings_read.show_recommendation(request.wiring.store, request.call, request.need("id")))


def show_run(request: Request) -> Reply:
    """The outcome of a pass."""
    return json_reply(loop_state.show_run(request.wiring.store, request.call, request.need("run")))


def loop_health(request: Request) -> Reply:
    """How far the loop of the memory is."""
    return json_reply(loop_state.health(request.wiring.store, request.call, request.wiring.policy))


def show_outcomes(request: Request) -> Reply:
    """What became of applied changes."""
    return json_reply(outcomes.outcomes(request.wiring.store, request.call))


def show_telemetry(request: Request) -> Reply:
    """How memory was used."""
    answer = telemetry_read.show_telemetry(request.wiring.store, request.call, request.wiring.telemetry)
    return json_reply(answer)


def list_analyzers(request: Request) -> Reply:
    """The analyzers' manifests, and how they are set in the memory."""
    current = request.wiring
    return json_reply(loop_state.analyzers(current.store, request.call, current.policy.policy, current.capabilities))


def show_policy(request: Request) -> Reply:
    """The host policy in force, and its faults."""
    return json_reply(host_policy.show_policy(request.wiring.store, request.call, request.wiring.policy))


def configure(request: Request) -> Reply:
    """Change how the memory is analyzed."""
    body = request.body_as(ConfigRequest)
    change = ConfigChange(**{name: getattr(body, name) for name in ConfigRequest.model_fields if name != "because"})
    current = request.wiring
    policy, held = current.policy.policy, current.capabilities
    return json_reply(configuring.configure(current.store, request.call, change, body.because, policy, held))


def export_memory(request: Request) -> Reply:
    """A page of everything that is held for a person or an auditor, one JSON text a line; a header has the cursor."""
    cursor = request.query_as(ExportQuery).cursor
    wiring = request.wiring
    page = export.export_page(wiring.store, request.call, cursor, spent(request.context), wiring.policy.policy)
    return json_lines_reply(page.lines, page.cursor)


def export_audit(request: Request) -> Reply:
    """A page of the audit trail, one entry a line."""
    return _audit_page(request, request.call)


def export_tenant_audit(request: Request) -> Reply:
    """A page of the tenant's own audit trail."""
    return _audit_page(request, request.call_of_tenant)


def _audit_page(request: Request, call: Call) -> Reply:
    query, store = request.query_as(AuditExportQuery), request.wiring.store
    span = Span(query.since, query.until)
    page = export_page(store, call, subject=query.subject, span=span, cursor=query.cursor)
    return json_lines_reply(page.lines, page.cursor)


def verify_audit(request: Request) -> Reply:
    """Whether the audit chains hold."""
    subject = request.query_as(AuditQuery).subject
    return json_reply(audit_trail.verify(request.wiring.store, request.call, subject=subject))


def verify_tenant_audit(request: Request) -> Reply:
    """Whether the tenant's own audit chains hold."""
    subject = request.query_as(AuditQuery).subject
    return json_reply(audit_trail.verify(request.wiring.store, request.call_of_tenant, subject=subject))


def _telemetry(request: Request) -> Telemetry:
    """How this read is recorded; what cannot be recorded is counted here, and nobody waits for it."""
    return Telemetry(request.wiring.telemetry, lambda: count("TelemetryLost", 1))


def _memory(record: MemoryRecord) -> dict[str, Any]:
    return {"name": record.name, "created_at": format_instant(record.created_at), "created_by": record.created_by}

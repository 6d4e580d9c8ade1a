"""What stands beside an entity's document on its item: where an index finds it, and when it expires."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from provenloop.adapters.dynamodb import keys
from provenloop.adapters.dynamodb.codec import decode, plain
from provenloop.adapters.dynamodb.grain_items import seconds
from provenloop.adapters.dynamodb.packing import unpacked
from provenloop.adapters.dynamodb.rows import Row
from provenloop.domain.audit import ChainEnd
from provenloop.domain.bus_events import BusEvent
from provenloop.domain.canonical import canonical_json
from provenloop.domain.commit import LogEntry, TimerHead
from provenloop.domain.distillation import Distillation
from provenloop.domain.instants import day_start_ms, utc_day
from provenloop.domain.job import Job
from provenloop.domain.names import MemoryId
from provenloop.domain.recipe_vectors import VectorItem
from provenloop.domain.recommendation import Recommendation, severity_rank
from provenloop.domain.rollup import ROLLUP_KEPT_DAYS, AskDay, AssemblyDay, ReadDays, SignatureDay, ToolDay
from provenloop.domain.waiting import CLOSED_KEPT_MS, Callback, Wait
from provenloop.lessons.session import SESSION_KEPT_MS, CardPass, Session, SessionBreach, SessionPass, SessionRules

DAY_S = 86_400
RUN_KEPT_S = 90 * DAY_S
JOB_KEPT_S = 400 * DAY_S

#: Fields of a recommendation that its row in the queue shows.
QUEUE_FIELDS = (
    "id", "analyzer", "origin", "namespace", "target", "summary", "severity", "status", "count", "confidence",
    "created_at", "updated_at", "expires_at", "destructive", "rollbackable", "revision", "proposal_digest",
)  # fmt: skip


def in_queue(memory: MemoryId, rec: Recommendation) -> Mapping[str, Any]:
    """The row of a recommendation in the queue of its status."""
    fields = plain(rec)
    return {
        "queue_pk": keys.queue_partition(memory, rec.status),
        "queue_sk": keys.queue_order(severity_rank(rec.severity), rec.created_at, rec.id),
        "row": canonical_json({name: fields[name] for name in QUEUE_FIELDS}),
    }


def in_wake_index(memory: MemoryId, timer: TimerHead) -> Mapping[str, Any]:
    """When the memory wants to be woken; nothing where it does not."""
    if timer.due_at is None:
        return {}
    return {"wake": keys.wake_shard(memory), "wake_at": timer.due_at}


def timer_of(row: Row, text: str) -> TimerHead:
    """The timer of a row, whose document is ``text``; its revision is moved beside that.

    Raises:
        IntegrityError, ValueError: the document is none.
    """
    return replace(decode(TimerHead, text), rev=int(row.rev))


def in_outbox(memory: MemoryId, event: BusEvent) -> Mapping[str, Any]:
    """An event's place among those that wait to be published."""
    return {"time_pk": keys.outbox_shard(memory), "time_sk": keys.outbox_order(event.at, event.id)}


def among_tenants(memory: MemoryId, end: ChainEnd) -> Mapping[str, Any]:
    """Those of tenants themselves are found without knowing any tenant."""
    if not memory.is_tenant:
        return {}
    return {"time_pk": keys.TENANTS, "time_sk": keys.tenant_order(memory.tenant, end.subject)}


def ttl_of_wait(_memory: MemoryId, wait: Wait) -> Mapping[str, Any]:
    """A wait that is over goes after a while."""
    return {"ttl": None if wait.closed_at is None else seconds(wait.closed_at + CLOSED_KEPT_MS)}


def among_callbacks(memory: MemoryId, callback: Callback) -> Mapping[str, Any]:
    """A callback's place among those that wait to be told."""
    place = keys.callback_order(callback.at, callback.id)
    return {"time_pk": keys.callback_shard(memory), "time_sk": place}


def in_vector_index(memory: MemoryId, item: VectorItem) -> Mapping[str, Any]:
    """The vector once more, as numbers: what an index of the store's own reads."""
    [vector] = unpacked(item.packed, 1)
    # Single precision has no more digits than these.
    rounded = [float(f"{value:.7g}") for value in vector]
    return {"vector_pk": keys.vector_partition(memory, item.scope_key, item.space), "vector": rounded}


def ttl_of_day(_memory: MemoryId, row: ToolDay | SignatureDay | AskDay | AssemblyDay) -> Mapping[str, Any]:
    """A rollup row goes when no window can reach it any more."""
    return {"ttl": _ttl_after(row.day)}


def ttl_of_job(_memory: MemoryId, job: Job) -> Mapping[str, Any]:
    """A job that is over is told about for a while; one that runs stays."""
    return {} if job.is_running else {"ttl": job.changed_at // 1000 + JOB_KEPT_S}


def ttl_of_distillation(_memory: MemoryId, job: Distillation) -> Mapping[str, Any]:
    """A distillation that is over is told about for a while; one that runs stays."""
    return {"ttl": job.changed_at // 1000 + JOB_KEPT_S} if job.is_over else {}


def ttl_of_use(_memory: MemoryId, entry: LogEntry) -> Mapping[str, Any]:
    """An entry that only tells how memory was used goes with the counts that it was counted in."""
    is_use = bool(entry.changes) and all(change.is_telemetry for change in entry.changes)
    return {"ttl": _ttl_after(utc_day(entry.at))} if is_use else {}


def ttl_of_reads(_memory: MemoryId, row: ReadDays) -> Mapping[str, Any]:
    """Reads go with the last day they were counted on."""
    return {"ttl": _ttl_after(max(row.days)) if row.days else None}


def ttl_of_session(_memory: MemoryId, session: Session) -> Mapping[str, Any]:
    """A session is kept for so long after its start."""
    return {"ttl": seconds(session.started_at + SESSION_KEPT_MS)}


def ttl_in_session(_memory: MemoryId, row: SessionRules | SessionPass | SessionBreach | CardPass) -> Mapping[str, Any]:
    """What happened in a session is kept as long as it would be had it begun then."""
    return {"ttl": seconds(row.at + SESSION_KEPT_MS)}


def _ttl_after(day: str) -> int:
    """When a rollup row of that day goes, in epoch seconds."""
    return day_start_ms(day) // 1000 + (ROLLUP_KEPT_DAYS + 1) * DAY_S

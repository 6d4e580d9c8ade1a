"""Reading recommendations: the queue, and one of them with its proposal, evidence, metric and audit trail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from provenloop.analyzers import ANALYZERS
from provenloop.analyzers.model_findings import LLM
from provenloop.domain.chain_check import verify_chain
from provenloop.domain.errors import InvalidInputError
from provenloop.domain.grain import Grain
from provenloop.domain.instants import format_instant
from provenloop.domain.lifecycle import OPEN, STATUSES, Status, steps_from
from provenloop.domain.recommendation import SEVERITIES, Recommendation, family_of
from provenloop.domain.registered import is_external
from provenloop.domain.visible import visible
from provenloop.services.audit_trail import entry_told
from provenloop.services.call import Call
from provenloop.services.checkpoint_told import checkpoint_told, metric_told
from provenloop.services.decision import find_recommendation
from provenloop.services.memories import require_heads
from provenloop.services.ports import Store
from provenloop.services.texts import Texts, refs_within, render, target_text

MAX_LIMIT = 100
#: Ids and families of ours, as a filter may name them; and those of others, also of one that is registered no more.
_ANALYZERS = frozenset(
    name for manifest in (*(each.manifest for each in ANALYZERS), LLM) for name in (manifest.id, family_of(manifest.id))
)
_TIMES = ("created_at", "updated_at", "expires_at")


def list_recommendations(
    store: Store,
    call: Call,
    *,
    status: str = "pending",
    severity: str | None = None,
    analyzer: str | None = None,
    limit: int = 25,
    cursor: str | None = None,
) -> dict[str, Any]:
    """One page of the queue: severity descending, then age, then id.

    Args:
        status: one status, ``open``, or ``all``.
        analyzer: an id or a family.

    Returns:
        ``{recommendations: [...], cursor}``; the cursor is None on the last page. Filters are applied to a page after
        it is read, so a page may hold fewer than ``limit`` rows and still have a cursor.

    Raises:
        ScopeDeniedError, NotFoundError, InvalidInputError.
    """
    call.require("read")
    statuses = _statuses(status)
    if severity is not None and severity not in SEVERITIES:
        raise InvalidInputError(f"unknown severity; one of {', '.join(SEVERITIES)}", field="severity")
    if analyzer is not None and analyzer not in _ANALYZERS and not is_external(analyzer):
        known = f"one of {', '.join(sorted(_ANALYZERS))}, or ext.<name> with or without its version"
        raise InvalidInputError(f"unknown analyzer; {known}", field="analyzer")
    if not 1 <= limit <= MAX_LIMIT:
        raise InvalidInputError(f"1 to {MAX_LIMIT}", field="limit")
    page = store.queue(call.memory, statuses, limit=limit, cursor=cursor)
    if not page.rows:
        require_heads(store, call.memory)
    rows = [row for row in page.rows if _is_wanted(row, severity, analyzer)]
    texts = Texts(
        store, call.memory, (ref for row in rows for ref in refs_within([row["target"], row["summary"]])), call.now
    )
    return {"recommendations": [_shown(row, texts) for row in rows], "cursor": page.cursor}


def _statuses(status: str) -> Sequence[Status]:
    if status == "all":
        return STATUSES
    if status == "open":
        return tuple(known for known in STATUSES if known in OPEN)
    chosen = tuple(known for known in STATUSES if known == status)
    if not chosen:
        raise InvalidInputError(f"unknown status; one of {', '.join(STATUSES)}, open, all", field="status")
    return chosen


def _is_wanted(row: Mapping[str, Any], severity: str | None, analyzer: str | None) -> bool:
    is_analyzer = analyzer is None or analyzer in (row["analyzer"], family_of(row["analyzer"]))
    return is_analyzer and severity in (None, row["severity"])


def _shown(row: Mapping[str, Any], texts: Texts) -> dict[str, Any]:
    """A stored row as callers see it."""
    args = texts.joined(row["summary"]["args"])
    times = {name: format_instant(row[name]) for name in _TIMES}
    return {
        **row,
        **times,
        "target": target_text(texts.joined(row["target"])),
        "summary": render(row["summary"]["template"], args),
        "details": args,
    }


def show_recommendation(store: Store, call: Call, prefix: str) -> dict[str, Any]:
    """One recommendation, whole.

    Returns:
        Its fields, ``proposal`` with texts joined, ``evidence`` as grains, ``metric``, ``checkpoints``, ``audit`` with
        reasons, ``verified`` (whether its chain holds) and ``next`` (the statuses that may follow).

    Raises:
        ScopeDeniedError, NotFoundError, AmbiguousPrefixError.
    """
    call.require("read")
    rec = find_recommendation(store, call, prefix)
    evidence = store.grains(call.memory, rec.evidence, call.now)
    entries = tuple(store.audit_entries(call.memory, rec.id))
    notes = store.notes(call.memory, rec.id)
    broken = verify_chain(rec.id, entries, head=rec.chain, status=rec.status)
    return {
        **described(store, call, rec),
        "evidence": [_evidence(address, evidence.get(address)) for address in rec.evidence],
        "audit": [entry_told(entry, notes.get(entry.n)) for entry in entries],
        "verified": broken is None,
        "next": list(steps_from(rec.status)),
    }


def described(store: Store, call: Call, rec: Recommendation) -> dict[str, Any]:
    """A recommendation by itself: its fields, proposal and metric with texts joined, evidence as addresses."""
    fields = asdict(rec)
    texts = Texts(store, call.memory, refs_within(fields), call.now)
    return {
        **_shown({name: value for name, value in fields.items() if name not in _INNER}, texts),
        "proposal": texts.joined(fields["proposal"]),
        "evidence": list(rec.evidence),
        "metric": metric_told(rec.metric),
        "applied_at": _time(rec.applied_at),
        "snoozed_until": _time(rec.snoozed_until),
        "checkpoints": [checkpoint_told(checkpoint) for checkpoint in store.checkpoints(call.memory, rec.id)],
    }


_INNER = ("proposal", "evidence", "metric", "chain", "approval", "creators", "dedup_key", "group", "rev")


def _evidence(address: str, grain: Grain | None) -> dict[str, Any]:
    if grain is None or grain.state == "forgotten":
        return {"address": address, "state": "forgotten"}
    occurred = grain.occurred_at if grain.occurred_at is not None else grain.recorded_at
    return {
        "address": address,
        "kind": grain.kind,
        "namespace": grain.namespace,
        "state": grain.state,
        "occurred_at": format_instant(occurred),
        "body": visible(grain.body),
    }


def _time(at: int | None) -> str | None:
    return None if at is None else format_instant(at)

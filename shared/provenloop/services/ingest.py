"""Ingest: a batch of events becomes one commit.

Two round trips: reserve a number in the log, then one transaction of the grains and the log entry. Where some grains
are there already, the refusal says which, and the transaction is sent again with those as duplicates or restatements.
A batch is stored whole or not at all, and sending it again stores nothing twice: an event without an identity of its
own is identified by the caller's Idempotency-Key and its place, or by its origin where it has one, such as the line of
a file. What only echoes a text of Provenloop's own is ignored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from provenloop.domain.address import Addresses
from provenloop.domain.commit import Change, LogEntry, LogHead, count_new
from provenloop.domain.errors import BusyError, InvalidInputError, TooLargeError
from provenloop.domain.events import MAX_AHEAD_MS, Event, StatedEvent, SupersedeEvent, occurred_at_of, texts_of
from provenloop.domain.injected import carries_marker
from provenloop.domain.policy import TelemetryMode
from provenloop.domain.prepare import Prepared, prepare
from provenloop.domain.records import Replay
from provenloop.domain.use_events import Report
from provenloop.services.batch import TOOL_CALL_KEPT_MS, Batch, Slot
from provenloop.services.call import Call
from provenloop.services.log_number import given_back_if_refused, next_slot
from provenloop.services.memories import require_heads, unknown_memory
from provenloop.services.ports import Put, Reservation, Store, Write, WriteRefusedError
from provenloop.services.replay import replay_of, require_same_body
from provenloop.services.use_reports import Reported, Reports, ignored_reports, returned_of

MAX_EVENTS = 90
_MAX_ROUNDS = 6
_REQUEST_CHARS = 16


@dataclass(frozen=True, slots=True)
class _Sent:
    """An event at its place in the request, and the draft it becomes."""

    index: int
    event: Event
    prepared: Prepared
    is_echo: bool
    origin: str | None


def record_events(
    store: Store,
    call: Call,
    events: Sequence[Event | Report],
    mode: TelemetryMode = "aggregate",
    origins: Sequence[str] = (),
) -> dict[str, Any]:
    """Store a batch of validated events; reports of how memory was used are counted as ``mode`` says.

    ``origins`` says of each event where it came from, if it did not come in a request: two events of one principal
    with one origin, and no identity of their own, are the same event.

    Returns:
        ``{seq, events: [{index, kind, address, status, ...}], redacted: {kind: n}}`` with one answer per event; an
        ignored one has no address, and ``seq`` is None where all are ignored.

    Raises:
        ScopeDeniedError, NotFoundError, InvalidInputError, TooLargeError, BusyError: nothing was stored.
        TargetChangedError: a supersede's target is not current any more; nothing was stored.
    """
    call.require("write")
    _check(call, events)
    sent = [
        _sent(index, event, call.now, origins[index] if origins else None)
        for index, event in enumerate(events)
        if not isinstance(event, Report)
    ]
    reported = [Reported(index, event) for index, event in enumerate(events) if isinstance(event, Report)]
    kept = [one for one in sent if not one.is_echo]
    ignored = [_ignored(one) for one in sent if one.is_echo]
    if not kept and (not reported or mode == "off"):
        require_heads(store, call.memory)
        return _answer(None, [*ignored, *ignored_reports(reported)], kept)
    returned = returned_of(reported)
    for _ in range(_MAX_ROUNDS):
        head = _reserve(store, call, kept, reported)
        with given_back_if_refused(store, call, head.seq):
            known = store.grains(call.memory, returned, call.now) if returned else {}
            reports = Reports(
                reported, Addresses(head.key), known, mode, seq=head.seq, by=call.principal.label, now=call.now
            )
            batch = _batch(store, call, head, kept)
            if _commit(store, call, head, batch, reports):
                return _answer(head.seq, [*batch.answers(), *ignored, *reports.answers()], kept)
    raise BusyError("other writers keep changing the same grains; try again")


def _sent(index: int, event: Event, now: int, origin: str | None) -> _Sent:
    stated = _stated(event)
    return _Sent(index, event, prepare(stated, now), carries_marker(texts_of(stated)), origin)


def _ignored(sent: _Sent) -> Mapping[str, Any]:
    return {"index": sent.index, "kind": sent.prepared.draft.kind, "status": "ignored"}


def _check(call: Call, events: Sequence[Event | Report]) -> None:
    if not events:
        raise InvalidInputError("at least one event is needed", field="events")
    if len(events) > MAX_EVENTS:
        raise TooLargeError(f"at most {MAX_EVENTS} events a request", field="events")
    for index, event in enumerate(events):
        at = None if isinstance(event, Report) else occurred_at_of(_stated(event))
        if at is not None and at > call.now + MAX_AHEAD_MS:
            raise InvalidInputError("more than 5 minutes in the future", field=f"events[{index}].occurred_at")


def _stated(event: Event) -> StatedEvent:
    return event.by if isinstance(event, SupersedeEvent) else event


def _reserve(store: Store, call: Call, sent: Sequence[_Sent], reported: Sequence[Reported]) -> LogHead:
    drafts = [one.prepared.draft for one in sent]
    reservation = Reservation(
        grains=len(drafts),
        errors=sum(1 for draft in drafts if draft.is_error),
        namespaces=frozenset([*(draft.namespace for draft in drafts), *(one.report.namespace for one in reported)]),
        at=call.now,
        wake_at=next_slot(call.now),
    )
    head = store.reserve(call.memory, reservation)
    if head is None:
        raise unknown_memory()
    return head


def _batch(store: Store, call: Call, head: LogHead, sent: Sequence[_Sent]) -> Batch:
    addresses = Addresses(head.key)
    request = call.idempotency_key or call.request_id
    slots = [
        Slot.of(
            one.index,
            one.event,
            one.prepared,
            addresses,
            (call.memory.name, call.principal.id, *_place_of(one, request)),
        )
        for one in sent
    ]
    targets = [slot.supersede.target for slot in slots if slot.supersede is not None]
    return Batch(
        slots,
        addresses,
        seq=head.seq,
        by=call.principal.label,
        now=call.now,
        request=addresses.short("request", call.principal.id, request)[:_REQUEST_CHARS],
        targets=store.grains(call.memory, targets, call.now) if targets else {},
    )


def _place_of(sent: _Sent, request: str) -> tuple[str, ...]:
    """Where an event came from. An origin has three parts, so that no place in a request, with its two, is the same."""
    return (request, str(sent.index)) if sent.origin is None else ("origin", sent.origin, "")


def _commit(store: Store, call: Call, head: LogHead, batch: Batch, reports: Reports) -> bool:
    """Whether the batch is stored; False when its number was taken and a new one is needed."""
    commit_id = f"{call.request_id}/{head.seq}"
    for _ in range(_MAX_ROUNDS):
        entry = _log_entry(call, head.seq, commit_id, (*batch.changes(), *reports.changes()))
        memo = _memo(call) if batch.counts_again or reports.counts else []
        writes: list[Write] = [Put(entry), *batch.writes(), *reports.writes(), *memo]
        try:
            store.transact(call.memory, writes, call.now)
        except WriteRefusedError as refused:
            found = {type(failure.found): failure.found for failure in refused.failures}
            taken, repeated = found.get(LogEntry), found.get(Replay)
            if isinstance(taken, LogEntry):
                # Ours when a reply was lost after the store had written; else a pass gave the number up as dead.
                return taken.commit_id == commit_id
            if isinstance(repeated, Replay):
                require_same_body(call, repeated)
                batch.mark_repeated()
                reports.mark_repeated()
            batch.learn(refused.failures)
            reports.learn(refused.failures)
            continue
        return True
    raise BusyError("other writers keep changing the same grains; try again")


def _memo(call: Call) -> list[Write]:
    """Remembers a request that counts what is there already: a put that fails cannot tell that it was sent before.

    For as long as a tool call is kept, so that one request is known again whole or not at all.
    """
    replay = replay_of(call, "events", {}, TOOL_CALL_KEPT_MS)
    return [Put(replay)] if replay is not None else []


def _log_entry(call: Call, seq: int, commit_id: str, changes: tuple[Change, ...]) -> LogEntry:
    grains, errors = count_new(changes)
    return LogEntry(seq, commit_id, call.now, call.principal.label, changes, grains, errors)


def _answer(seq: int | None, answers: Sequence[Mapping[str, Any]], sent: Sequence[_Sent]) -> dict[str, Any]:
    redacted: Counter[str] = Counter()
    for one in sent:
        redacted.update(one.prepared.redacted)
    in_order = sorted(answers, key=lambda answer: int(answer["index"]))
    return {"seq": seq, "events": in_order, "redacted": dict(sorted(redacted.items()))}

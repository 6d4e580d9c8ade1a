"""Validated events as agents send them, and how each becomes a grain draft.

Shapes and bounds were checked at the edge. Here secrets are taken out of every text before anything else looks at it,
an error's signature is taken before a long body is cut, and the identity of each kind is fixed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from provenloop.domain.canonical import canonical_json
from provenloop.domain.grain import GrainDraft
from provenloop.domain.secrets import redact, redact_json
from provenloop.domain.signature import explicit_signature, signature_of
from provenloop.domain.text import nfc, normalise

MAX_BODY_BYTES = 8192
MAX_AHEAD_MS = 300_000


@dataclass(frozen=True, slots=True)
class FactEvent:
    """Subject, relation, object, believed true."""

    namespace: str
    subject: str
    relation: str
    object: str
    confidence: float | None = None
    valid_from: int | None = None
    valid_to: int | None = None
    occurred_at: int | None = None
    source: str | None = None
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolCallEvent:
    """One invocation of a tool; an occurrence, never a value. ``result`` and ``input`` are JSON values."""

    namespace: str
    tool: str
    is_error: bool
    result: Any = None
    input: Any = None
    call_id: str | None = None
    session: str | None = None
    occurred_at: int | None = None
    signature: str | None = None


@dataclass(frozen=True, slots=True)
class ObservationEvent:
    """Something noted."""

    namespace: str
    text: str
    valid_to: int | None = None
    session: str | None = None
    source: str | None = None
    occurred_at: int | None = None


@dataclass(frozen=True, slots=True)
class SupersedeEvent:
    """Replaces the current grain ``target`` by another of its kind; ``if_head`` is the head_rev the sender saw."""

    target: str
    by: FactEvent | ObservationEvent
    if_head: int | None = None


StatedEvent = FactEvent | ToolCallEvent | ObservationEvent
Event = StatedEvent | SupersedeEvent


@dataclass(frozen=True, slots=True)
class Prepared:
    """A draft, and how many secrets of which kind were taken out of it."""

    draft: GrainDraft
    redacted: Mapping[str, int]


def prepare(event: StatedEvent, now: int) -> Prepared:
    """The draft of an event, redacted, signed and cut to size."""
    if isinstance(event, FactEvent):
        return _prepare_fact(event)
    if isinstance(event, ToolCallEvent):
        return _prepare_tool_call(event, now)
    return _prepare_observation(event)


def _prepare_fact(event: FactEvent) -> Prepared:
    found: Counter[str] = Counter()
    subject, relation, value = (_clean(nfc(text), found) for text in (event.subject, event.relation, event.object))
    body = _without_none(
        subject=subject,
        relation=relation,
        object=_cut(value),
        confidence=event.confidence,
        source=_clean(event.source, found) if event.source else None,
        tags=sorted({_clean(tag, found) for tag in event.tags}) or None,
        **_cut_note(value),
    )
    draft = GrainDraft(
        kind="fact",
        namespace=event.namespace,
        topic=subject,
        relation=relation,
        identity=(subject, relation, value),
        body=body,
        occurred_at=event.occurred_at,
        valid_from=event.valid_from,
        valid_to=event.valid_to,
    )
    return Prepared(draft, dict(found))


def _prepare_tool_call(event: ToolCallEvent, now: int) -> Prepared:
    found: Counter[str] = Counter()
    tool = _clean(nfc(event.tool), found)
    result, counts = redact_json(event.result)
    found.update(counts)
    given, counts = redact_json(event.input)
    found.update(counts)
    signature = None
    if event.is_error:
        explicit = _clean(event.signature, found) if event.signature else None
        signature = explicit_signature(explicit) if explicit else signature_of(result)
    text, sent = _text_of(result), _text_of(given)
    body = _without_none(
        tool=tool,
        is_error=event.is_error,
        result=_cut(text),
        input=_cut(sent) if event.input is not None else None,
        call_id=event.call_id,
        session=event.session,
        signature=signature.shown if signature else None,
        **_cut_note(text),
        **{f"input_{name}": value for name, value in _cut_note(sent).items()},
    )
    draft = GrainDraft(
        kind="tool_call",
        namespace=event.namespace,
        topic=tool,
        relation="",
        identity=(normalise(tool), event.call_id) if event.call_id is not None else None,
        body=body,
        occurred_at=event.occurred_at if event.occurred_at is not None else now,
        is_error=event.is_error,
        signature=signature.hash if signature else None,
        session=event.session,
    )
    return Prepared(draft, dict(found))


def _prepare_observation(event: ObservationEvent) -> Prepared:
    found: Counter[str] = Counter()
    text = _clean(nfc(event.text), found)
    body = _without_none(
        text=_cut(text),
        source=_clean(event.source, found) if event.source else None,
        session=event.session,
        **_cut_note(text),
    )
    draft = GrainDraft(
        kind="observation",
        namespace=event.namespace,
        topic="",
        relation="",
        identity=(text,),
        body=body,
        occurred_at=event.occurred_at,
        valid_to=event.valid_to,
        session=event.session,
    )
    return Prepared(draft, dict(found))


def _clean(text: str, found: Counter[str]) -> str:
    clean, counts = redact(text)
    found.update(counts)
    return clean


def _text_of(value: Any) -> str:
    """A tool's result as text: strings as they are, other JSON in canonical form, nothing as nothing."""
    if value is None:
        return ""
    return str(value) if isinstance(value, str) else canonical_json(value)


def _cut(text: str) -> str:
    """The text, or its first 8 KB (whole characters) when it is longer."""
    raw = text.encode()
    return text if len(raw) <= MAX_BODY_BYTES else raw[:MAX_BODY_BYTES].decode(errors="ignore")


def _cut_note(text: str) -> dict[str, Any]:
    """Full size and digest of a text that was cut."""
    raw = text.encode()
    if len(raw) <= MAX_BODY_BYTES:
        return {}
    return {"full_bytes": len(raw), "full_sha256": sha256(raw).hexdigest()}


def _without_none(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}

"""How each event becomes a grain draft.

Secrets are taken out of every text before anything else looks at it, an error's signature is taken before a long body
is cut, and the identity of each kind is fixed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from provenloop.domain.canonical import canonical_json
from provenloop.domain.events import (
    FactEvent,
    FreeEvent,
    GoalEvent,
    ObservationEvent,
    SkillEvent,
    StatedEvent,
    ToolCallEvent,
)
from provenloop.domain.grain import GrainDraft
from provenloop.domain.secrets import redact, redact_json
from provenloop.domain.signature import explicit_signature, signature_of
from provenloop.domain.text import nfc, normalise

MAX_BODY_BYTES = 8192


@dataclass(frozen=True, slots=True)
class Prepared:
    """A draft, and how many secrets of which kind were taken out of it."""

    draft: GrainDraft
    redacted: Mapping[str, int]


def prepare(event: StatedEvent, now: int) -> Prepared:
    """The draft of an event, redacted, signed and cut to size."""
    found: Counter[str] = Counter()
    draft = _MAKERS[type(event)](event, found, now)
    return Prepared(draft, dict(found))


def _fact(event: FactEvent, found: Counter[str], _now: int) -> GrainDraft:
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
    return GrainDraft(
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


def _tool_call(event: ToolCallEvent, found: Counter[str], now: int) -> GrainDraft:
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
    return GrainDraft(
        kind="tool_call",
        namespace=event.namespace,
        topic=tool,
        relation="",
        identity=(normalise(tool), event.call_id) if event.call_id is not None else None,
        body=body,
        occurred_at=event.occurred_at if event.occurred_at is not None else now,
        valid_to=event.valid_to,
        is_error=event.is_error,
        signature=signature.hash if signature else None,
        session=event.session,
    )


def _observation(event: ObservationEvent, found: Counter[str], _now: int) -> GrainDraft:
    text = _clean(nfc(event.text), found)
    body = _without_none(
        text=_cut(text),
        source=_clean(event.source, found) if event.source else None,
        session=event.session,
        **_cut_note(text),
    )
    return GrainDraft(
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


def _skill(event: SkillEvent, found: Counter[str], _now: int) -> GrainDraft:
    name = _clean(nfc(event.name), found)
    body = _without_none(
        name=name, revision=event.revision, proficiency=event.proficiency, practice_count=event.practice_count
    )
    return GrainDraft(
        kind="skill",
        namespace=event.namespace,
        topic=name,
        relation="",
        identity=(name, str(event.revision)),
        body=body,
        valid_to=event.valid_to,
    )


def _goal(event: GoalEvent, found: Counter[str], _now: int) -> GrainDraft:
    name = _clean(nfc(event.name), found)
    description = _clean(event.description, found) if event.description else None
    body = _without_none(
        name=name,
        state=event.state,
        progress=event.progress,
        description=description,
    )
    return GrainDraft(
        kind="goal",
        namespace=event.namespace,
        topic=name,
        relation="",
        identity=(name,),
        body=body,
        valid_to=event.valid_to,
    )


def _free_event(event: FreeEvent, found: Counter[str], now: int) -> GrainDraft:
    clean, counts = redact_json(event.body)
    found.update(counts)
    text = canonical_json(clean)
    note = _cut_note(text)
    return GrainDraft(
        kind="event",
        namespace=event.namespace,
        topic="",
        relation="",
        identity=(event.event_id,) if event.event_id is not None else None,
        body={
            "body": _cut(text) if note else clean,
            **_without_none(event_id=event.event_id, session=event.session, **note),
        },
        occurred_at=event.occurred_at if event.occurred_at is not None else now,
        valid_to=event.valid_to,
        session=event.session,
    )


_MAKERS: Mapping[type[Any], Callable[..., GrainDraft]] = {
    FactEvent: _fact,
    ToolCallEvent: _tool_call,
    ObservationEvent: _observation,
    SkillEvent: _skill,
    GoalEvent: _goal,
    FreeEvent: _free_event,
}


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

"""A reported line as it is kept: checked, trimmed, without secrets.

Invariant: what identifies a card (project, category, signature) shows something and is never cut; what is too long is
refused by name, but for a source, which is nobody's fault but the guard's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from provenloop.domain.errors import InvalidInputError, TooLargeError
from provenloop.domain.grain import Grain
from provenloop.domain.secrets import redact
from provenloop.domain.text import nfc, normalise

LineKind = Literal["gate_not_run"]
#: What a line was: a report of a card, a violation of an armed one, or a fault of the environment.
Counted = Literal["report", "violation", "environment"]
_STAMPED = ("card", "counted", "just_ready")

#: Sources that come with Provenloop; others may be used.
SOURCES = ("danger-guard", "quality-gate", "session-rescue", "lessons-digest", "manual")
MANUAL = "manual"
MAX_SOURCE_CHARS = 64
MAX_KEY_CHARS = 512
MAX_DETAIL_BYTES = 200_000
MAX_STATEMENT_CHARS = 2000
KEPT_DETAIL_CHARS = 2000
ELLIPSIS = "\u2026"


@dataclass(frozen=True, slots=True)
class LineEvidence:
    """What a guard saw. ``target`` and ``signature`` are the concrete things that a folded category leaves out."""

    needs_user_confirmation: bool = False
    target: str | None = None
    signature: str | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the lesson stream. ``redacted`` counts the secrets that were taken out of it, by kind."""

    project: str
    category: str
    signature: str
    source: str
    detail: str
    statement: str | None = None
    session: str | None = None
    evidence: LineEvidence = field(default_factory=LineEvidence)
    kind: LineKind | None = None
    redacted: Mapping[str, int] = field(default_factory=dict)

    def body(self, card: str | None, counted: Counted, *, just_ready: bool) -> dict[str, Any]:
        """The line as a grain holds it; ``lesson`` are the names that many lines share, and what it was counted as."""
        evidence = _given(
            needs_user_confirmation=self.evidence.needs_user_confirmation or None,
            target=self.evidence.target,
            signature=self.evidence.signature,
        )
        names = _given(
            project=self.project,
            category=self.category,
            signature=self.signature,
            source=self.source,
            kind=self.kind,
            card=card,
            counted=counted,
            just_ready=just_ready or None,
        )
        told = _given(detail=self.detail, statement=self.statement, session=self.session, evidence=evidence or None)
        return {"lesson": names, **told}


def is_lesson(grain: Grain) -> bool:
    """Whether a grain is a line of the stream; of one that is forgotten that cannot be told."""
    return grain.kind == "event" and isinstance(grain.body.get("lesson"), Mapping)


def same_line(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two bodies hold one line, whatever it was counted as."""
    return _as_sent(one) == _as_sent(other)


def _as_sent(body: Mapping[str, Any]) -> dict[str, Any]:
    names = {name: value for name, value in body["lesson"].items() if name not in _STAMPED}
    return {**body, "lesson": names}


def checked(line: Line) -> Line:
    """The line as it is kept.

    Raises:
        InvalidInputError: naming the field that is blank or too long.
        TooLargeError: a detail of over 200 KB.
    """
    if len(line.detail.encode()) > MAX_DETAIL_BYTES:
        raise TooLargeError(f"at most {MAX_DETAIL_BYTES} bytes", field="detail")
    if not normalise(line.detail):
        raise InvalidInputError("blank", field="detail")
    found: dict[str, int] = {}
    kept = replace(
        line,
        project=_key(line.project, "project", found),
        category=_key(line.category, "category", found),
        signature=_key(line.signature, "signature", found),
        source=_clean(line.source.strip(), found) if is_source(line.source) else MANUAL,
        detail=_clean(line.detail, found),
        statement=_statement(line.statement, found),
        evidence=_evidence(line.evidence, found),
    )
    return replace(kept, redacted=dict(sorted(found.items())))


def is_source(text: str) -> bool:
    """Whether a line keeps this source; any other is replaced by ``manual``."""
    return 1 <= len(text.strip()) <= MAX_SOURCE_CHARS


def statement_of(text: str | None) -> str | None:
    """A statement as it is kept: trimmed, without secrets; a blank one was not given.

    Raises:
        InvalidInputError: it is too long.
    """
    return _statement(text, {})


def key_text(text: str, field: str) -> str:
    """A project, category or signature as it is kept: trimmed, without secrets.

    Raises:
        InvalidInputError: it is blank or too long.
    """
    return _key(text, field, {})


def kept_detail(detail: str) -> str:
    """The detail as a card's evidence keeps it: at most 2,000 characters, the last of them an ellipsis if it is cut."""
    return detail if len(detail) <= KEPT_DETAIL_CHARS else detail[: KEPT_DETAIL_CHARS - 1] + ELLIPSIS


def _statement(text: str | None, found: dict[str, int]) -> str | None:
    if text is None or not normalise(text):
        return None
    if len(text.strip()) > MAX_STATEMENT_CHARS:
        raise InvalidInputError(f"at most {MAX_STATEMENT_CHARS} characters", field="statement")
    return _clean(nfc(text).strip(), found)


def _evidence(evidence: LineEvidence, found: dict[str, int]) -> LineEvidence:
    target, signature = (
        _key(value, f"evidence.{name}", found) if value is not None and normalise(value) else None
        for name, value in (("target", evidence.target), ("signature", evidence.signature))
    )
    return replace(evidence, target=target, signature=signature)


def _key(text: str, name: str, found: dict[str, int]) -> str:
    trimmed = nfc(text).strip()
    if not normalise(trimmed):
        raise InvalidInputError("blank", field=name)
    if len(trimmed) > MAX_KEY_CHARS:
        raise InvalidInputError(f"at most {MAX_KEY_CHARS} characters", field=name)
    return _clean(trimmed, found)


def _clean(text: str, found: dict[str, int]) -> str:
    clean, counts = redact(text)
    for kind, number in counts.items():
        found[kind] = found.get(kind, 0) + number
    return clean


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}

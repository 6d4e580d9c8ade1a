"""What each stage is shown. Every item is one quoted text: its label is ``<group>:<id>``, its text compact JSON.

| stage | groups and the fields of their items |
|---|---|
| discover | brief: analyzer, summary, target, severity |
| discover | evidence: grain_type, target, text |
| discover | approved, rejected: summary, because |
| ground | claim: id, claim, evidence (texts) |
| verify, enrich | finding: id, summary, target, evidence (texts), guidance (of verify only, where there is one) |

The id of evidence is its label in the bundle, that of claims and findings the id of the draft.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from provenloop.domain.outside import MAX_SUMMARY_CHARS
from provenloop.domain.quoting import Quoted, compact
from provenloop.domain.visible import visible
from provenloop.reflection.bundle import TEXT_CHARS, Bundle
from provenloop.reflection.draft import ModelDraft

_DECIDED = {"summary": MAX_SUMMARY_CHARS, "because": TEXT_CHARS}
#: How many characters of each field are shown.
_LIMITS: Mapping[str, Mapping[str, int]] = {
    "brief": {"summary": TEXT_CHARS},
    "evidence": {"text": TEXT_CHARS},
    "approved": _DECIDED,
    "rejected": _DECIDED,
    "claim": {"claim": MAX_SUMMARY_CHARS, "evidence": TEXT_CHARS},
    "finding": {"summary": MAX_SUMMARY_CHARS, "evidence": TEXT_CHARS},
}


def quoted_bundle(bundle: Bundle) -> tuple[Quoted, ...]:
    """What DISCOVER is shown."""
    evidence = (
        _item("evidence", item.label, {"grain_type": item.kind, "target": item.target, "text": item.text})
        for item in bundle.evidence
    )
    return (
        *_numbered("brief", (asdict(brief) for brief in bundle.briefs)),
        *evidence,
        *_numbered("approved", (asdict(decided) for decided in bundle.approved)),
        *_numbered("rejected", (asdict(decided) for decided in bundle.rejected)),
    )


def quoted_claims(drafts: Sequence[ModelDraft]) -> tuple[Quoted, ...]:
    """What GROUND is shown: what is claimed, and its evidence."""
    return tuple(
        _item("claim", draft.id, {"id": draft.id, "claim": draft.summary, "evidence": _texts(draft)})
        for draft in drafts
    )


def quoted_findings(drafts: Sequence[ModelDraft]) -> tuple[Quoted, ...]:
    """What VERIFY and ENRICH are shown: all that a person will read, and nothing of why or how sure the author was."""
    return tuple(_item("finding", draft.id, _finding(draft)) for draft in drafts)


def _finding(draft: ModelDraft) -> Mapping[str, Any]:
    found = {"id": draft.id, "summary": draft.summary, "target": draft.target_text, "evidence": _texts(draft)}
    return {**found, "guidance": draft.guidance} if draft.guidance else found


def _texts(draft: ModelDraft) -> list[str]:
    return [item.text for item in draft.evidence]


def _numbered(group: str, items: Iterable[Mapping[str, Any]]) -> Iterable[Quoted]:
    return (_item(group, str(number), fields) for number, fields in enumerate(items, start=1))


def _item(group: str, name: str, fields: Mapping[str, Any]) -> Quoted:
    # Escapes of hidden characters are put in before it is JSON, for they would not be JSON inside of it.
    return Quoted(f"{group}:{name}", compact(visible(fields)), _LIMITS[group])

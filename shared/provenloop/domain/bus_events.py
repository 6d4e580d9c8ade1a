"""What the bus is told: one event for each audit entry that somebody outside may want to act on.

An event follows from its entry, so its id is the entry's. It names ids, addresses, digests, numbers and
severities; what an entry's effects hold beside those fields never leaves.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from provenloop.domain.audit import AuditEntry
from provenloop.domain.measured_step import is_measured
from provenloop.domain.names import MemoryId

EventKind = Literal[
    "RecommendationProposed", "RecommendationDecided", "ChangeApplied", "ChangeRolledBack", "OutcomeMeasured",
    "RuleReady", "RuleArmed", "RuleDemoted", "RecipeQuarantined",
]  # fmt: skip

#: Fields of every event, but for that which says what it is about: ``recommendation``, ``card`` or ``recipe``.
COMMON_FIELDS: tuple[str, ...] = ("id", "tenant", "memory", "n", "from", "status", "at", "by")
#: Further fields by kind, taken from the entry's effects; one that the entry does not have is left out.
EVENT_FIELDS: Mapping[EventKind, tuple[str, ...]] = {
    "RecommendationProposed": ("revision", "severity", "proposal", "reason"),
    "RecommendationDecided": ("revision", "severity", "proposal"),
    "ChangeApplied": ("revision", "severity", "proposal", "seq", "created", "changed"),
    "ChangeRolledBack": ("revision", "severity", "seq", "removed", "restored", "already_undone"),
    "OutcomeMeasured": (
        "revision", "severity", "proposal", "horizon_ms", "verdict", "errors", "calls", "late_errors", "late_calls",
        "baseline_errors", "baseline_calls",
    ),
    "RuleReady": ("project", "reports", "reason"),
    "RuleArmed": ("project", "statement", "action"),
    "RuleDemoted": ("project", "violations", "suppressed"),
    "RecipeQuarantined": ("kind", "revision", "strikes", "reinforced"),
}  # fmt: skip
#: What the subject of a chain begins with -> what an event calls what it is about.
_ABOUT: Mapping[str, str] = {"card": "card", "recipe": "recipe"}
#: Of a card's chain: what follows from its status, where the step is one of those named.
_OF_CARD: Mapping[str, tuple[EventKind, tuple[str, ...]]] = {
    "candidate": ("RuleReady", ("ready", "return")),
    "armed": ("RuleArmed", ("arm", "edit", "merge")),
    "demoted": ("RuleDemoted", ("demote",)),
}
_OF_STATUS: Mapping[str, EventKind] = {
    "pending": "RecommendationProposed",
    "approved": "RecommendationDecided",
    "rejected": "RecommendationDecided",
    "acknowledged": "RecommendationDecided",
    "snoozed": "RecommendationDecided",
    "applied": "ChangeApplied",
    "rolled_back": "ChangeRolledBack",
}


@dataclass(frozen=True, slots=True)
class BusEvent:
    """An event that waits to be published. ``id`` is that of its audit entry, ``at`` epoch ms."""

    id: str
    kind: EventKind
    at: int
    detail: Mapping[str, Any] = field(default_factory=dict)


def event_of(entry: AuditEntry, about: str | None = None) -> BusEvent | None:
    """What the bus is told of an entry; None where the step concerns nobody outside.

    Args:
        about: the id of what it is about, where the chain has another name for it.

    Only chains of recommendations, cards and recipes have events: what else has a chain (a forgotten grain, the
    configuration) carries another word and a colon in its subject.
    """
    body = json.loads(entry.text)
    kind = _kind_of(entry.subject, body)
    if kind is None:
        return None
    effects = body["effects"]
    word, colon, name = entry.subject.partition(":")
    detail = {
        _ABOUT[word] if colon else "recommendation": about or name or word,
        "n": entry.n,
        "from": body["from"],
        "status": body["to"],
        "at": body["at"],
        "by": {"kind": body["by"]["kind"], "id": body["by"]["id"]},
        **{name: effects[name] for name in EVENT_FIELDS[kind] if name in effects},
    }
    return BusEvent(entry.id, kind, entry.at, detail)


def _kind_of(subject: str, body: Mapping[str, Any]) -> EventKind | None:
    if subject.startswith("card:"):
        kind, actions = _OF_CARD.get(body["to"], (None, ()))
        return kind if body["effects"].get("action") in actions else None
    if subject.startswith("recipe:"):
        return "RecipeQuarantined" if body["to"] == "quarantined" != body["from"] else None
    if ":" in subject:
        return None
    return "OutcomeMeasured" if is_measured(body) else _OF_STATUS.get(body["to"])


def told(memory: MemoryId, event: BusEvent) -> dict[str, Any]:
    """The whole detail as it goes out: the event's own, and which memory it is about."""
    return {"id": event.id, "tenant": memory.tenant, "memory": memory.name, **event.detail}

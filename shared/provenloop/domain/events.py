"""Validated events as agents send them. Shapes and bounds were checked at the edge.

All times are epoch milliseconds. A field that is None was not given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

MAX_AHEAD_MS = 300_000

GoalState = Literal["active", "done", "dropped"]


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
    valid_to: int | None = None
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
class SkillEvent:
    """How well something is mastered: one revision of a skill. ``proficiency`` is 0 to 1, None when never measured."""

    namespace: str
    name: str
    revision: int = 1
    proficiency: float | None = None
    practice_count: int | None = None
    valid_to: int | None = None


@dataclass(frozen=True, slots=True)
class GoalEvent:
    """Something to be reached. ``state`` None leaves it as it is, and is ``active`` for a new goal."""

    namespace: str
    name: str
    state: GoalState | None = None
    progress: float | None = None
    description: str | None = None
    valid_to: int | None = None


@dataclass(frozen=True, slots=True)
class FreeEvent:
    """Anything else that happened, as any JSON value: messages, feedback. An occurrence, as a tool call is."""

    namespace: str
    body: Any
    event_id: str | None = None
    session: str | None = None
    occurred_at: int | None = None
    valid_to: int | None = None


SupersedingEvent = FactEvent | ObservationEvent | SkillEvent | GoalEvent | FreeEvent


@dataclass(frozen=True, slots=True)
class SupersedeEvent:
    """Replaces the current grain ``target`` by another of its kind; ``if_head`` is the head_rev the sender saw.

    ``allow_fork`` also takes a target that is superseded already: it then has one more successor.
    """

    target: str
    by: SupersedingEvent
    if_head: int | None = None
    allow_fork: bool = False


StatedEvent = SupersedingEvent | ToolCallEvent
Event = StatedEvent | SupersedeEvent


def occurred_at_of(event: StatedEvent) -> int | None:
    """When it occurred or last held, as far as the sender says."""
    return None if isinstance(event, SkillEvent | GoalEvent) else event.occurred_at


def texts_of(event: StatedEvent) -> tuple[Any, ...]:
    """What an event says, as texts and JSON values. A tool call says nothing: it is what happened."""
    if isinstance(event, FactEvent):
        return (event.subject, event.relation, event.object)
    if isinstance(event, ObservationEvent):
        return (event.text,)
    if isinstance(event, SkillEvent):
        return (event.name,)
    if isinstance(event, GoalEvent):
        return (event.name, event.description)
    return (event.body,) if isinstance(event, FreeEvent) else ()

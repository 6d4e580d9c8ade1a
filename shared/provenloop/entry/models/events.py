"""Events as agents send them, and their conversion to events of the domain."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from provenloop.domain import events as domain
from provenloop.domain.errors import InvalidInputError
from provenloop.domain.events import MAX_AHEAD_MS, GoalState
from provenloop.domain.names import DEFAULT_NAMESPACE
from provenloop.domain.use_events import Report
from provenloop.entry.models.fields import (
    Address,
    Confidence,
    Description,
    ForeignId,
    Instant,
    Line,
    LongText,
    Name,
    Namespace,
    ObjectText,
    Tag,
    Tool,
    WireModel,
)
from provenloop.entry.models.use_events import AssemblyReport, RecallReport, to_report

MAX_EVENTS = 90
MAX_TAGS = 32
MAX_COUNT = 1_000_000_000


class Fact(WireModel):
    """Subject, relation, object, believed true. The same three in one namespace are the same fact."""

    kind: Literal["fact"]
    namespace: Namespace = DEFAULT_NAMESPACE
    subject: Name
    relation: Name
    object: ObjectText
    confidence: Confidence | None = None
    valid_from: Instant | None = None
    valid_to: Instant | None = None
    occurred_at: Instant | None = None
    source: Line | None = None
    tags: Annotated[list[Tag], Field(max_length=MAX_TAGS)] = Field(default_factory=list)


class ToolCall(WireModel):
    """One invocation of a tool. With a call_id it is stored once, however often it is sent."""

    kind: Literal["tool_call"]
    namespace: Namespace = DEFAULT_NAMESPACE
    tool: Tool
    is_error: bool
    result: Annotated[Any, Field(description="What the tool gave back: text or any JSON.")] = None
    input: Annotated[Any, Field(description="What the tool was given: text or any JSON.")] = None
    call_id: ForeignId | None = None
    session: ForeignId | None = None
    occurred_at: Instant | None = None
    valid_to: Instant | None = None
    signature: Annotated[Line | None, Field(description="Names the error's cause; else it is worked out.")] = None


class Observation(WireModel):
    """Something noted."""

    kind: Literal["observation"]
    namespace: Namespace = DEFAULT_NAMESPACE
    text: LongText
    valid_to: Instant | None = None
    session: ForeignId | None = None
    source: Line | None = None
    occurred_at: Instant | None = None


class Skill(WireModel):
    """How well something is mastered. A further revision supersedes the one before."""

    kind: Literal["skill"]
    namespace: Namespace = DEFAULT_NAMESPACE
    name: Name
    revision: Annotated[int, Field(ge=1, le=MAX_COUNT)] = 1
    proficiency: Annotated[Confidence | None, Field(description="Leave it out where it was never measured.")] = None
    practice_count: Annotated[int | None, Field(ge=0, le=MAX_COUNT)] = None
    valid_to: Instant | None = None


class Goal(WireModel):
    """Something to be reached. Stated again with other fields it is the same goal, and keeps its age."""

    kind: Literal["goal"]
    namespace: Namespace = DEFAULT_NAMESPACE
    name: Name
    state: Annotated[GoalState | None, Field(description="A new goal is active; left out, it stays as it is.")] = None
    progress: Confidence | None = None
    description: Description | None = None
    valid_to: Instant | None = None


class FreeEvent(WireModel):
    """Anything else that happened: messages, feedback. With an event_id it is stored once, however often it is sent."""

    kind: Literal["event"]
    namespace: Namespace = DEFAULT_NAMESPACE
    body: Annotated[Any, Field(description="Any JSON.")]
    event_id: ForeignId | None = None
    session: ForeignId | None = None
    occurred_at: Instant | None = None
    valid_to: Instant | None = None


Superseding = Fact | Observation | Skill | Goal | FreeEvent


class Supersede(WireModel):
    """Replaces a current grain by another of its kind."""

    kind: Literal["supersede"]
    target: Annotated[Address, Field(description="Address of the grain that is replaced.")]
    replacement: Annotated[Superseding, Field(alias="with", discriminator="kind")]
    if_head: Annotated[int | None, Field(ge=1, description="head_rev of the target that the sender saw.")] = None
    allow_fork: Annotated[
        bool, Field(description="Also take a target that is superseded already: it gets one more successor.")
    ] = False


Event = Annotated[Superseding | ToolCall | Supersede | RecallReport | AssemblyReport, Field(discriminator="kind")]


class EventsRequest(WireModel):
    """A batch: stored whole or not at all."""

    events: Annotated[list[Event], Field(min_length=1, max_length=MAX_EVENTS)]


def to_events(request: EventsRequest, now: int) -> tuple[domain.Event | Report, ...]:
    """The batch as events of the domain.

    Raises:
        InvalidInputError: naming the event's field, see :func:`to_event`.
    """
    return tuple(_to_any(event, now, f"events[{index}]") for index, event in enumerate(request.events))


def _to_any(event: Event, now: int, field: str) -> domain.Event | Report:
    if isinstance(event, RecallReport | AssemblyReport):
        return to_report(event, field)
    return to_event(event, now, field)


def to_event(event: Superseding | ToolCall | Supersede, now: int, field: str) -> domain.Event:
    """One event of the domain.

    Args:
        event: as it was read.
        now: epoch ms, against which ``occurred_at`` is judged.
        field: path of the event in its request.

    Raises:
        InvalidInputError: it occurred over 5 minutes in the future, or its validity ends before it begins.
    """
    if isinstance(event, Supersede):
        by = _to_superseding(event.replacement, now, f"{field}.with")
        return domain.SupersedeEvent(event.target, by, event.if_head, event.allow_fork)
    if isinstance(event, ToolCall):
        _require_past(event.occurred_at, now, field)
        return domain.ToolCallEvent(**_fields(event))
    return _to_superseding(event, now, field)


def _to_superseding(event: Superseding, now: int, field: str) -> domain.SupersedingEvent:
    if isinstance(event, Skill):
        return domain.SkillEvent(**_fields(event))
    if isinstance(event, Goal):
        return domain.GoalEvent(**_fields(event))
    _require_past(event.occurred_at, now, field)
    if isinstance(event, FreeEvent):
        return domain.FreeEvent(**_fields(event))
    if isinstance(event, Observation):
        return domain.ObservationEvent(**_fields(event))
    if event.valid_from is not None and event.valid_to is not None and event.valid_from >= event.valid_to:
        raise InvalidInputError("must be later than valid_from", field=f"{field}.valid_to")
    return domain.FactEvent(**{**_fields(event), "tags": tuple(event.tags)})


def _fields(event: WireModel) -> dict[str, Any]:
    return {name: getattr(event, name) for name in type(event).model_fields if name != "kind"}


def _require_past(occurred_at: int | None, now: int, field: str) -> None:
    if occurred_at is not None and occurred_at > now + MAX_AHEAD_MS:
        raise InvalidInputError("more than 5 minutes in the future", field=f"{field}.occurred_at")

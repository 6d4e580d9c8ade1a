"""Events as agents send them, and their conversion to events of the domain."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from provenloop.domain import events as domain
from provenloop.domain.errors import InvalidInputError
from provenloop.domain.events import MAX_AHEAD_MS
from provenloop.domain.names import DEFAULT_NAMESPACE
from provenloop.entry.models.fields import (
    Address,
    Confidence,
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

MAX_EVENTS = 90
MAX_TAGS = 32


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


class Supersede(WireModel):
    """Replaces a current grain by another of its kind."""

    kind: Literal["supersede"]
    target: Annotated[Address, Field(description="Address of the grain that is replaced.")]
    replacement: Annotated[Fact | Observation, Field(alias="with", discriminator="kind")]
    if_head: Annotated[int | None, Field(ge=1, description="head_rev of the target that the sender saw.")] = None


Event = Annotated[Fact | ToolCall | Observation | Supersede, Field(discriminator="kind")]


class EventsRequest(WireModel):
    """A batch: stored whole or not at all."""

    events: Annotated[list[Event], Field(min_length=1, max_length=MAX_EVENTS)]


def to_events(request: EventsRequest, now: int) -> tuple[domain.Event, ...]:
    """The batch as events of the domain.

    Raises:
        InvalidInputError: naming the event's field, see :func:`to_event`.
    """
    return tuple(to_event(event, now, f"events[{index}]") for index, event in enumerate(request.events))


def to_event(event: Fact | ToolCall | Observation | Supersede, now: int, field: str) -> domain.Event:
    """One event of the domain.

    Args:
        event: as it was read.
        now: epoch ms, against which ``occurred_at`` is judged.
        field: path of the event in its request.

    Raises:
        InvalidInputError: it occurred over 5 minutes in the future, or its validity ends before it begins.
    """
    if isinstance(event, Supersede):
        by = _to_fact_or_observation(event.replacement, now, f"{field}.with")
        return domain.SupersedeEvent(target=event.target, by=by, if_head=event.if_head)
    if isinstance(event, ToolCall):
        _require_past(event.occurred_at, now, field)
        return domain.ToolCallEvent(**_fields(event))
    return _to_fact_or_observation(event, now, field)


def _to_fact_or_observation(
    event: Fact | Observation, now: int, field: str
) -> domain.FactEvent | domain.ObservationEvent:
    _require_past(event.occurred_at, now, field)
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

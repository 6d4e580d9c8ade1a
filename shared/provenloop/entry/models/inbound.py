"""What comes without HTTP: the detail of an event of the bus, as a rule hands it on with the name of its source."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from provenloop.entry.models.events import EventsRequest
from provenloop.entry.models.fields import WireModel


class AgentEvents(EventsRequest):
    """The detail of ``AgentEvents``: a batch as in a request, and what a request says in its path and headers."""

    memory: Annotated[
        str | None,
        Field(pattern=r"^[a-z0-9._-]{1,64}$", description="Needed where the source has more than one memory."),
    ] = None
    idempotency_key: Annotated[
        str | None,
        Field(pattern=r"^[\x20-\x7e]{1,255}$", description="Makes it safe to send again; else the event's id does."),
    ] = None


class Envelope(WireModel):
    """What a rule makes of an event: its own constant, the source's name, beside the event as the bus has it."""

    source: str
    event: dict[str, Any]

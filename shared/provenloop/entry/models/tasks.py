"""What the review workflow and the bus hand to functions."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from provenloop.domain.recommendation import ID_CHARS, Severity
from provenloop.domain.waiting import WaitedFor
from provenloop.entry.models.fields import WireModel

_Name = Annotated[str, Field(pattern=r"^[a-z0-9._-]{1,64}$")]
_Recommendation = Annotated[str, Field(pattern=rf"^[a-z2-7]{{{ID_CHARS}}}$")]


class TicketOfTask(WireModel):
    """Which execution, and what it is about."""

    tenant: _Name
    memory: _Name
    recommendation: _Recommendation
    execution: Annotated[str, Field(min_length=1, max_length=80)]


class TaskRequest(WireModel):
    """One task of the review workflow."""

    task: Literal["open", "remind", "wait_apply", "apply", "expire", "give_up"]
    ticket: TicketOfTask
    token: Annotated[str | None, Field(min_length=1, max_length=2048)] = None
    waited_for: WaitedFor | None = None


class ProposedEvent(BaseModel):
    """Detail of the bus event RecommendationProposed, as far as it is needed here."""

    model_config = ConfigDict(extra="ignore", strict=True)

    tenant: _Name
    memory: _Name
    recommendation: _Recommendation
    severity: Severity
    n: Annotated[int, Field(ge=1)]

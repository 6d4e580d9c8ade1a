"""Reports of recalls and contexts as agents send them, and their conversion to events of the domain."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from provenloop.domain import use_events as domain
from provenloop.domain.errors import InvalidInputError
from provenloop.domain.names import DEFAULT_NAMESPACE
from provenloop.entry.models.fields import Address, ForeignId, Name, Namespace, Question, WireModel

MAX_RETURNED = 100
MAX_BUDGET = 1_000_000_000

_Amount = Annotated[int, Field(ge=0, le=MAX_BUDGET)]


class RecallReport(WireModel):
    """What a retriever of the agent's own recalled. Nothing returned means that nothing was found."""

    kind: Literal["recall_report"]
    namespace: Namespace = DEFAULT_NAMESPACE
    question: Annotated[Question | None, Field(description="Free text that was asked.")] = None
    subject: Name | None = None
    relation: Name | None = None
    returned: Annotated[list[Address], Field(max_length=MAX_RETURNED, description="Addresses of the grains returned.")]
    run_id: Annotated[ForeignId | None, Field(description="Names the run of the agent that asked.")] = None


class AssemblyReport(WireModel):
    """How full a context became. Any dropped candidate is an overflow."""

    kind: Literal["assembly_report"]
    namespace: Namespace = DEFAULT_NAMESPACE
    budget: _Amount
    used: _Amount
    dropped: Annotated[int, Field(ge=0, le=MAX_BUDGET, description="Candidates that found no room.")]
    unit: Literal["tokens", "grains"]


def to_report(event: RecallReport | AssemblyReport, field: str) -> domain.Report:
    """One report of the domain; ``field`` is its path in the request.

    Raises:
        InvalidInputError: a recall of which neither the question nor an answer is told.
    """
    if isinstance(event, AssemblyReport):
        return domain.AssemblyReport(event.namespace, event.budget, event.used, event.dropped, event.unit)
    if event.question is None and event.subject is None and event.relation is None and not event.returned:
        raise InvalidInputError("give what was asked: a question, a subject or a relation", field=f"{field}.question")
    return domain.RecallReport(
        event.namespace, event.question, event.subject, event.relation, tuple(event.returned), event.run_id
    )

"""What stands in the path and in the query of a request."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from provenloop.domain.names import DEFAULT_NAMESPACE
from provenloop.domain.recommendation import Severity
from provenloop.entry.models.fields import (
    Address,
    ForeignId,
    Instant,
    Line,
    Name,
    Namespace,
    Question,
    WireModel,
    refusal,
)

MAX_PAGE = 100
MAX_LIMIT = 100
DEFAULT_LIMIT = 10
DEFAULT_PAGE = 25


class PathParameters(WireModel):
    """Every parameter that any path has; a request has those of its own path."""

    memory: Annotated[str | None, Field(pattern=r"^[a-z0-9._-]{1,64}$", description="Name of the memory.")] = None
    namespace: Namespace | None = None
    subject: Annotated[Name | None, Field(description="The subject, in any spelling.")] = None
    address: Annotated[Address | None, Field(description="Address of the grain.")] = None
    id: Annotated[
        ForeignId | None,
        Field(
            description="Id of a token, session or recipe; or of a recommendation or card, or any unique prefix of it."
        ),
    ] = None
    action: Annotated[ForeignId | None, Field(description="arm, reject, demote, archive, edit or revive.")] = None
    job: Annotated[ForeignId | None, Field(description="Id of the job.")] = None
    run: Annotated[ForeignId | None, Field(description="Id of the pass.")] = None


def whole_number(value: object) -> Any:
    """A query holds text only; nothing but plain digits is a number there."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 9:
        return int(value)
    raise refusal("must be a whole number")


def _epoch_as_number(value: object) -> Any:
    """A query holds text only: digits are epoch milliseconds, as a number in a body is."""
    return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 15 else value


QueryInstant = Annotated[Instant, BeforeValidator(_epoch_as_number)]


class QueueQuery(WireModel):
    """Which part of the queue to show."""

    status: Line = "pending"
    severity: Severity | None = None
    analyzer: Line | None = None
    limit: Annotated[int, Field(ge=1, le=MAX_PAGE), BeforeValidator(whole_number)] = DEFAULT_PAGE
    cursor: Annotated[str | None, Field(min_length=1, max_length=2048)] = None


class TokensQuery(WireModel):
    """Which part of the tokens to show."""

    limit: Annotated[int, Field(ge=1, le=MAX_PAGE), BeforeValidator(whole_number)] = MAX_PAGE
    cursor: ForeignId | None = None


class RecallQuery(WireModel):
    """What to recall: a subject, a relation, a question, or several of them."""

    namespace: Namespace = DEFAULT_NAMESPACE
    subject: Annotated[Name | None, Field(description="In any spelling.")] = None
    relation: Annotated[Name | None, Field(description="In any spelling; alone, across all subjects.")] = None
    question: Annotated[Question | None, Field(description="Free text; the answers come ranked.")] = None
    as_of: Annotated[QueryInstant | None, Field(description="What was live at that instant; now, if left out.")] = None
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT), BeforeValidator(whole_number)] = DEFAULT_LIMIT
    run_id: Annotated[ForeignId | None, Field(description="Names the run of the agent that asks.")] = None


class ExportQuery(WireModel):
    """Where to go on with an export."""

    cursor: Annotated[str | None, Field(min_length=1, max_length=2048)] = None


class AuditQuery(WireModel):
    """Which chain to read: that of one recommendation, or all of them."""

    subject: Annotated[str | None, Field(min_length=1, max_length=128, pattern=r"^[A-Za-z0-9:._-]+$")] = None


class AuditExportQuery(AuditQuery):
    """Which part of the trail to export."""

    since: Annotated[QueryInstant | None, Field(description="Entries from this instant on.")] = None
    until: Annotated[QueryInstant | None, Field(description="Entries before this instant.")] = None
    cursor: Annotated[
        str | None,
        Field(max_length=1024, description="Header `provenloop-cursor` of the page before; its query stays the same."),
    ] = None


class HistoryQuery(WireModel):
    """Whose history: that of one grain, or that of one relation of a subject."""

    address: Annotated[Address | None, Field(description="Address of the grain; alone.")] = None
    namespace: Namespace | None = None
    subject: Annotated[Name | None, Field(description="The subject, in any spelling; with namespace and relation.")] = (
        None
    )
    relation: Annotated[Name | None, Field(description="The relation, in any spelling.")] = None

"""Requests of lessons: reports of guards, decisions about cards, and lists."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from provenloop.entry.models.fields import (
    MAX_NAME_CHARS,
    Because,
    ForeignId,
    Line,
    Name,
    WireModel,
    no_control,
    one_line,
)
from provenloop.entry.models.paths import MAX_PAGE, whole_number
from provenloop.lessons import line as domain
from provenloop.lessons.context_block import DEFAULT_BUDGET, DEFAULT_LESSONS, MAX_BUDGET, MAX_LESSONS, MIN_BUDGET
from provenloop.lessons.line import MAX_DETAIL_BYTES, MAX_STATEMENT_CHARS

_Text = Annotated[str, AfterValidator(no_control)]
_Statement = Annotated[
    str,
    Field(description=f"What the rule says, at most {MAX_STATEMENT_CHARS} characters; a blank one was not given."),
    AfterValidator(no_control),
]
_Limit = Annotated[int, Field(ge=1, le=MAX_PAGE), BeforeValidator(whole_number)]
_Cursor = Annotated[str | None, Field(min_length=1, max_length=2048)]


class LessonEvidence(WireModel):
    """What the guard saw: the concrete things that a folded category leaves out."""

    needs_user_confirmation: Annotated[bool, Field(description="Evidence, but no violation.")] = False
    target: Annotated[str | None, Field(max_length=MAX_NAME_CHARS), AfterValidator(one_line)] = None
    signature: Annotated[str | None, Field(max_length=MAX_NAME_CHARS), AfterValidator(one_line)] = None


class ReportRequest(WireModel):
    """One line: what went wrong, where. Equal project, category and signature are one card."""

    project: Line
    category: Line
    signature: Annotated[Name, Field(description="What makes two lines the same within their category.")]
    detail: Annotated[_Text, Field(description=f"At most {MAX_DETAIL_BYTES} bytes.")]
    source: Annotated[str, Field(description="The guard; what has not 1 to 64 characters is kept as manual.")] = ""
    statement: _Statement | None = None
    session: ForeignId | None = None
    evidence: LessonEvidence = Field(default_factory=LessonEvidence)
    kind: Annotated[
        Literal["gate_not_run"] | None, Field(description="A fault of the environment: no candidate, no violation.")
    ] = None


class CardActionRequest(WireModel):
    """A person's action on a card."""

    because: Because
    statement: Annotated[_Statement | None, Field(description="Read by arm and edit only.")] = None


class OfferRequest(WireModel):
    """Offer an applied lesson as a candidate card of a project."""

    project: Line
    because: Because
    statement: Annotated[_Statement | None, Field(description="What a rule could say.")] = None


class MigrateRequest(WireModel):
    """Merge cards that fold to one key, with the written reason."""

    because: Because


class StartRequest(WireModel):
    """A session that starts, or goes on."""

    project: Line
    parent: Annotated[
        ForeignId | None, Field(description="The session that it works for: a subagent is shown nothing.")
    ] = None


class PassRequest(WireModel):
    """The scenario of a rule fired and was followed."""

    session: ForeignId
    project: Line
    category: Line
    signature: Name


class DigestRequest(WireModel):
    """Distil a session that was started."""

    session: ForeignId


class CardsQuery(WireModel):
    """Which cards to list; the rules are those that are armed."""

    project: Line | None = None
    status: Line = "all"
    limit: _Limit = MAX_PAGE
    cursor: _Cursor = None


class ReplayQuery(WireModel):
    """How many lines of the stream to look at, and where to go on."""

    limit: _Limit = MAX_PAGE
    cursor: _Cursor = None


class ContextQuery(WireModel):
    """Whose context, and how much of it: a project, or a session of it that was started."""

    project: Line | None = None
    session: Annotated[ForeignId | None, Field(description="Its rules are told as they were put before it.")] = None
    k: Annotated[
        int, Field(ge=0, le=MAX_LESSONS, description="At most so many lessons."), BeforeValidator(whole_number)
    ] = DEFAULT_LESSONS
    budget: Annotated[
        int,
        Field(ge=MIN_BUDGET, le=MAX_BUDGET, description="Tokens of the block; one is taken for 3 bytes of UTF-8."),
        BeforeValidator(whole_number),
    ] = DEFAULT_BUDGET


class LessonsQuery(WireModel):
    """Which part of the lesson stream to show; without a project, of the whole library."""

    project: Line | None = None
    limit: _Limit = MAX_PAGE
    cursor: _Cursor = None


def to_line(request: ReportRequest) -> domain.Line:
    """The line as the domain has it, not checked yet."""
    seen = request.evidence
    return domain.Line(
        project=request.project,
        category=request.category,
        signature=request.signature,
        source=request.source,
        detail=request.detail,
        statement=request.statement,
        session=request.session,
        evidence=domain.LineEvidence(seen.needs_user_confirmation, seen.target, seen.signature),
        kind=request.kind,
    )

"""What operations of lessons answer."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from provenloop.domain.recommendation import Severity
from provenloop.entry.models.fields import Time, WireModel
from provenloop.lessons.actions import Action
from provenloop.lessons.card import CardStatus


class ReportReply(WireModel):
    """What became of a report. Where ``ok`` is false nothing was saved and only ``reason`` is given."""

    ok: bool
    reason: Annotated[
        Literal["disabled", "rules_not_persisted", "error"] | None,
        Field(description="rules_not_persisted: send it again."),
    ] = None
    lesson: Annotated[str | None, Field(description="Address of the line.")] = None
    seq: int | None = None
    source: Annotated[str | None, Field(description="As it was kept.")] = None
    card: Annotated[str | None, Field(description="None of a fault of the environment.")] = None
    violation_of: Annotated[str | None, Field(description="The armed card that it violates.")] = None
    candidate: bool | None = None
    ready: Annotated[bool | None, Field(description="Whether the card waits for review.")] = None
    just_ready: Annotated[bool | None, Field(description="Whether this report made it so.")] = None


class SinceArmed(WireModel):
    """What is held against a rule; the ratio is None where it never fired."""

    violations: int
    suppressed: int
    samples: int
    ratio: float | None


class Card(WireModel):
    """A card with its counters and the flags that follow from them."""

    id: str
    status: CardStatus
    project: str
    category: str
    signature: str
    statement: Annotated[str | None, Field(description="What a person wrote or took over.")]
    suggestion: Annotated[str | None, Field(description="The first statement that a report brought.")]
    reports: int
    violations: int
    suppressed: int
    samples: int
    since_rejection: int
    created_at: Time | None
    changed_at: Time | None
    ready_at: Time | None
    armed_at: Annotated[Time | None, Field(description="When it was armed last.")]
    last_at: Annotated[Time | None, Field(description="Its last report.")]
    clean_at: Annotated[Time | None, Field(description="When it was last followed.")]
    merged_into: str | None
    ready: bool
    not_a_rule: Annotated[bool, Field(description="It was said that it is no rule here: it never becomes ready.")]
    undeterminable: Annotated[bool, Field(description="Only a person can judge it: nobody was seen to follow it.")]
    since_armed: SinceArmed | None


class CardsReply(WireModel):
    """A page of cards, by project, then age."""

    cards: list[Card]
    cursor: str | None


class CardEvidence(WireModel):
    """What one line says for a card; a long detail is cut."""

    lesson: Annotated[str, Field(description="Address of the line.")]
    seq: int
    at: Time
    source: str
    detail: str
    counted: Literal["report", "violation"]
    signature: str | None
    target: str | None
    session: str | None
    needs_user_confirmation: bool


class CardReply(Card):
    """A card with its newest evidence, its audit trail and what may follow."""

    evidence: list[CardEvidence]
    audit: list[dict[str, Any]]
    verified: Annotated[bool, Field(description="Whether its audit chain holds.")]
    next: Annotated[list[Action], Field(description="Actions that its status allows.")]


class CardActionReply(WireModel):
    """What an action came to."""

    id: str
    action: Action
    status: CardStatus
    armed_at: Time | None
    audit: Annotated[str, Field(description="Id of the audit entry.")]


class Merged(WireModel):
    """A card and the one that it was merged into."""

    source: Annotated[str, Field(alias="from")]
    into: str


class MigrateReply(WireModel):
    """Merged cards; ``left`` are those that others kept moving, ``more`` says that asking again goes on."""

    merged: list[Merged]
    left: list[str]
    more: bool


class Lesson(WireModel):
    """A line of the stream, whole. ``counted`` says what it was."""

    lesson: Annotated[str, Field(description="Its address.")]
    seq: int
    at: Time
    by: str
    project: str
    category: str
    signature: str
    source: str
    detail: str
    counted: Literal["report", "violation", "environment"]
    card: str | None = None
    kind: str | None = None
    statement: str | None = None
    session: str | None = None
    evidence: dict[str, Any] | None = None


class LessonsReply(WireModel):
    """A page of lines, the newest first."""

    lessons: list[Lesson]
    cursor: str | None


class LessonStatsReply(WireModel):
    """Figures, and the settings in force; None and empty where the settings cannot be read."""

    cards: dict[CardStatus, int]
    lessons: dict[str, int]
    settings: dict[str, bool | int | float] | None
    folds: dict[str, str]


class StartReply(WireModel):
    """What is put before an agent; a text is None where there is nothing to show."""

    section: Annotated[str | None, Field(description="The standing section, the same for every project.")]
    block: Annotated[str | None, Field(description="The rules of the project as one block of text.")]
    rules: Annotated[list[str], Field(description="Ids of the cards in the block, armed last first.")]
    left_out: Annotated[int, Field(description="Rules of the project in force that are not in the block.")]
    resumed: bool


class EndReply(WireModel):
    """What was counted. Where ``ok`` is false nothing was, and only ``reason`` is given."""

    ok: bool
    reason: Literal["disabled"] | None = None
    suppressed: Annotated[int | None, Field(description="Rules that were followed.")] = None
    samples: Annotated[int | None, Field(description="Rules that were there and not broken.")] = None
    repeated: Annotated[bool | None, Field(description="Whether the session was settled before.")] = None


class LessonPassReply(WireModel):
    """What became of a pass. Where ``ok`` is false nothing was saved and only ``reason`` is given."""

    ok: bool
    reason: Literal["disabled", "rules_not_persisted", "error"] | None = None
    pass_of: Annotated[str | None, Field(description="The armed card; None where none is in force.")] = None


class DigestSaved(WireModel):
    """A card of the digest that is stored."""

    lesson: Annotated[str, Field(description="Address of the line.")]
    card: str | None
    candidate: bool
    ready: bool
    just_ready: bool


class DigestFailed(WireModel):
    """A card of the digest that is not stored, by its place in what the model listed, from 0."""

    place: int
    reason: Annotated[str, Field(description="invalid, disabled, rules_not_persisted, error, or an error code.")]


class DigestReply(WireModel):
    """What is stored, and apart from it what is not. Where ``ok`` is false only ``reason`` is given."""

    ok: bool
    reason: Literal["disabled"] | None = None
    saved: list[DigestSaved] | None = None
    failed: list[DigestFailed] | None = None
    read: Annotated[int | None, Field(description="Texts of the session that the model was shown.")] = None


class ReplayedLesson(WireModel):
    """A line that the key of a card matches as lines fold now."""

    lesson: Annotated[str, Field(description="Its address.")]
    seq: int
    at: Time
    source: str
    session: str | None
    detail: str
    would_count: Annotated[
        Literal["violation", "report", "environment"], Field(description="What it would be of a card in force.")
    ]


class ReplayedPass(WireModel):
    """A session in which the card was followed, whether it was in force or not."""

    at: Time


class ReplayReply(WireModel):
    """What a card would have met, the newest first."""

    card: str
    looked_at: Annotated[int, Field(description="Lines of the project's stream on this page.")]
    lessons: list[ReplayedLesson]
    passes: Annotated[list[ReplayedPass], Field(description="Of the last 90 days; on the first page only.")]
    more_passes: bool
    cursor: str | None


class ContextLesson(WireModel):
    """A lesson in the block."""

    address: Annotated[str, Field(description="Of its fact.")]
    namespace: str
    recommendation: Annotated[str, Field(description="Whose apply made it.")]


class ContextPending(WireModel):
    """What waits for review, by figures alone."""

    id: str
    analyzer: str
    severity: Severity
    count: Annotated[int, Field(description="What grows with the evidence: errors, values and the like.")]


class ContextReply(WireModel):
    """What an agent is told when it begins, as one fenced block; it is never empty, but may have nothing to tell."""

    block: str
    tokens: Annotated[int, Field(description="Of the block: its bytes in UTF-8 by 3, rounded up; never over budget.")]
    budget: int
    rules: Annotated[list[str], Field(description="Cards of the rules in the block, the one armed last first.")]
    rules_left_out: Annotated[int, Field(description="Rules of the project in force that are not in it.")]
    lessons: Annotated[list[ContextLesson], Field(description="Lessons in the block, those applied last first.")]
    more_lessons: Annotated[bool, Field(description="Whether there are others.")]
    pending: Annotated[list[ContextPending], Field(description="In the block, at most 3, in queue order.")]
    more_pending: Annotated[bool, Field(description="Whether more waits for review.")]

"""Answers as the OpenAPI document describes them.

No request is answered through these models: tests hold the handlers' answers against them, so that the document and the
service cannot drift apart.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from provenloop.domain.errors import error_classes
from provenloop.entry.models.fields import Time, WireModel

_CODES = sorted({cls.code for cls in error_classes()})


class Problem(WireModel):
    """A refusal (RFC 9457)."""

    type: str
    title: str
    status: int
    code: Annotated[str, Field(json_schema_extra={"enum": _CODES})]
    detail: Annotated[str | None, Field(description="The rule that was broken.")] = None
    field: Annotated[str | None, Field(description="The field at fault, such as events[3].object.")] = None


class HealthReply(WireModel):
    """The service answers."""

    status: Literal["ok"]
    version: str


class MemoryReply(WireModel):
    """A memory."""

    name: str
    created_at: Time
    created_by: str


class MemoriesReply(WireModel):
    """Memories by name."""

    memories: list[MemoryReply]


class TokenReply(WireModel):
    """A token, without its secret."""

    id: str
    label: str
    kind: Literal["human", "agent", "service"]
    memories: str
    scopes: list[str]
    minted_by: Annotated[str | None, Field(description="The principal's id.")]
    lineage: Annotated[list[str], Field(description="Its own id, and those of everybody behind it, nearest first.")]
    created_at: Time
    expires_at: Time | None
    revoked_at: Time | None
    revoked_by: Annotated[str | None, Field(description="The principal's id.")]


class MintedReply(TokenReply):
    """A new token; the secret is shown this once."""

    secret: Annotated[str | None, Field(description="Null where the same Idempotency-Key made the token before.")]


class TokensReply(WireModel):
    """One page of tokens by id; the cursor is null on the last one."""

    tokens: list[TokenReply]
    cursor: str | None


class RevokedReply(TokenReply):
    """A revoked token."""

    descendants: Annotated[list[str], Field(description="Everything minted under it, which is revoked too.")]


class EventAnswer(WireModel):
    """What became of one event."""

    index: int
    kind: str
    address: Annotated[str | None, Field(description="Of the grain it became; an ignored event became none.")] = None
    status: Annotated[
        Literal["stored", "duplicate", "restated", "changed", "revived", "ignored", "counted"],
        Field(
            description="Ignored is what only echoes a text that Provenloop itself put before the agent, and a report "
            "where none is kept; counted is a report."
        ),
    ]
    differs: Annotated[bool | None, Field(description="The same id was sent before with another body.")] = None
    same_as: Annotated[int | None, Field(description="Index of the event of this batch that it repeats.")] = None
    superseded: Annotated[str | None, Field(description="Address of the grain that it replaced.")] = None
    unknown: Annotated[int | None, Field(description="Returned addresses that the namespace does not hold.")] = None


class EventsReply(WireModel):
    """What became of a batch."""

    seq: Annotated[
        int | None, Field(description="Number of the commit in the memory's log; null where all were ignored.")
    ]
    events: list[EventAnswer]
    redacted: Annotated[dict[str, int], Field(description="Secrets taken out before storing, by kind.")]


class Grain(WireModel):
    """A grain as it stands; the fields of its kind stand beside these, the state of a goal as ``goal_state``."""

    model_config = ConfigDict(extra="allow")

    address: str
    kind: str
    namespace: str
    state: Literal["current", "superseded", "forgotten"]
    live: bool
    superseded_by: str | None
    forked_into: Annotated[
        list[str], Field(description="Further successors, where writers that allow forks made some.")
    ]
    head_rev: int
    generation: int
    stated: int
    seq: int
    occurred_at: Time | None
    recorded_at: Time
    last_stated_at: Time
    valid_from: Time | None
    valid_to: Time | None


class GrainReply(Grain):
    """One grain."""


class RecalledGrain(Grain):
    """A grain that answers; for a question with a score, higher is better."""

    score: float | None


class RecallReply(WireModel):
    """What answers, best first; without a question, the latest first."""

    namespace: str
    as_of: Time | None
    results: list[RecalledGrain]


class RecalledOften(WireModel):
    """A grain and how often it was read in the window."""

    reads: int
    grain: Grain


class AskedOften(WireModel):
    """A question, how often it was asked in the window, and how often nothing was found.

    A question in free text has a text; a look-up has the subject, the relation, or both.
    """

    address: str
    namespace: str
    text: str | None
    subject: str | None
    relation: str | None
    asked: int
    empty: int


class Assemblies(WireModel):
    """Contexts that agents assembled in the window, and how many of them dropped something."""

    assembled: int
    overflowed: int


class TelemetryReply(WireModel):
    """How memory was used in the last 30 UTC days, as far as passes have counted it."""

    mode: Literal["off", "aggregate", "full"]
    first_day: Annotated[str, Field(json_schema_extra={"format": "date"})]
    last_day: Annotated[str, Field(json_schema_extra={"format": "date"})]
    most_recalled: Annotated[list[RecalledOften], Field(description="Most read first.")]
    questions: Annotated[list[AskedOften], Field(description="Most asked first.")]
    assemblies: Assemblies


class EntityReply(WireModel):
    """All facts about one subject, latest last; superseded ones are among them."""

    namespace: str
    subject: str
    facts: list[Grain]


class JobReply(WireModel):
    """How far a job is."""

    job: Annotated[str, Field(description="Its id.")]
    kind: Literal["forget", "erase"]
    status: Literal["running", "done", "failed"]
    counts: Annotated[dict[str, int], Field(description="What was erased so far, by what it was.")]
    lessons: Annotated[
        list[str], Field(description="Addresses of lessons that repeat a forgotten error; at most 50 are named.")
    ]
    created_at: Time
    changed_at: Time
    by: Annotated[str, Field(description="Label of who asked for it.")]
    error: Annotated[str | None, Field(description="Code of what it failed with.")]


class ForgottenReply(WireModel):
    """What was forgotten; none of it can be brought back."""

    forgotten: Annotated[int, Field(description="How many grains; 0 where all of it was forgotten already.")]
    addresses: Annotated[list[str], Field(description="Their addresses, under which a tombstone stays.")]
    versions: Annotated[int, Field(description="Earlier versions erased with them.")]
    questions: Annotated[int, Field(description="Questions of agents erased with them, since they repeat a text.")]
    reasons: Annotated[int, Field(description="Reasons of decisions erased with them, since they repeat a text.")]
    lessons: Annotated[
        list[str], Field(description="Addresses of lessons that repeat a forgotten error; they stay until forgotten.")
    ]
    recipes: Annotated[int, Field(description="Recipes that named the subject, forgotten with it.")]
    seq: int | None
    audit: Annotated[str | None, Field(description="Id of the audit entry.")]
    dry_run: Annotated[bool | None, Field(description="Nothing was erased: all of this would be.")] = None


class Version(Grain):
    """A grain as it was from one instant to another; ``to`` is null where it is so still."""

    begun: Annotated[Time, Field(alias="from")]
    ended: Annotated[Time | None, Field(alias="to")]


class HistoryReply(WireModel):
    """Of a grain: its versions, oldest first, and the chain it stands in. Of a relation: every value it ever had."""

    address: str | None = None
    versions: list[Version] | None = None
    predecessors: Annotated[list[Grain] | None, Field(description="What it replaced, nearest first.")] = None
    successors: Annotated[list[Grain] | None, Field(description="What replaced it, nearest first.")] = None
    cut: Annotated[bool | None, Field(description="There are over 200 predecessors or successors.")] = None
    namespace: str | None = None
    subject: str | None = None
    relation: str | None = None
    values: Annotated[list[Version] | None, Field(description="By when they began to hold.")] = None

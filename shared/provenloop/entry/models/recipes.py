"""Requests of recipes: matching, what became of a hit, distilling, decisions, and lists."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from provenloop.domain.hit_token import MAX_TOKEN_CHARS
from provenloop.domain.recipe import FeedbackVerdict, RecipeKind
from provenloop.entry.models.fields import Because, ForeignId, Line, Tag, WireModel, one_line, refusal
from provenloop.entry.models.paths import MAX_PAGE, QueryInstant, whole_number

_Limit = Annotated[int, Field(ge=1, le=MAX_PAGE), BeforeValidator(whole_number)]
_MAX_FIELDS = 16
_MAX_FIELDS_BYTES = 2_048


def _small(fields: Mapping[str, str]) -> Mapping[str, str]:
    if len(json.dumps(fields, ensure_ascii=False).encode("utf-8", "surrogatepass")) > _MAX_FIELDS_BYTES:
        raise refusal(f"at most {_MAX_FIELDS_BYTES} bytes in all")
    return fields


_LogFields = Annotated[
    dict[Tag, Annotated[str, Field(max_length=256), AfterValidator(one_line)]],
    Field(max_length=_MAX_FIELDS, description="Texts for log lines and the ledger; secrets are taken out."),
    AfterValidator(_small),
]
_Scope = Annotated[
    dict[str, Any],
    Field(
        max_length=8,
        description="Where a recipe answers: agent, intent, state_hash, user; at least the agent or the state's hash.",
    ),
]
_HitToken = Annotated[str, Field(min_length=1, max_length=MAX_TOKEN_CHARS)]


class MatchRequest(WireModel):
    """A request, and the scope in which a stored answer may serve it."""

    request: Annotated[str, Field(min_length=1, description="As the user put it; at most 100,000 bytes.")]
    scope: _Scope
    threshold: Annotated[
        float | None,
        Field(ge=0, le=1, allow_inf_nan=False, description="Raises the cosine from which is served; never lowers it."),
    ] = None
    session: ForeignId | None = None
    log_fields: _LogFields = Field(default_factory=dict)


class CommitRequest(WireModel):
    """A hit that was delivered, within an hour."""

    hit_token: _HitToken


class FeedbackRequest(WireModel):
    """What became of a delivered hit, within 30 days; a second ``regressed`` quarantines the recipe."""

    hit_token: _HitToken
    verdict: FeedbackVerdict
    because: Because


class DistilRequest(WireModel):
    """A finished run that may teach a recipe."""

    envelope: Annotated[
        dict[str, Any],
        Field(max_length=16, description="problem, final_message, signals, and if wanted trace, session; 300 KB."),
    ]
    scope: _Scope
    kind: RecipeKind = "answer"
    wait: Annotated[bool, Field(description="Answer when it is over; the only way to use X-Model-Key.")] = False
    log_fields: _LogFields = Field(default_factory=dict)


class RecipeDecisionRequest(WireModel):
    """A person's decision about a recipe, with the written reason."""

    because: Because


class RecipesQuery(WireModel):
    """Which recipes to list; those that are quarantined wait for a person."""

    status: Line = "all"
    limit: _Limit = MAX_PAGE
    cursor: ForeignId | None = None


class LedgerQuery(WireModel):
    """Which span of the ledger: from the one instant up to, but without, the other."""

    since: Annotated[QueryInstant, Field(alias="from", description="From the beginning, if left out.")] = 0
    until: Annotated[QueryInstant | None, Field(alias="to", description="Up to now, if left out.")] = None
    cursor: Annotated[str | None, Field(min_length=1, max_length=4096)] = None


class LedgerRowsQuery(LedgerQuery):
    """Which rows of the ledger to list."""

    limit: _Limit = MAX_PAGE


RecipeActionName = Literal["restore", "retire"]

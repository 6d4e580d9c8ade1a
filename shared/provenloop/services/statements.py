"""What several statements of one fact, observation, skill or goal say together, in one batch or one after another.

Each field is as it was last given; what a statement leaves out stays. When something held moves forward only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from provenloop.domain.grain import OCCURRENCES, Grain, GrainDraft


def said_together(drafts: Sequence[GrainDraft], now: int) -> GrainDraft:
    """What drafts of one grain say together: the first of occurrences, each field of statements as last given."""
    first, *later = drafts
    if first.kind in OCCURRENCES:
        return first
    said = first
    for draft in later:
        said = replace(
            said,
            body={**said.body, **draft.body},
            valid_from=draft.valid_from if draft.valid_from is not None else said.valid_from,
            valid_to=draft.valid_to if draft.valid_to is not None else said.valid_to,
            occurred_at=_last_held(said.occurred_at, now, draft.occurred_at),
        )
    return said


def _last_held(occurred_at: int | None, stated_at: int, again_at: int | None) -> int | None:
    """When something stated again last held. A statement about earlier makes nothing older."""
    if again_at is None:
        return occurred_at
    return max(again_at, stated_at if occurred_at is None else occurred_at)


def held_at(grain: Grain, found: Grain) -> int | None:
    """When a stored grain last held, after it was stated again as ``grain``."""
    return _last_held(found.occurred_at, found.last_stated_at, grain.occurred_at)


def restated_as(found: Grain, grain: Grain) -> Grain:
    """The current grain with the fields that were restated; what is not given stays, also when it was recorded."""
    return replace(
        grain,
        body={**found.body, **grain.body},
        redacted={**found.redacted, **grain.redacted},
        request=found.request,
        head_rev=found.head_rev + 1,
        generation=found.generation,
        recorded_at=found.recorded_at,
        changed_at=grain.recorded_at,
        occurred_at=held_at(grain, found),
        valid_from=grain.valid_from if grain.valid_from is not None else found.valid_from,
        valid_to=grain.valid_to if grain.valid_to is not None else found.valid_to,
        lesson_of=found.lesson_of,
    )


def says_nothing_new(found: Grain, draft: GrainDraft) -> bool:
    """Whether a restated grain says nothing new: fields it does not give stay as they are."""
    return (
        {**found.body, **draft.body} == dict(found.body)
        and draft.valid_from in (None, found.valid_from)
        and draft.valid_to in (None, found.valid_to)
    )

"""Merging grains that say the same into the one that is kept, without loss.

The kept grain gains: tags are united, statements add up, a field that only others have is taken over. When something
last held moves forward only, as it does where one grain is stated again. A field in which they differ stays as the kept
one has it; to hold without an end is to differ from holding until then. What makes a grain the one it is (its identity)
is never touched.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from provenloop.domain.grain import IDENTITY_FIELDS, Grain

#: Fields that stand beside the body. None is a value of theirs as any other: it says "always".
_VALIDITY = ("valid_from", "valid_to")
#: They describe the identity's text where it was cut.
CUT_NOTES = ("full_bytes", "full_sha256")


@dataclass(frozen=True, slots=True)
class Merged:
    """What a merge makes of the kept grain.

    ``grain`` is the kept one with what it gains, its head and counters as they were; ``stated`` how many statements the
    others bring. ``taken`` and ``differing`` name fields, sorted.
    """

    grain: Grain
    stated: int
    taken: tuple[str, ...]
    differing: tuple[str, ...]


def merged(kept: Grain, others: Sequence[Grain]) -> Merged:
    """What others bring to the kept grain. Where they differ among themselves, the earliest recorded one is heard."""
    ordered = sorted(others, key=lambda grain: (grain.recorded_at, grain.address))
    fields, differing = _gathered(kept, ordered)
    stated_at, place = max((grain.last_stated_at, grain.place) for grain in (kept, *ordered))
    after = replace(
        kept,
        body={**kept.body, **fields},
        redacted=dict(ChainMap(*(dict(grain.redacted) for grain in (kept, *ordered)))),
        last_stated_at=stated_at,
        place=place,
        occurred_at=_held_at((kept, *ordered)),
    )
    taken = {name for name, value in fields.items() if value != _fields_of(kept).get(name)}
    taken |= {"occurred_at"} if after.occurred_at != kept.occurred_at else set()
    return Merged(after, sum(grain.stated for grain in ordered), tuple(sorted(taken)), tuple(sorted(differing)))


def _gathered(kept: Grain, others: Sequence[Grain]) -> tuple[dict[str, Any], set[str]]:
    """The fields of all, and the names of those in which they differ."""
    fields = _fields_of(kept)
    differing = {name for name in _VALIDITY if any(getattr(grain, name) != getattr(kept, name) for grain in others)}
    for name, value in (item for grain in others for item in _fields_of(grain).items()):
        if name not in fields:
            fields[name] = value
        elif name == "tags":
            fields[name] = _united(fields[name], value)
        elif fields[name] != value:
            differing.add(name)
    return fields, differing


def _held_at(grains: Sequence[Grain]) -> int | None:
    """When what they say last held: of an undated one, when it was last stated; None where none is dated."""
    if all(grain.occurred_at is None for grain in grains):
        return None
    return max(grain.last_stated_at if grain.occurred_at is None else grain.occurred_at for grain in grains)


def _fields_of(grain: Grain) -> dict[str, Any]:
    """The fields that may be taken over: those of the body that are no identity."""
    fixed = {*IDENTITY_FIELDS.get(grain.kind, ()), *CUT_NOTES}
    return {name: value for name, value in grain.body.items() if name not in fixed and value is not None}


def _united(left: Any, right: Any) -> Any:
    """Both lists of tags as one."""
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return sorted({str(tag) for tag in (*left, *right)})
    return left

"""Grains: the smallest stored units of memory, and the drafts they are made from.

Invariants: a grain's address never changes and is a function of its identity alone; ``head_rev`` moves with every
change of the head fields (state, body, validity) and never with the counters (``stated``, ``last_stated_at``).
*Current* = not superseded and not forgotten. *Live* = current and inside [valid_from, valid_to).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

#: ``question`` is internal: it keeps the wording of what was asked, and is never listed or recalled as memory.
GrainKind = Literal["fact", "tool_call", "observation", "skill", "goal", "event", "question"]
GrainState = Literal["current", "superseded", "forgotten"]

#: Fields of a body that belong to a grain's identity, per kind; all other fields may change by restating.
IDENTITY_FIELDS: Mapping[str, tuple[str, ...]] = {
    "fact": ("subject", "relation", "object"),
    "observation": ("text",),
    "tool_call": ("tool",),
    "skill": ("name", "revision"),
    "goal": ("name",),
}
#: Kinds that are occurrences: the same one sent again is a duplicate, never a restatement.
OCCURRENCES: frozenset[str] = frozenset({"tool_call", "event"})
#: Fields that a new grain of a kind has where none is given; a restatement that does not give them leaves them.
DEFAULT_FIELDS: Mapping[str, Mapping[str, Any]] = {"goal": {"state": "active"}}


@dataclass(frozen=True, slots=True)
class GrainDraft:
    """A validated, redacted event on its way to become a grain; it has no address yet.

    ``identity`` holds the exact texts that make two drafts one grain; None means that every draft is new,
    and the caller's request gives it an identity of its own.
    """

    kind: GrainKind
    namespace: str
    topic: str
    relation: str
    identity: tuple[str, ...] | None
    body: Mapping[str, Any]
    occurred_at: int | None = None
    valid_from: int | None = None
    valid_to: int | None = None
    is_error: bool = False
    signature: str | None = None
    session: str | None = None


@dataclass(frozen=True, slots=True)
class Grain:
    """One stored grain. All times are epoch milliseconds.

    ``generation`` counts how often this identity became current; ``stated`` how often it was stated in this
    generation. ``seq`` is the commit of the last head change and ``changed_at`` its time (None before the first),
    ``by`` the label of its principal. ``request`` names the request that made this generation, so that the same request
    sent again is known. ``place`` is where in its batch the last statement stood. Of a superseded grain
    ``superseded_by`` is the first successor, ``forked_into`` further ones. ``lesson_of`` is the recommendation of a
    tool failure whose apply made this generation.
    """

    address: str
    kind: GrainKind
    namespace: str
    body: Mapping[str, Any]
    recorded_at: int
    last_stated_at: int
    seq: int
    by: str
    request: str = ""
    state: GrainState = "current"
    head_rev: int = 1
    generation: int = 1
    stated: int = 1
    occurred_at: int | None = None
    valid_from: int | None = None
    valid_to: int | None = None
    superseded_by: str | None = None
    forked_into: tuple[str, ...] = ()
    changed_at: int | None = None
    expires_at: int | None = None
    place: int = 0
    redacted: Mapping[str, int] = field(default_factory=dict)
    lesson_of: str | None = None

    @property
    def is_current(self) -> bool:
        """Not superseded and not forgotten."""
        return self.state == "current"

    def is_live(self, now: int) -> bool:
        """Current, and ``now`` lies inside [valid_from, valid_to)."""
        begun = self.valid_from is None or self.valid_from <= now
        ended = self.valid_to is not None and self.valid_to <= now
        return self.is_current and begun and not ended

    @property
    def successors(self) -> tuple[str, ...]:
        """The grains that superseded it, the first one first; more than one is a fork."""
        return (self.superseded_by, *self.forked_into) if self.superseded_by is not None else ()

    @property
    def since(self) -> int:
        """When its head became what it is."""
        return self.changed_at if self.changed_at is not None else self.recorded_at

    def recency(self) -> tuple[int, int, int, int, str]:
        """Sort key of "latest": when it holds from, when it was recorded, address.

        Of what was said undated in one batch, what was said last is the latest.
        """
        dated = self.valid_from or self.occurred_at
        said = (self.last_stated_at, self.place) if dated is None else (dated, 0)
        return (*said, self.recorded_at, self.place, self.address)


def text_of(grain: Grain, name: str) -> str:
    """A text field of a grain's body, or an empty text where it has none (a forgotten grain, say)."""
    value = grain.body.get(name, "")
    return value if isinstance(value, str) else ""


def with_successor(grain: Grain, address: str, *, seq: int, at: int) -> Grain:
    """The grain once ``address`` has superseded it: its first successor, or one more."""
    is_first = grain.superseded_by is None
    return replace(
        grain,
        state="superseded",
        superseded_by=address if is_first else grain.superseded_by,
        forked_into=grain.forked_into if is_first else (*grain.forked_into, address),
        head_rev=grain.head_rev + 1,
        seq=seq,
        changed_at=at,
    )


def without_content(grain: Grain) -> Grain:
    """A tombstone: of what the grain said and of when it held, nothing is left. Its head stays where it is."""
    return replace(grain, state="forgotten", body={}, redacted={}, occurred_at=None, valid_from=None, valid_to=None)

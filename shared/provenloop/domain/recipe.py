"""Recipes: stored answers to repeated requests, and the scope in which each of them answers.

Invariants: a recipe answers only inside its scope; its id names scope and signature, so one request has one recipe in
one scope; superseding keeps the id and raises ``revision``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from provenloop.domain.instants import format_instant

RecipeKind = Literal["answer", "procedure"]
RecipeStatus = Literal["live", "quarantined", "retired"]
FeedbackVerdict = Literal["held", "regressed"]
KINDS: tuple[RecipeKind, ...] = get_args(RecipeKind)
STATUSES: tuple[RecipeStatus, ...] = get_args(RecipeStatus)

#: At so many strikes a recipe is quarantined.
STRIKES_TO_QUARANTINE = 2
#: Bytes of UTF-8.
MAX_REQUEST_BYTES = 100_000
MAX_RESPONSE_BYTES = 200_000


@dataclass(frozen=True, slots=True)
class RecipeScope:
    """Where a recipe answers, as the caller declares it; memory and tenant come from the call.

    ``state_hash`` names the state in which a procedure was done.
    """

    agent: str | None = None
    intent: str | None = None
    state_hash: str | None = None
    user: str | None = None


@dataclass(frozen=True, slots=True)
class Provenance:
    """What a recipe was learnt from."""

    run: str | None = None
    session: str | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Recipe:
    """A stored recipe.

    ``request`` and ``response`` are the exact texts. ``reinforced`` counts how often it was confirmed, ``strikes`` how
    often it was refused since it last changed. ``valid_to`` is epoch ms, None without an end. ``revision`` moves when
    it says something new, ``rev`` with every write. ``spaces`` are the embedding spaces that hold its vector. Of what
    it says now, ``hits`` counts deliveries, ``held`` and ``regressed`` what callers said of them.
    """

    scope_key: str
    signature: str
    scope: RecipeScope
    kind: RecipeKind
    request: str
    response: str
    created_at: int
    changed_at: int
    chain: str
    seal: str
    category: str = ""
    principles: tuple[str, ...] = ()
    confidence: float | None = None
    provenance: Provenance = field(default_factory=Provenance)
    status: RecipeStatus = "live"
    strikes: int = 0
    reinforced: int = 0
    valid_to: int | None = None
    revision: int = 1
    rev: int = 1
    spaces: tuple[str, ...] = ()
    hits: int = 0
    held: int = 0
    regressed: int = 0

    @property
    def id(self) -> str:
        """Scope key and signature."""
        return id_of(self.scope_key, self.signature)

    def answers_at(self, now: int) -> bool:
        """Whether it may be served at ``now`` (epoch ms)."""
        return self.status == "live" and (self.valid_to is None or self.valid_to > now)


@dataclass(frozen=True, slots=True)
class RecipeVersion:
    """A recipe as it was before something new was said in its place: the inverse of that."""

    recipe: Recipe


@dataclass(frozen=True, slots=True)
class HitFeedback:
    """What a caller said of one hit: ``verdict`` is ``held`` or ``regressed``, ``at`` epoch ms."""

    scope_key: str
    signature: str
    hit: str
    verdict: FeedbackVerdict
    at: int
    by: str


def recipe_subject(recipe: Recipe) -> str:
    """The subject of a recipe's audit chain."""
    return f"recipe:{recipe.chain}"


def id_of(scope_key: str, signature: str) -> str:
    """The id of the recipe of a request in a scope."""
    return f"{scope_key}-{signature}"


def split_id(recipe_id: str) -> tuple[str, str] | None:
    """Scope key and signature of an id; None where it is none."""
    scope_key, dash, signature = recipe_id.partition("-")
    parts = scope_key, signature
    is_id = bool(dash) and all(len(part) == DIGEST_CHARS and set(part) <= _HEX for part in parts)
    return parts if is_id else None


DIGEST_CHARS = 32
_HEX = frozenset("0123456789abcdef")


def facts_of(recipe: Recipe) -> Mapping[str, object]:
    """What an audit entry says of a recipe: numbers and digests, never its texts."""
    return {
        "kind": recipe.kind,
        "revision": recipe.revision,
        "strikes": recipe.strikes,
        "reinforced": recipe.reinforced,
        "response": recipe.seal,
        "valid_to": None if recipe.valid_to is None else format_instant(recipe.valid_to),
    }

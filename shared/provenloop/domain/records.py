"""Small stored records of the loop that are neither grains nor recommendations.

Each is written once, or replaced under a condition on ``rev``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from provenloop.domain.grain import Grain
from provenloop.domain.instants import DAY_MS
from provenloop.domain.principal import PrincipalKind, Scope

REPLAY_KEPT_MS = DAY_MS
#: How many grains the row of a term grows to, and how many of the oldest then go into a segment of their own: so that
#: a row stays small, since one grain more writes it whole.
TERM_ROW_GRAINS = 48
TERM_SEGMENT_GRAINS = 32
RECALL_KEPT_MS = 90 * DAY_MS


@dataclass(frozen=True, slots=True)
class History:
    """A grain as it was before a change of its body, generation or successors: what undo and history read."""

    grain: Grain


@dataclass(frozen=True, slots=True)
class Predecessors:
    """What one commit superseded by a grain: the way back from a grain to those it replaced.

    A hint, written once: whether a grain is superseded stands in that grain alone, and an undo leaves this behind.
    """

    address: str
    seq: int
    superseded: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Due:
    """A declared instant: at ``due_at`` the engine looks at (what, ref) again."""

    due_at: int
    what: str
    ref: str


@dataclass(frozen=True, slots=True)
class AgedGrain:
    """A grain that one analyzer holds for old, in the order of ``at``, when it was recorded (epoch ms)."""

    family: str
    namespace_key: str
    at: int
    address: str


@dataclass(frozen=True, slots=True)
class AgedCount:
    """How many :class:`AgedGrain` one analyzer has in one namespace."""

    family: str
    namespace_key: str
    count: int = 0
    rev: int = 0


@dataclass(frozen=True, slots=True)
class NearPosting:
    """An observation of ``size`` tokens, found under one of them; ``token`` is a digest."""

    token: str
    size: int
    address: str


@dataclass(frozen=True, slots=True)
class NearText:
    """Under which tokens an observation is found, and whether it led a group of near-duplicates when last seen."""

    address: str
    size: int
    tokens: tuple[str, ...]
    leads: bool = False
    rev: int = 0


@dataclass(frozen=True, slots=True)
class BeforeImage:
    """How one grain was before an apply, and which ``head_rev`` the apply left.

    ``before`` holds head fields only, or None where the grain did not exist; ``history_rev`` names the history row
    that keeps the old body where the body changed. ``left_stated`` is the counter the apply left on a created grain, or
    on one that others were merged into; ``gained`` is how many statements such a merge brought, None without one.
    """

    address: str
    left_rev: int
    before: Mapping[str, Any] | None
    history_rev: int | None = None
    left_stated: int = 1
    gained: int | None = None


@dataclass(frozen=True, slots=True)
class Undo:
    """The inverse of one apply, written in the apply's own transaction."""

    recommendation: str
    seq: int
    images: tuple[BeforeImage, ...]


@dataclass(frozen=True, slots=True)
class Run:
    """The outcome of one pass, kept under its id for whoever asks again; ``body_digest`` is that of the request."""

    id: str
    at: int
    outcome: Mapping[str, Any]
    body_digest: str = ""


@dataclass(frozen=True, slots=True)
class Replay:
    """The answer to a request with an Idempotency-Key: status and ids only, for ``kept_ms`` after ``at`` (epoch ms)."""

    key: str
    body_digest: str
    at: int
    reply: Mapping[str, Any]
    kept_ms: int = REPLAY_KEPT_MS


@dataclass(frozen=True, slots=True)
class TermRow:
    """The grains indexed last of those whose text holds one term of a namespace, the last one first.

    ``term`` is a digest under the memory's key. Earlier ones stand in ``segments`` rows of 32.
    """

    term: str
    addresses: tuple[str, ...] = ()
    segments: int = 0
    rev: int = 0

    @property
    def count(self) -> int:
        """How many grains hold the term, about: one that changed may be counted twice."""
        return len(self.addresses) + self.segments * TERM_SEGMENT_GRAINS


@dataclass(frozen=True, slots=True)
class TermSegment:
    """Grains that hold one term, indexed before those of the segments with a greater ``n``."""

    term: str
    n: int
    addresses: tuple[str, ...]
    rev: int = 1


@dataclass(frozen=True, slots=True)
class RecallRow:
    """One recall by itself, kept in the telemetry mode ``full`` only; ``question`` is the address of its grain."""

    at: int
    id: str
    namespace: str
    question: str | None = None
    returned: tuple[str, ...] = ()
    is_miss: bool = False
    run_id: str | None = None
    rev: int = 1


@dataclass(frozen=True, slots=True)
class Token:
    """A minted credential; the secret itself is stored nowhere, only its SHA-256."""

    digest: str
    id: str
    principal_id: str
    label: str
    kind: PrincipalKind
    tenant: str
    memories: str
    scopes: tuple[Scope, ...]
    lineage: tuple[str, ...]
    created_at: int
    expires_at: int | None = None
    revoked_at: int | None = None
    revoked_by: str | None = None
    rev: int = 1


@dataclass(frozen=True, slots=True)
class TokenId:
    """Where a tenant's token is found by its id."""

    id: str
    digest: str


@dataclass(frozen=True, slots=True)
class MemoryRecord:
    """A memory in its tenant's registry.

    It stays when the memory is erased, so that nothing takes its name: ``erased_at`` says when that was asked for,
    ``erasure`` names the job.
    """

    name: str
    created_at: int
    created_by: str
    labels: Mapping[str, str] = field(default_factory=dict)
    erased_at: int | None = None
    erasure: str | None = None
    rev: int = 1


@dataclass(frozen=True, slots=True)
class Label:
    """Claims a token label, in every spelling, for one tenant; ``label`` is normalised."""

    label: str
    token_id: str

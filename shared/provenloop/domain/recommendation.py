"""Recommendations: what an analyzer drafts, and what the engine stamps and stores.

Identity, origin, dedup key, destructive and rollbackable are stamped here by the engine; a draft cannot claim them.
An id is 26 characters of base32 over (memory, dedup key, occurrence), so the same finding has the same id everywhere.
Severity order is info < low < medium < high.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Literal, get_args

from provenloop.domain.audit import ChainHead
from provenloop.domain.canonical import canonical_json
from provenloop.domain.lifecycle import Status
from provenloop.domain.proposal import Proposal, Text, TextRef
from provenloop.domain.remark import Remark

Severity = Literal["info", "low", "medium", "high"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
TargetScheme = Literal["grain", "entity", "query", "template", "doc", "host"]

MAX_EVIDENCE = 64
ID_CHARS = 26
_ID_BYTES = 17
DAY_MS = 86_400_000
KEPT_OPEN_MS = 90 * DAY_MS

Argument = str | int | float | TextRef


@dataclass(frozen=True, slots=True)
class Target:
    """What a finding is about. Written ``scheme:part/part``."""

    scheme: TargetScheme
    parts: tuple[Text, ...]


@dataclass(frozen=True, slots=True)
class Summary:
    """A template's name and its arguments; analyzers cannot write prose."""

    template: str
    args: Mapping[str, Argument] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Metric:
    """What the checkpoints measure again, with the baseline it is compared to."""

    name: str
    baseline_errors: int
    baseline_calls: int
    window_days: int
    subject_key: str
    signature: str | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """What an analyzer returns: it has no id, status or origin.

    ``parts`` identify the finding inside its analyzer and namespace; they are hashed before they are stored.
    ``count`` is the number that grows with the evidence (errors, values ...), evidence the newest 64 addresses of it.
    ``remark`` holds the words of somebody outside, where it is not stored yet; ``lapses_at`` is when none of the
    evidence will be live any more, for a finding that nothing else takes back then.
    """

    parts: tuple[str, ...]
    namespace: str
    severity: Severity
    target: Target
    summary: Summary
    proposal: Proposal
    evidence: tuple[str, ...]
    count: int
    confidence: float
    metric: Metric | None = None
    remark: Remark | None = None
    lapses_at: int | None = None


@dataclass(frozen=True, slots=True)
class Approval:
    """Who approved which proposal.

    ``then_apply`` asks the waiting workflow to apply it as well, with what ``credential`` (see ``Principal``) may do
    by then.
    """

    digest: str
    at: int
    lineage: tuple[str, ...]
    then_apply: bool = False
    allow_destructive: bool = False
    credential: str = ""


@dataclass(frozen=True, slots=True)
class Recommendation:
    """A stored recommendation. ``rev`` moves with every write, ``revision`` only when it says something new.

    ``snoozed_until`` (epoch ms) is when a snoozed one waits again. ``held_back`` says why it was not applied by itself,
    where the host policy grants that to its analyzer.
    ``reviews`` counts the workflows that were started to have it reviewed.
    """

    id: str
    dedup_key: str
    family: str
    group: str
    occurrence: int
    analyzer: str
    parameters: Mapping[str, str | int | float | bool]
    origin: str
    namespace: str
    target: Target
    summary: Summary
    severity: Severity
    proposal: Proposal
    proposal_digest: str
    destructive: bool
    rollbackable: bool
    evidence: tuple[str, ...]
    count: int
    confidence: float
    created_at: int
    updated_at: int
    expires_at: int
    creators: tuple[str, ...]
    metric: Metric | None = None
    status: Status = "pending"
    revision: int = 1
    count_at_revision: int = 0
    rev: int = 1
    chain: ChainHead = field(default_factory=ChainHead)
    approval: Approval | None = None
    applied_at: int | None = None
    earlier: str | None = None
    reason: str | None = None
    guidance: str | None = None
    held_back: str | None = None
    reviews: int = 0
    snoozed_until: int | None = None


@dataclass(frozen=True, slots=True)
class FindingKey:
    """What is known of one dedup key: its open recommendation, how often it was found, and until when it is quiet.

    ``silenced_count`` and ``silenced_severity`` are those of the recommendation that was refused or undone.
    ``regressed_id`` is the last recommendation of it that was applied and did not hold.
    """

    dedup_key: str
    family: str
    group: str
    rev: int = 1
    open_id: str | None = None
    occurrences: int = 0
    last_id: str | None = None
    last_status: Status | None = None
    strikes: int = 0
    cooldown_until: int | None = None
    applied_id: str | None = None
    applied_at: int | None = None
    applied_seq: int | None = None
    silenced_count: int = 0
    silenced_severity: Severity = "info"
    regressed_id: str | None = None


def family_of(analyzer_id: str) -> str:
    """``loop.tool_failure`` for ``loop.tool_failure/1``: what policies and dedup keys name."""
    return analyzer_id.rsplit("/", 1)[0]


def recommendation_id(memory: str, dedup_key: str, occurrence: int) -> str:
    """26 characters of lower-case base32."""
    digest = sha256(canonical_json([memory, dedup_key, occurrence]).encode()).digest()
    return base64.b32encode(digest[:_ID_BYTES]).decode().lower()[:ID_CHARS]


def severity_rank(severity: str) -> int:
    """0 for info to 3 for high."""
    return SEVERITIES.index(severity)


def expiry_of(refreshed_at: int) -> int:
    """When a recommendation refreshed now ages out: 90 days later, at the next start of a UTC day."""
    return -(-(refreshed_at + KEPT_OPEN_MS) // DAY_MS) * DAY_MS

"""The host policy: what the operator of an installation allows. It alone can grant that a change applies itself.

A policy is read whole or refused whole. Refused, or not there at all, the closed policy holds: it grants nothing,
denies nothing, and telemetry counts uses without keeping single ones; one that is refused also has models see
placeholders for people, and nothing at all where the names it lists cannot be read. Analyzers are named by id or by
family (the id without its version); ``command`` and ``llm`` stand for all analyzers of that trust. Where policy and
memory disagree, the stricter of the two holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

from provenloop.domain.canonical import canonical_json, sha256_hex
from provenloop.domain.recommendation import Severity, severity_rank
from provenloop.domain.registered import RegisteredAnalyzer

TelemetryMode = Literal["off", "aggregate", "full"]
TargetClass = Literal["memory", "query", "template", "doc", "prompt", "host"]
PolicyState = Literal["none", "in_force", "refused", "unreadable"]

TELEMETRY_MODES: tuple[TelemetryMode, ...] = get_args(TelemetryMode)
TARGET_CLASSES: tuple[TargetClass, ...] = get_args(TargetClass)
#: A grant may name every class of target; what concerns no memory is never applied by itself.
GRANTABLE_TARGETS: frozenset[TargetClass] = frozenset({"memory", "query"})
#: Analyzers from outside go by their trust: a policy may name all of them at once.
OUTSIDE_FAMILIES = frozenset({"command", "llm"})
MAX_POLICY_BYTES = 65_536
_DIGEST_CHARS = 16


@dataclass(frozen=True, slots=True)
class Grant:
    """Leave to apply the findings of one analyzer, up to a severity, where they concern one of ``targets``."""

    analyzer: str
    targets: tuple[TargetClass, ...]
    max_severity: Severity

    def covers(self, severity: str) -> bool:
        """Whether it reaches as far as a severity."""
        return severity_rank(severity) <= severity_rank(self.max_severity)


@dataclass(frozen=True, slots=True)
class Review:
    """From which severity on a proposal starts the approval workflow; None where none does."""

    start_workflow_at: Severity | None = None


@dataclass(frozen=True, slots=True)
class Pseudonymize:
    """Whether models see placeholders instead of names, addresses, numbers and ids; ``names`` are replaced too.

    ``is_known``: whether anybody knows which names are listed. While nobody does, no model is asked.
    """

    enabled: bool = False
    names: tuple[str, ...] = ()
    is_known: bool = True


@dataclass(frozen=True, slots=True)
class Policy:
    """A policy in force. Analyzers are families; the default is the closed policy.

    ``analyzers`` are those of others that passes ask.
    """

    auto_apply_enabled: bool = False
    auto_apply: tuple[Grant, ...] = ()
    deny: tuple[str, ...] = ()
    severity_floors: Mapping[str, Severity] = field(default_factory=dict)
    telemetry: TelemetryMode = "aggregate"
    review: Review = field(default_factory=Review)
    analyzers: tuple[RegisteredAnalyzer, ...] = ()
    pseudonymize: Pseudonymize = field(default_factory=Pseudonymize)

    @property
    def shown(self) -> dict[str, Any]:
        """The policy as people see it: names of people are told to nobody, only how many are listed, and endpoints as
        far as nothing of them may be secret.
        """
        analyzers = [{**asdict(each), "endpoint": each.shown_endpoint} for each in self.analyzers]
        masked = {"enabled": self.pseudonymize.enabled, "names": len(self.pseudonymize.names)}
        return {**asdict(self), "analyzers": analyzers, "pseudonymize": masked}

    @property
    def digest(self) -> str:
        """16 hex digits that name this policy as it is shown: with what is hidden in it, they could prove a guess."""
        return sha256_hex(canonical_json(self.shown))[:_DIGEST_CHARS]

    def denies(self, family: str, trust: str) -> bool:
        """Whether an analyzer may not run at all."""
        return family in self.deny or trust in self.deny

    def floor_of(self, family: str, trust: str) -> Severity:
        """The severity below which an analyzer's new findings are dropped."""
        floors = (self.severity_floors.get(name, "info") for name in (family, trust))
        return max(floors, key=severity_rank)

    def grants_to(self, family: str) -> tuple[Grant, ...]:
        """What one analyzer is granted; nothing while grants are switched off."""
        return tuple(grant for grant in self.auto_apply if self.auto_apply_enabled and grant.analyzer == family)


CLOSED = Policy()
#: What holds while nobody knows what the policy says: what a model has seen cannot be taken back.
UNKNOWN = Policy(pseudonymize=Pseudonymize(enabled=True, is_known=False))


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a policy does not hold: the offending part (empty for the whole), a stable code, and the rule."""

    field: str
    code: str
    detail: str


@dataclass(frozen=True, slots=True)
class HostPolicy:
    """The policy in force and how that came about. Where ``state`` is not ``in_force``, ``faults`` say why."""

    policy: Policy = CLOSED
    state: PolicyState = "none"
    faults: tuple[Fault, ...] = ()

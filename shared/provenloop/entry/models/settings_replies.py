"""Replies about analyzers, the configuration of a memory, and the host policy."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from provenloop.domain.policy import PolicyState, TargetClass, TelemetryMode
from provenloop.domain.recommendation import Severity
from provenloop.entry.models.fields import WireModel


class AnalyzerParameter(WireModel):
    """A parameter of an analyzer. ``low`` and ``high`` bound numbers, ``high`` the length of a text."""

    name: str
    kind: Literal["int", "float", "str", "bool"]
    default: str | int | float | bool
    low: float | None
    high: float | None
    describes: str
    choices: list[str]


class Analyzer(WireModel):
    """What an analyzer looks for, and how it is set in this memory: ``effective`` are the parameters it runs with."""

    id: str
    title: str
    line: str
    tier: str
    trust: Literal["builtin", "command", "llm"]
    default_on: bool
    sources: list[str]
    kinds: list[str]
    parameters: list[AnalyzerParameter]
    needs: list[str]
    auto_apply: Literal["never", "structural"]
    metric: str | None
    enabled: bool
    skip_reason: str | None
    effective: dict[str, str | int | float | bool]
    severity_floor: Severity
    namespaces: list[str]


class AnalyzersReply(WireModel):
    """All analyzers, in the order in which a pass runs them."""

    analyzers: list[Analyzer]


class ConfigReply(AnalyzersReply):
    """The memory's configuration and what came of it."""

    rev: int
    passes_enabled: bool
    lessons: dict[str, bool | int | float] | None
    lesson_folds: dict[str, str]
    recipes: Annotated[
        dict[str, bool | int | float | str], Field(description="Settings of recipes that this memory sets itself.")
    ]
    lesson_not_rules: list[str]


class PolicyFault(WireModel):
    """Why the host policy does not hold. ``field`` is empty for the whole of it."""

    field: str
    code: str
    detail: str


class PolicyStanding(WireModel):
    """How the policy in force came about: refused or not there, it is the closed one."""

    state: PolicyState
    faults: list[PolicyFault]


class Grant(WireModel):
    """Leave to apply the findings of one analyzer without a person."""

    analyzer: str
    targets: list[TargetClass]
    max_severity: Severity


class Review(WireModel):
    """When a proposal starts the approval workflow."""

    start_workflow_at: Severity | None


class RegisteredAnalyzer(WireModel):
    """An external analyzer. ``endpoint`` is shown without what may be secret: the query of an address."""

    id: str
    endpoint: str
    needs: list[str]
    timeout_ms: int
    max_bytes: int


class Pseudonymize(WireModel):
    """Whether models see placeholders for people, and how many names are listed beside those that are found."""

    enabled: bool
    names: int


class Policy(WireModel):
    """The policy in force."""

    auto_apply_enabled: bool
    auto_apply: list[Grant]
    deny: list[str]
    severity_floors: dict[str, Severity]
    telemetry: TelemetryMode
    review: Review
    analyzers: list[RegisteredAnalyzer]
    pseudonymize: Pseudonymize


class PolicyReply(PolicyStanding):
    """The host policy in force; it is set outside of the service, and read here."""

    digest: str
    policy: Policy

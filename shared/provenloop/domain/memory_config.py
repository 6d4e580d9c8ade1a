"""What an admin set for one memory. It can only restrict: switch analyzers off or on, set parameters, raise floors.

Invariant: parameters were checked against the manifest when they were set, so a pass never meets a wrong one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from provenloop.domain.recommendation import Severity

ParameterValue = str | int | float | bool


@dataclass(frozen=True, slots=True)
class AnalyzerConfig:
    """What is set for one analyzer; what is not set is the manifest's default.

    ``namespaces`` restricts it to those named; none means all.
    """

    enabled: bool | None = None
    parameters: Mapping[str, ParameterValue] = field(default_factory=dict)
    severity_floor: Severity | None = None
    namespaces: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MemoryConfig:
    """The configuration of a memory, by analyzer family. Where ``passes_enabled`` is off, every pass is skipped.

    ``lessons`` are the settings of lessons that are not the default, ``folds`` the memory's own categories of lessons
    with the key that each folds into, ``not_rules`` the ids of cards that are no rules here, for good. ``recipes`` are
    the settings of recipes that are not the default.
    """

    rev: int = 0
    passes_enabled: bool = True
    analyzers: Mapping[str, AnalyzerConfig] = field(default_factory=dict)
    lessons: Mapping[str, ParameterValue] = field(default_factory=dict)
    folds: Mapping[str, str] = field(default_factory=dict)
    recipes: Mapping[str, ParameterValue] = field(default_factory=dict)
    not_rules: tuple[str, ...] = ()

"""Deliberate differences: where this system answers otherwise than the recording, and why.

``differences.toml`` names scenarios with the steps that may differ and the reason; kinds of steps and families that
have no counterpart here; what waits. A difference that is none any more is as wrong as one that is not listed.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from tests.parity.runner.compare import Mismatch
from tests.parity.runner.scenarios import FolderError, Scenario

COMMITTED = Path(__file__).parents[1] / "differences.toml"


@dataclass(frozen=True, slots=True)
class Difference:
    """One scenario that differs on purpose, at these steps."""

    steps: frozenset[int]
    reason: str

    def covers(self, found: Iterable[Mismatch]) -> bool:
        """Whether nothing differs but what may."""
        return all(mismatch.step in self.steps for mismatch in found)


@dataclass(frozen=True)
class Differences:
    """All of them.

    Attributes:
        scenarios: by name.
        not_portable: reason by pattern of scenario names.
        steps_not_portable: reason by kind of step.
        waiting: what is waited for, by pattern of scenario names.
    """

    scenarios: Mapping[str, Difference] = field(default_factory=dict)
    not_portable: Mapping[str, str] = field(default_factory=dict)
    steps_not_portable: Mapping[str, str] = field(default_factory=dict)
    waiting: Mapping[str, str] = field(default_factory=dict)

    def no_counterpart(self, scenario: Scenario) -> str | None:
        """Why a scenario cannot be replayed here at all; None where it can."""
        kinds = (step["op"] for step in scenario.steps)
        by_step = (self.steps_not_portable[kind] for kind in kinds if kind in self.steps_not_portable)
        return _reason(self.not_portable, scenario) or next(by_step, None)

    def waited_for(self, scenario: Scenario) -> str | None:
        """What a scenario needs that is not built yet and that the system does not say itself."""
        return _reason(self.waiting, scenario)


def read_differences(path: Path) -> Differences:
    """The differences of a file.

    Raises:
        FolderError: an entry without its steps or its reason.
    """
    raw = tomllib.loads(path.read_text(encoding="utf-8"))
    scenarios = {name: _difference(path, name, entry) for name, entry in raw.get("scenarios", {}).items()}
    tables = (raw.get(name, {}) for name in ("not_portable", "steps_not_portable", "waiting"))
    return Differences(scenarios, *tables)


def _reason(reasons: Mapping[str, str], scenario: Scenario) -> str | None:
    return next((reason for pattern, reason in reasons.items() if fnmatchcase(scenario.name, pattern)), None)


def _difference(path: Path, name: str, entry: Mapping[str, Any]) -> Difference:
    if not entry.get("steps") or not str(entry.get("reason", "")).strip():
        raise FolderError(f"{path}: {name} needs steps and a reason")
    return Difference(frozenset(entry["steps"]), entry["reason"])

"""What an analyzer is: a manifest, and a pure function from a read-only view of one group to drafts.

The engine decides which groups to look at (touched by new grains, or due), reads what the manifest asks for, and hands
it over with the resolved parameters and the time. An analyzer has no clock, reads nothing by itself, writes nothing,
and cannot claim identity, status or origin. Its output is a function of its arguments alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from provenloop.domain.checkpoint import Watch
from provenloop.domain.grain import Grain
from provenloop.domain.recommendation import Draft
from provenloop.domain.rollup import ToolWindow

ParameterValue = str | int | float | bool
Parameters = Mapping[str, ParameterValue]
Source = Literal["tool_window", "fact_cluster"]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a manifest. ``low`` and ``high`` bound numbers, ``high`` the length of a text."""

    name: str
    kind: Literal["int", "float", "str", "bool"]
    default: ParameterValue
    low: float | None = None
    high: float | None = None
    describes: str = ""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What everybody is told of an analyzer; API, CLI, MCP, console and docs are fed from it."""

    id: str
    title: str
    line: str
    tier: Literal["T0", "T1", "T2"]
    trust: Literal["builtin", "command", "llm"]
    default_on: bool
    source: Source
    parameters: tuple[Parameter, ...] = ()
    needs: tuple[str, ...] = ()
    auto_apply: Literal["never", "structural"] = "never"
    metric: str | None = None

    def defaults(self) -> Parameters:
        """Every parameter at its default."""
        return {parameter.name: parameter.default for parameter in self.parameters}


@dataclass(frozen=True, slots=True)
class AppliedMark:
    """An earlier recommendation of a finding was applied: only what came after counts towards it again."""

    at: int
    seq: int
    watch: Watch | None = None


@dataclass(frozen=True, slots=True)
class ToolView:
    """One tool of one namespace: its rollup rows inside the window."""

    group: str
    namespace: str
    window: ToolWindow
    sample: str


@dataclass(frozen=True, slots=True)
class ClusterView:
    """All grains of one (subject, relation), whatever their state."""

    group: str
    grains: tuple[Grain, ...]


View = ToolView | ClusterView


@dataclass(frozen=True, slots=True)
class Examination:
    """What looking at one group gave: drafts, and the next instant at which time alone may change the answer."""

    drafts: tuple[Draft, ...] = ()
    next_due_at: int | None = None


class Marks(Protocol):
    """Looks up whether a finding was applied before, by the parts of its dedup key."""

    def __call__(self, namespace: str, parts: Sequence[str]) -> AppliedMark | None:
        """The mark of a finding, None where nothing of it was applied."""


def no_marks(namespace: str, parts: Sequence[str]) -> AppliedMark | None:
    """Nothing was ever applied."""
    del namespace, parts
    return None


class Analyzer(Protocol):
    """A built-in analyzer."""

    manifest: Manifest

    def examine(self, view: View, parameters: Parameters, now: int, marks: Marks = no_marks) -> Examination:
        """Look at one group."""


@dataclass(frozen=True, slots=True)
class Touched:
    """What a pass has to look at: groups by source."""

    tools: Mapping[str, str] = field(default_factory=dict)
    clusters: frozenset[str] = frozenset()

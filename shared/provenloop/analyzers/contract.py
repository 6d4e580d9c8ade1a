"""What an analyzer is: a manifest, and a pure function from a read-only view of one group to drafts.

The engine decides which groups to look at (touched by new commits, or due), reads what their source asks for (a
manifest names one or more), and hands it over with the resolved parameters and the time. An analyzer has no clock,
reads nothing by itself, writes nothing, and cannot claim identity, status or origin. Its output is a function of its
arguments alone.

| source | a group is | its view | looked at when |
|---|---|---|---|
| tool_window | a tool of a namespace | ToolView | it was called, or a day left the window |
| cluster | the grains of one (namespace, topic, relation), of the kinds it names | ClusterView | one changed |
| grain | one grain of the kinds the manifest names | GrainView | it changed, and is or was given an end of validity |
| near | one observation | NearView | it or a text like it changed |
| question | one question of a namespace | QuestionView | it was asked, or facts came that may answer it |
| assembly | the memory | AssemblyView | contexts were assembled |
| aged | the grains of a namespace older than an age parameter | AgedView | one grew old enough, or changed |
| measured | an applied recommendation | MeasuredView | a checkpoint was measured |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from provenloop.domain.checkpoint import Watch
from provenloop.domain.grain import Grain, GrainKind
from provenloop.domain.recommendation import Draft
from provenloop.domain.rollup import ToolWindow

ParameterValue = str | int | float | bool
Parameters = Mapping[str, ParameterValue]
Source = Literal["tool_window", "cluster", "grain", "near", "question", "assembly", "aged", "measured"]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a manifest.

    ``low`` and ``high`` bound numbers, ``high`` the length of a text; a text is one of ``choices`` where there are any.
    """

    name: str
    kind: Literal["int", "float", "str", "bool"]
    default: ParameterValue
    low: float | None = None
    high: float | None = None
    describes: str = ""
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Manifest:
    """What everybody is told of an analyzer; API, CLI, MCP, console and docs are fed from it.

    ``needs`` names capabilities without which it is skipped with a reason: ``telemetry``.
    """

    id: str
    title: str
    line: str
    tier: Literal["T0", "T1", "T2"]
    trust: Literal["builtin", "command", "llm"]
    default_on: bool
    sources: tuple[Source, ...]
    parameters: tuple[Parameter, ...] = ()
    needs: tuple[str, ...] = ()
    auto_apply: Literal["never", "structural"] = "never"
    metric: str | None = None
    kinds: tuple[GrainKind, ...] = ()

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
    """The grains of one (namespace, topic, relation), whatever their state. Prefixes collide: look at the fields."""

    group: str
    grains: tuple[Grain, ...]


@dataclass(frozen=True, slots=True)
class GrainView:
    """One grain, whatever its state; None where it is gone."""

    group: str
    grain: Grain | None


@dataclass(frozen=True, slots=True)
class NearView:
    """One observation (``group`` is its address) and every live one that is like it, or like one of those, and so on.

    ``texts`` holds them all, the one itself included, in (recorded_at, address) order; it is empty where the one itself
    is not live. ``skipped`` counts texts that had too many candidates to be compared.
    """

    group: str
    texts: tuple[Grain, ...]
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class QuestionView:
    """One question, and how often it was asked and found no answer inside the window of ``window_days`` UTC days.

    ``question`` is the grain that keeps its text. ``is_answered`` tells that asking it now finds something.
    ``oldest_day_ends_at`` is when the oldest counted day leaves the window, None without any.
    """

    group: str
    question: Grain | None
    asked: int = 0
    empty: int = 0
    is_answered: bool = False
    oldest_day_ends_at: int | None = None


@dataclass(frozen=True, slots=True)
class AssemblyView:
    """Contexts that agents assembled inside the window of ``window_days`` UTC days, and how many dropped something."""

    group: str
    assembled: int = 0
    overflowed: int = 0
    oldest_day_ends_at: int | None = None


@dataclass(frozen=True, slots=True)
class AgedView:
    """The grains of one namespace that are older than the age parameter and meet the source's other conditions.

    ``oldest`` are the first of them by (recorded_at, address), at most 80; ``count`` is how many there are in all.
    """

    group: str
    namespace: str
    oldest: tuple[Grain, ...]
    count: int


@dataclass(frozen=True, slots=True)
class MeasuredView:
    """An applied recommendation with a checkpoint that came out regressed. Rates are errors / calls at each.

    ``evidence`` are addresses of what happened again, newest first.
    """

    group: str
    namespace: str
    recommendation: str
    metric: str
    baseline_errors: int
    baseline_calls: int
    errors: int
    calls: int
    horizon_ms: int
    evidence: tuple[str, ...] = ()


View = ToolView | ClusterView | GrainView | NearView | QuestionView | AssemblyView | AgedView | MeasuredView


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


@runtime_checkable
class AgingAnalyzer(Analyzer, Protocol):
    """An analyzer of old grains, which also says what is old."""

    def age_ms(self, parameters: Parameters) -> int | None:
        """From what age in milliseconds a grain may be old; None where nothing ever is."""

    def belongs(self, grain: Grain, recalls: int, parameters: Parameters, now: int) -> bool:
        """Whether a grain of that age, recalled so often within it, is one to speak of."""

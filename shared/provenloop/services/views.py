"""Views: what an analyzer's source asks for, read once a pass where several analyzers look at one group."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import islice

from provenloop.analyzers.contract import (
    AgedView,
    AssemblyView,
    ClusterView,
    GrainView,
    MeasuredView,
    NearView,
    Parameters,
    QuestionView,
    Source,
    ToolView,
    View,
)
from provenloop.domain.events import MAX_AHEAD_MS
from provenloop.domain.instants import DAY_MS, day_start_ms, days_before, utc_day
from provenloop.domain.names import MemoryId
from provenloop.domain.rollup import ToolWindow
from provenloop.services.aging import Aging
from provenloop.services.near_index import NearIndex
from provenloop.services.pass_settings import Setting
from provenloop.services.ports import Store
from provenloop.services.regressions import measured_view
from provenloop.services.standing import Standing

_SAMPLES = 40


@dataclass
class Views:
    """Reads the views of one pass over one memory at time ``now`` (epoch ms)."""

    store: Store
    memory: MemoryId
    now: int
    aging: Aging
    near: NearIndex
    standing: Standing
    _clusters: dict[str, ClusterView] = field(default_factory=dict)

    def view(self, source: Source, group: str, setting: Setting) -> View:
        """The view of one group."""
        readers: Mapping[Source, Callable[[str, Setting], View]] = {
            "tool_window": self._tool,
            "cluster": self._cluster,
            "grain": self._grain,
            "aged": self._aged,
            "near": self._near,
            "question": self._question,
            "assembly": self._assembly,
            "measured": self._measured,
        }
        return readers[source](group, setting)

    def _window(self, parameters: Parameters) -> tuple[str, str]:
        """First and last UTC day of a window. Calls may be dated a little ahead of our clock, so on the next day."""
        days = int(parameters["window_days"])
        return days_before(utc_day(self.now), days - 1), utc_day(self.now + MAX_AHEAD_MS)

    def _tool(self, group: str, setting: Setting) -> ToolView:
        window = self.store.tool_window(self.memory, group, *self._window(setting.parameters))
        namespace = window.days[0].namespace if window.days else ""
        return ToolView(group, namespace, window, self._sample(window))

    def _sample(self, window: ToolWindow) -> str:
        """A call that still tells the tool's name: the first one counted, unless it was forgotten or has expired."""
        first = min((day.sample for day in window.days), default="")
        newest = (address for row in window.signatures for _, address in row.newest)
        others = islice(dict.fromkeys((*(day.sample for day in window.days), *newest)), _SAMPLES)
        for addresses in ([first], list(others)):
            found = self.store.grains(self.memory, filter(None, addresses), self.now)
            told = next((address for address in addresses if address in found and found[address].body), None)
            if told is not None:
                return told
        return first

    def _cluster(self, group: str, setting: Setting) -> ClusterView:
        del setting
        if group not in self._clusters:
            self._clusters[group] = ClusterView(group, self.store.grains_by_prefix(self.memory, group, self.now))
        return self._clusters[group]

    def _grain(self, group: str, setting: Setting) -> GrainView:
        del setting
        return GrainView(group, self.store.grains(self.memory, [group], self.now).get(group))

    def _aged(self, group: str, setting: Setting) -> AgedView:
        return self.aging.view(setting, group)

    def _near(self, group: str, setting: Setting) -> NearView:
        del setting
        return self.near.view(group)

    def _question(self, group: str, setting: Setting) -> QuestionView:
        return self.standing.view(setting, group, self._window(setting.parameters))

    def _measured(self, group: str, setting: Setting) -> MeasuredView:
        del setting
        return measured_view(self.store, self.memory, group, self.now)

    def _assembly(self, group: str, setting: Setting) -> AssemblyView:
        days = self.store.assembly_window(self.memory, *self._window(setting.parameters))
        assembled, overflowed = sum(day.assembled for day in days), sum(day.overflowed for day in days)
        if not days:
            return AssemblyView(group)
        ends_at = day_start_ms(days[0].day) + int(setting.parameters["window_days"]) * DAY_MS
        return AssemblyView(group, assembled, overflowed, ends_at)

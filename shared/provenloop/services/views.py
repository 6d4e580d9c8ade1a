"""Views: what an analyzer's source asks for, read once a pass where several analyzers look at one group."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from provenloop.analyzers.contract import ClusterView, GrainView, Parameters, Source, ToolView, View
from provenloop.domain.errors import AnalyzerError
from provenloop.domain.events import MAX_AHEAD_MS
from provenloop.domain.instants import days_before, utc_day
from provenloop.domain.names import MemoryId
from provenloop.services.ports import Store


@dataclass
class Views:
    """Reads the views of one pass over one memory at time ``now`` (epoch ms)."""

    store: Store
    memory: MemoryId
    now: int
    _clusters: dict[str, ClusterView] = field(default_factory=dict)

    def view(self, source: Source, group: str, parameters: Parameters) -> View:
        """The view of one group.

        Raises:
            AnalyzerError: the source cannot be read one group at a time.
        """
        readers: Mapping[Source, Callable[[str, Parameters], View]] = {
            "tool_window": self._tool,
            "cluster": self._cluster,
            "grain": self._grain,
        }
        if source not in readers:
            raise AnalyzerError(f"no view for source {source}")
        return readers[source](group, parameters)

    def _window(self, parameters: Parameters) -> tuple[str, str]:
        """First and last UTC day of a window. Calls may be dated a little ahead of our clock, so on the next day."""
        days = int(parameters["window_days"])
        return days_before(utc_day(self.now), days - 1), utc_day(self.now + MAX_AHEAD_MS)

    def _tool(self, group: str, parameters: Parameters) -> ToolView:
        window = self.store.tool_window(self.memory, group, *self._window(parameters))
        namespace = window.days[0].namespace if window.days else ""
        return ToolView(group, namespace, window, min((day.sample for day in window.days), default=""))

    def _cluster(self, group: str, parameters: Parameters) -> ClusterView:
        del parameters
        if group not in self._clusters:
            self._clusters[group] = ClusterView(group, self.store.grains_by_prefix(self.memory, group, self.now))
        return self._clusters[group]

    def _grain(self, group: str, parameters: Parameters) -> GrainView:
        del parameters
        return GrainView(group, self.store.grains(self.memory, [group], self.now).get(group))

"""Questions asked often and mostly in vain: looked at again whenever memory changes, since it may answer them now.

They stand in a set of their own, so that a pass finds them without reading what was never asked in vain.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from provenloop.analyzers.contract import QuestionView
from provenloop.domain.commit import Heads
from provenloop.domain.instants import DAY_MS, day_start_ms
from provenloop.domain.names import MemoryId
from provenloop.domain.records import AgedGrain
from provenloop.services.groups import question_group, question_of
from provenloop.services.pass_settings import Setting
from provenloop.services.pass_writes import PassWrites
from provenloop.services.ports import Put, Remove, Store, Write
from provenloop.services.recall import would_find

MAX_STANDING = 200
_STANDING = "standing"


@dataclass
class Standing:
    """The standing questions of one memory, as one pass sees and keeps them at time ``now`` (epoch ms)."""

    store: Store
    memory: MemoryId
    heads: Heads
    now: int
    writes: PassWrites

    def groups(self, family: str) -> list[str]:
        """The groups of the standing questions, at most 200."""
        rows = self.store.aged_oldest(self.memory, family, _STANDING, MAX_STANDING)
        return [question_group(row.address) for row in rows]

    def view(self, setting: Setting, group: str, window: tuple[str, str]) -> QuestionView:
        """One question in a window of UTC days; only one that would be a gap is asked once more."""
        address = question_of(group)
        grain = self.store.grains(self.memory, [address], self.now).get(address)
        question = grain if grain is not None and grain.state != "forgotten" else None
        days = self.store.ask_window(self.memory, address, *window)
        asked, empty = sum(day.asked for day in days), sum(day.empty for day in days)
        parameters = setting.parameters
        stands = (
            question is not None
            and asked >= int(parameters["min_runs"])
            and empty > 0
            and empty / asked >= float(parameters["min_empty_ratio"])
        )
        self._keep(AgedGrain(setting.family, _STANDING, 0, address), stands=stands)
        is_answered = stands and question is not None and would_find(
            self.store, self.memory, self.heads, question, self.now
        )  # fmt: skip
        oldest = min((day.day for day in days), default=None)
        ends_at = None if oldest is None else day_start_ms(oldest) + int(parameters["window_days"]) * DAY_MS
        return QuestionView(group, question, asked, empty, is_answered, ends_at)

    def _keep(self, row: AgedGrain, *, stands: bool) -> None:
        def plan() -> Iterator[Write]:
            if stands != (row in self.store.aged_present(self.memory, [row])):
                yield Put(row) if stands else Remove(row)

        self.writes.make(plan)

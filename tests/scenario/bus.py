"""A bus that takes events while it is up, for tests of what is published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from provenloop.domain.bus_events import BusEvent
from provenloop.services.bus_port import Waiting


@dataclass
class Bus:
    """Takes what it is sent, while it is up; ``taken`` holds every event each time it came."""

    taken: list[BusEvent] = field(default_factory=list)
    is_up: bool = True
    refused: set[str] = field(default_factory=set)

    def send(self, waiting: Sequence[Waiting]) -> frozenset[str]:
        """See ``EventBus``."""
        took = [each.event for each in waiting if self.is_up and each.event.id not in self.refused]
        self.taken += took
        return frozenset(event.id for event in took)

    @property
    def ids(self) -> list[str]:
        """The id of every event as often as it came."""
        return [event.id for event in self.taken]

"""Where events go, and where those wait that have not gone yet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from provenloop.domain.bus_events import BusEvent
from provenloop.domain.names import MemoryId


class Waiting(NamedTuple):
    """An event and the memory it is about."""

    memory: MemoryId
    event: BusEvent


class EventBus(Protocol):
    """Where whoever wants to know of decisions listens."""

    def send(self, waiting: Sequence[Waiting]) -> frozenset[str]:
        """Publish events, in order; the ids of those that were taken. Never raises: what was not taken waits on."""


class Outbox(Protocol):
    """Finds events that were left behind; from an index that may be late."""

    def unpublished(self, before: int, limit: int) -> tuple[Waiting, ...]:
        """Those from before that instant (epoch ms), oldest first, at most ``limit``."""

"""Publishing: events leave the outbox at least once, right after their transaction or by the next sweep.

A bus that is down, a crash or a lost reply delays an event and never undoes or fails what it tells of. An event leaves
the outbox only once the bus has taken it, so it may be published twice, and readers tell by its id.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from provenloop.domain.bus_events import BusEvent
from provenloop.domain.errors import LoopError
from provenloop.domain.instants import MINUTE_MS
from provenloop.domain.names import MemoryId
from provenloop.services.bus_port import EventBus, Outbox, Waiting
from provenloop.services.ports import Put, Remove, Store, Write, WriteRefusedError

#: Events younger than this are still being published by whoever made them.
LEFT_BEHIND_MS = MINUTE_MS
#: Most events of one sweep; the next one goes on with the oldest.
SWEPT_AT_ONCE = 500
_REMOVED_AT_ONCE = 90


class Published(NamedTuple):
    """How many events the bus took, and how many still wait."""

    sent: int
    left: int


class Publisher:
    """Collects the events of committed transactions and publishes them when the work is done.

    Args:
        store: where the outbox is; asked for when there is something to remove.
        bus: where events go; asked for when there is something to send.
    """

    def __init__(self, store: Callable[[], Store], bus: Callable[[], EventBus]) -> None:
        self._store = store
        self._bus = bus
        self._committed: deque[Waiting] = deque()

    def note(self, memory: MemoryId, writes: Sequence[Write]) -> None:
        """Take in a transaction that was committed."""
        entities = (write.entity for write in writes if isinstance(write, Put))
        self._committed.extend(Waiting(memory, entity) for entity in entities if isinstance(entity, BusEvent))

    def flush(self, now: int) -> Published:
        """Publish what was committed since the last time."""
        return self._publish(tuple(self._taken()), now)

    def sweep(self, outbox: Outbox, now: int) -> Published:
        """Publish what others left behind."""
        return self._publish(outbox.unpublished(now - LEFT_BEHIND_MS, SWEPT_AT_ONCE), now)

    def _taken(self) -> Iterator[Waiting]:
        """Functions of one process may share a publisher: whoever comes first takes all."""
        while self._committed:
            yield self._committed.popleft()

    def _publish(self, waiting: Sequence[Waiting], now: int) -> Published:
        if not waiting:
            return Published(0, 0)
        taken = self._bus().send(waiting)
        self._remove([each for each in waiting if each.event.id in taken], now)
        return Published(len(taken), len(waiting) - len(taken))

    def _remove(self, sent: Sequence[Waiting], now: int) -> None:
        """Take events out of the outbox. What stays there is published again, which is allowed."""
        ordered = sorted(sent, key=lambda each: each.memory)
        for memory, group in groupby(ordered, key=lambda each: each.memory):
            removals = [Remove(each.event) for each in group]
            for start in range(0, len(removals), _REMOVED_AT_ONCE):
                try:
                    self._store().transact(memory, removals[start : start + _REMOVED_AT_ONCE], now, tries=2)
                except (LoopError, WriteRefusedError):
                    return

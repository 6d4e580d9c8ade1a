"""Dispatch: finds memories with something to do and asks for a pass over each, once."""

from __future__ import annotations

from typing import NamedTuple

from provenloop.domain.errors import LoopError
from provenloop.domain.names import MemoryId
from provenloop.services.dispatch_port import PassQueue, WakeIndex

#: Shorter than the time between two ticks, so that a message that was lost is sent again at the next one.
CLAIM_MS = 270_000


class Dispatched(NamedTuple):
    """How many passes were asked for, and the memories that could not be claimed or queued, each with why."""

    sent: int
    failed: tuple[tuple[MemoryId, LoopError], ...]


def dispatch_due(wake: WakeIndex, queue: PassQueue, now: int) -> Dispatched:
    """Queue a pass for every due memory that no other dispatcher has claimed. One that fails keeps none of the others
    from theirs: it stays due, and is tried again once its claim has run out.

    Raises:
        UnavailableError: the index did not answer.
    """
    sent = 0
    failed: list[tuple[MemoryId, LoopError]] = []
    for memory in wake.due_memories(now):
        try:
            if wake.claim(memory, now, now + CLAIM_MS):
                queue.send(memory, now)
                sent += 1
        except LoopError as error:
            failed.append((memory, error))
    return Dispatched(sent, tuple(failed))

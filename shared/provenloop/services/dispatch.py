"""Dispatch: finds memories with something to do and asks for a pass over each, once."""

from __future__ import annotations

from provenloop.services.ports import PassQueue, WakeIndex

#: Shorter than the time between two ticks, so that a message that was lost is sent again at the next one.
CLAIM_MS = 270_000


def dispatch_due(wake: WakeIndex, queue: PassQueue, now: int) -> int:
    """Queue a pass for every due memory that no other dispatcher has claimed; how many were queued."""
    sent = 0
    for memory in wake.due_memories(now):
        if wake.claim(memory, now, now + CLAIM_MS):
            queue.send(memory, now)
            sent += 1
    return sent

"""What the dispatcher works with, as Protocols; ``adapters`` implements them."""

from __future__ import annotations

from typing import Protocol

from provenloop.domain.names import MemoryId


class WakeIndex(Protocol):
    """Finds memories with something to do; used by the dispatcher only."""

    def due_memories(self, now: int) -> tuple[MemoryId, ...]:
        """Memories whose wake time has come, each once."""

    def claim(self, memory: MemoryId, now: int, until: int) -> bool:
        """Claim a memory until ``until``; False when another dispatcher holds it."""


class PassQueue(Protocol):
    """Where the dispatcher puts memories that want a pass."""

    def send(self, memory: MemoryId, now: int) -> None:
        """Ask for one pass over the memory."""

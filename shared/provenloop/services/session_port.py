"""Reading sessions, as a Protocol; ``adapters`` implements it. Part of ``ports.Store``."""

from __future__ import annotations

from typing import Protocol

from provenloop.domain.names import MemoryId
from provenloop.lessons.session import CardPass, SessionRecord


class SessionReader(Protocol):
    """Read-only access to sessions; strongly consistent."""

    def session(self, memory: MemoryId, session_key: str, now: int) -> SessionRecord | None:
        """A session with all that is stored of it, in one query; None where there is none, or its time is over."""

    def card_passes(self, memory: MemoryId, card_id: str, now: int, limit: int) -> tuple[CardPass, ...]:
        """Sessions in which a card was followed, at most ``limit``; those whose time is over are left out."""

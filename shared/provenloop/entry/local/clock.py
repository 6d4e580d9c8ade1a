"""The local stack's clock: the wall clock's time until it is set, then the instant it was set to.

Invariants: it may be set to any instant, earlier ones too; while it is set it stands still. The functions see it as
``PROVENLOOP_NOW`` and know nothing of this module.
"""

from __future__ import annotations

from provenloop.entry import clock


class LocalClock:
    """A clock that can be set.

    Args:
        pinned: epoch ms to stand still at, None to go with the wall clock.
    """

    def __init__(self, pinned: int | None = None) -> None:
        self.pinned = pinned

    def now_ms(self) -> int:
        """Epoch milliseconds."""
        return clock.now_ms() if self.pinned is None else self.pinned

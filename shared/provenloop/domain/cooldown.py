"""How long a dedup key stays quiet after a rejection, a rollback or a regression."""

from __future__ import annotations

from provenloop.domain.recommendation import DAY_MS

_FIRST_DAYS = 7
_LONGEST_DAYS = 90
ACKNOWLEDGED_MS = 30 * DAY_MS


def cooldown_ms(strikes: int) -> int:
    """The quiet time after the strike that follows ``strikes`` earlier ones: 7, 14, 28, 56, 90, 90 ... days."""
    return min((_FIRST_DAYS << min(strikes, 10)), _LONGEST_DAYS) * DAY_MS

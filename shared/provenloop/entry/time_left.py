"""How much of an invocation's time is left, and when a pass has to come to an end.

Only the runtime knows: Lambda's context counts down to the function's timeout. A caller over HTTP waits 30 seconds at
most, so a pass asked for there ends in good order before that and says that there is more to do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from provenloop.services.outside_port import no_end

HTTP_PASS_MS = 20_000
#: What the end of a pass, and the answer, need.
RESERVE_MS = 15_000


@runtime_checkable
class CountsDown(Protocol):
    """Lambda's context, as far as it is needed here."""

    def get_remaining_time_in_millis(self) -> int:
        """Milliseconds until the invocation is ended."""


def spent(context: object, at_most_ms: int | None = None) -> Callable[[], bool]:
    """Whether the time is used up: little is left of the invocation, or ``at_most_ms`` have gone since now.

    Without a context that counts down, as in a test, there is always time.
    """
    if not isinstance(context, CountsDown):
        return lambda: False
    begun = context.get_remaining_time_in_millis()

    def is_spent() -> bool:
        left = context.get_remaining_time_in_millis()
        return left < RESERVE_MS or (at_most_ms is not None and begun - left >= at_most_ms)

    return is_spent


def left_ms(context: object, at_most_ms: int | None = None) -> Callable[[], int]:
    """How many milliseconds are left before the time is used up, as :func:`spent` tells; at most a day."""
    if not isinstance(context, CountsDown):
        return no_end
    begun = context.get_remaining_time_in_millis()

    def left() -> int:
        remaining = context.get_remaining_time_in_millis()
        of_caller = at_most_ms - (begun - remaining) if at_most_ms is not None else remaining
        return max(0, min(remaining - RESERVE_MS, of_caller))

    return left

"""The clock: the only place that asks what time it is.

``PROVENLOOP_NOW`` pins it, and is read again at every call, so that a local stack can step the time of a running
process. Garbage in it stops the call instead of being ignored: a test that believes its time is pinned must not run on
the wall clock.
"""

from __future__ import annotations

import os
import time

from provenloop.domain.errors import InternalError
from provenloop.domain.instants import InstantError, parse_instant
from provenloop.entry.settings import NOW

_NS_PER_MS = 1_000_000


def now_ms() -> int:
    """Epoch milliseconds: the pinned instant if there is one, else the wall clock's.

    Raises:
        InternalError: ``PROVENLOOP_NOW`` is neither RFC 3339 with an offset nor epoch milliseconds.
    """
    pinned = os.environ.get(NOW)
    if not pinned:
        return time.time_ns() // _NS_PER_MS
    # An environment holds text only, so digits here are a number that could not be written as one.
    is_number = pinned.isascii() and pinned.isdigit()
    try:
        return parse_instant(int(pinned) if is_number else pinned)
    except ValueError as error:
        reason = error.reason if isinstance(error, InstantError) else "not a plausible number"
        raise InternalError(f"{NOW} does not name an instant: {reason}") from error

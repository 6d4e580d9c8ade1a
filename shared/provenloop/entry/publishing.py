"""Publishing events once the work is done: nobody's request fails or is undone because the bus did not take them."""

from __future__ import annotations

from collections.abc import Callable

from provenloop.domain.errors import LoopError
from provenloop.entry.telemetry import count, log_error
from provenloop.entry.telling import tell_committed
from provenloop.entry.wiring import Wiring
from provenloop.services.publish import Published

_OPERATION = "publish"


def publish_committed(current: Wiring) -> None:
    """Publish what was just committed, and tell who waits for it. What is left is swept at a later tick."""
    tell_committed(current)
    _counted(lambda: current.publisher.flush(current.now()))


def publish_left_behind(current: Wiring) -> int:
    """Publish events that a crash, a lost reply or a bus that was down has left behind; how many went out."""
    return _counted(lambda: current.publisher.sweep(current.outbox, current.now()))


def _counted(publish: Callable[[], Published]) -> int:
    try:
        published = publish()
    except LoopError as error:
        log_error(_OPERATION, error, detail=error.message, code=error.code)
        return 0
    except Exception as error:  # noqa: BLE001 - what the events tell of is done, and its caller is to hear so
        log_error(_OPERATION, error)
        return 0
    count("EventsPublished", published.sent)
    count("EventsLeft", published.left)
    return published.sent

"""Telling workflows once the work is done: nobody's request fails or is undone because one could not be told."""

from __future__ import annotations

from collections.abc import Callable

from provenloop.domain.errors import LoopError
from provenloop.entry.telemetry import count, log_error
from provenloop.entry.wiring import Wiring

_OPERATION = "tell"


def tell_committed(current: Wiring) -> None:
    """Tell the workflows that wait for what this process has just committed. What is left is swept at a later tick."""
    _counted(lambda: current.teller.flush(current.now()))


def tell_left_behind(current: Wiring) -> int:
    """Tell workflows that a crash, a lost reply or an outage has left waiting; how many were told."""
    return _counted(lambda: current.teller.sweep(current.untolds, current.now()))


def _counted(tell: Callable[[], int]) -> int:
    try:
        told = tell()
    except LoopError as error:
        log_error(_OPERATION, error, detail=error.message, code=error.code)
        return 0
    except Exception as error:  # noqa: BLE001 - what was decided is decided, and its caller is to hear so
        log_error(_OPERATION, error)
        return 0
    count("ReviewsTold", told)
    return told

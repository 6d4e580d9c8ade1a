"""How the time of a function grows with its input, to tell linear from quadratic on any machine."""

from __future__ import annotations

import time
from collections.abc import Callable

_STEP = 6
#: Six times the input: a linear function takes about 6 times as long, a quadratic one 36 times.
QUADRATIC = 20
_SMALL_CHARS = 40_000
_TRIES = 3


def growth(work: Callable[[str], object], unit: str) -> float:
    """How many times longer six times as many repetitions of ``unit`` take, in processor time.

    A machine that is busy with other things can make any single measurement look bad, never a quadratic function look
    good three times: what looks bad is measured again.
    """
    least = _growth(work, unit)
    for _ in range(_TRIES - 1):
        if least < QUADRATIC:
            break
        least = min(least, _growth(work, unit))
    return least


def _growth(work: Callable[[str], object], unit: str) -> float:
    return _seconds(work, unit * (_STEP * _SMALL_CHARS // len(unit))) / _seconds(
        work, unit * (_SMALL_CHARS // len(unit))
    )


def _seconds(work: Callable[[str], object], text: str) -> float:
    begun = time.process_time()
    work(text)
    return max(time.process_time() - begun, 0.001)

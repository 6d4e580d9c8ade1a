"""Times of a corpus, told from the moment of the last pass: ``10d``, ``1d12h``, ``5ms`` before it, ``+2d`` after it."""

from __future__ import annotations

import re

NOW = 1_800_000_000_000
"""When every case is judged: 2027-01-15T08:00:00Z, a Friday."""

_PART = re.compile(r"(\d+)(ms|s|m|h|d)")
_WHOLE = re.compile(r"\+?(?:\d+(?:ms|s|m|h|d))+\Z|0\Z")
_MS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


def instant(text: str) -> int:
    """Epoch milliseconds of a relative time.

    Raises:
        ValueError: it is none.
    """
    if not _WHOLE.match(text):
        raise ValueError(f"not a time: {text}")
    span = sum(int(count) * _MS[unit] for count, unit in _PART.findall(text))
    return NOW + span if text.startswith("+") else NOW - span

"""Checking the value of one setting against its default, which says of what type it is."""

from __future__ import annotations

import math
from typing import Any

from provenloop.domain.errors import ParameterError


def checked_flag(value: Any, field: str) -> bool:
    """A switch.

    Raises:
        ParameterError: it is neither true nor false.
    """
    if not isinstance(value, bool):
        raise ParameterError("true or false", field=field)
    return value


def checked_number(value: Any, bounds: tuple[float, float], field: str, *, is_whole: bool) -> int | float:
    """A number from the lower to the upper bound.

    Raises:
        ParameterError: it is no number, no whole one where it must be, or out of its bounds.
    """
    if isinstance(value, bool) or not isinstance(value, int if is_whole else (int, float)):
        raise ParameterError(f"a {'whole ' if is_whole else ''}number", field=field)
    low, high = bounds
    if not math.isfinite(value) or not low <= value <= high:
        raise ParameterError(f"{low} to {high}", field=field)
    return int(value) if is_whole else float(value)

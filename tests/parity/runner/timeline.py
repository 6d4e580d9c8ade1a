"""When the acts of a scenario happen.

Time zero is 2027-01-15T08:00:00Z. Every act happens 1 ms after the one before, a repeated step being as many acts;
``at`` is for that step alone, ``clock`` moves the clock for good, and looking at what is live takes no time.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from tests.parity.runner.scenarios import FolderError, Step

T0_MS = 1_800_000_000_000
_UNIT_MS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_OFFSET = re.compile(r"(-?[0-9]+)(ms|s|m|h|d)\Z")
_TIMELESS = frozenset({"live", "adopt", "clock"})


def offset_ms(text: str | int) -> int:
    """Milliseconds of an offset such as ``-40d`` or ``0``.

    Raises:
        FolderError: it is not one.
    """
    if text in ("0", 0):
        return 0
    match = _OFFSET.match(str(text))
    if match is None:
        raise FolderError(f"{text!r} is no offset")
    return int(match[1]) * _UNIT_MS[match[2]]


def resolved(value: Any) -> Any:
    """A field's value, where ``t:OFFSET`` and ``s:OFFSET`` stand for epoch milliseconds and epoch seconds."""
    if isinstance(value, str) and value.startswith("t:"):
        return T0_MS + offset_ms(value[2:])
    if isinstance(value, str) and value.startswith("s:"):
        return T0_MS // 1_000 + offset_ms(value[2:]) // 1_000
    return value


def instants(steps: Sequence[Step]) -> tuple[tuple[int, ...], ...]:
    """Epoch ms of every act of every step."""
    clock = T0_MS
    found: list[tuple[int, ...]] = []
    for step in steps:
        if step["op"] == "clock":
            clock = T0_MS + offset_ms(step["to"])
        acts, spacing = _acts(step), offset_ms(step["every"]) if "every" in step else 1
        if "at" in step:
            start = T0_MS + offset_ms(step["at"])
            found.append(tuple(start + spacing * act for act in range(acts)))
        elif step["op"] in _TIMELESS:
            found.append((clock,))
        else:
            found.append(tuple(clock + spacing * act for act in range(1, acts + 1)))
            clock += spacing * acts
    return tuple(found)


def earliest(times: Sequence[Sequence[int]]) -> int:
    """The first act, at the latest time zero."""
    return min((T0_MS, *(at for acts in times for at in acts)))


def _acts(step: Step) -> int:
    return len(step["branches"]) if step["op"] == "fork" else int(step.get("repeat", 1))

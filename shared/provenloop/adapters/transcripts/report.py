"""What a reader saw, and what it could not use."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass
class ReadReport:
    """Counts of one reading. Nothing that is left out goes uncounted.

    ``orphans`` are results without a call, ``unanswered`` calls without a result, ``malformed`` the numbers of lines
    that hold no run.
    """

    runs: int = 0
    messages: int = 0
    calls: int = 0
    errors: int = 0
    orphans: int = 0
    unanswered: int = 0
    nameless: int = 0
    malformed: list[int] = field(default_factory=list)
    by_tool: Counter[str] = field(default_factory=Counter)
    errors_by_tool: Counter[str] = field(default_factory=Counter)

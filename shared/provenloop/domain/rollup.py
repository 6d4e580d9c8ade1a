"""Counts of tool calls per (namespace, tool, signature) and UTC day, and how changes are folded into them.

All folds commute: sums, minimum, maximum, and the newest few of a set. So a former hole may be folded after later
entries and the rollups are the same. A tool-day keeps at most 500 signatures of its own; the calls of further ones
are counted together under ``OVERFLOW`` and reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from provenloop.domain.commit import Change
from provenloop.domain.instants import utc_day

NEWEST_KEPT = 8
MAX_SIGNATURES_A_DAY = 500
OVERFLOW = "overflow"
ROLLUP_KEPT_DAYS = 400


@dataclass(frozen=True, slots=True)
class ToolDay:
    """Calls of one tool on one UTC day. ``signatures`` counts the distinct error signatures of the day."""

    tool_key: str
    day: str
    namespace: str
    calls: int = 0
    errors: int = 0
    signatures: int = 0
    sample: str = ""
    rev: int = 0


@dataclass(frozen=True, slots=True)
class SignatureDay:
    """Errors of one signature of one tool on one UTC day; ``newest`` are (occurred_at, address), newest first."""

    tool_key: str
    day: str
    signature: str
    n: int = 0
    first_at: int = 0
    last_at: int = 0
    newest: tuple[tuple[int, str], ...] = ()
    rev: int = 0


ToolDayId = tuple[str, str]
SignatureDayId = tuple[str, str, str]
RowId = ToolDayId | SignatureDayId
Rollup = ToolDay | SignatureDay


def counted(change: Change) -> bool:
    """Whether a change moves rollups: a tool call that was new."""
    return change.kind == "tool_call" and change.op == "add" and change.tool_key is not None


def rows_of(change: Change) -> tuple[RowId, ...]:
    """The ids of the rows a change may touch; an error may land in its own signature's row or in the overflow row."""
    if not counted(change) or change.tool_key is None or change.occurred_at is None:
        return ()
    day = utc_day(change.occurred_at)
    if not change.is_error or change.signature is None:
        return ((change.tool_key, day),)
    return (
        (change.tool_key, day),
        (change.tool_key, day, change.signature),
        (change.tool_key, day, OVERFLOW),
    )


class Tally:
    """Folds changes into rows that were read before, and tells which rows came out different.

    Args:
        rows: the stored rows among those that the changes may touch.
    """

    def __init__(self, rows: Iterable[Rollup]) -> None:
        self._tools: dict[ToolDayId, ToolDay] = {}
        self._signatures: dict[SignatureDayId, SignatureDay] = {}
        for row in rows:
            if isinstance(row, ToolDay):
                self._tools[row.tool_key, row.day] = row
            else:
                self._signatures[row.tool_key, row.day, row.signature] = row
        self._touched: dict[RowId, None] = {}

    def add(self, change: Change) -> None:
        """Count one change; anything but a new tool call counts nothing."""
        if not counted(change) or change.tool_key is None or change.occurred_at is None:
            return
        day = utc_day(change.occurred_at)
        tool = self._tools.get((change.tool_key, day)) or ToolDay(change.tool_key, day, change.namespace)
        tool = replace(tool, calls=tool.calls + 1, sample=min(tool.sample or change.address, change.address))
        if change.is_error and change.signature is not None:
            tool = self._add_error(replace(tool, errors=tool.errors + 1), change.signature, change)
        self._tools[tool.tool_key, day] = tool
        self._touched[tool.tool_key, day] = None

    def _add_error(self, tool: ToolDay, signature: str, change: Change) -> ToolDay:
        known = (tool.tool_key, tool.day, signature) in self._signatures
        if not known and tool.signatures >= MAX_SIGNATURES_A_DAY:
            signature = OVERFLOW
        key = (tool.tool_key, tool.day, signature)
        row = self._signatures.get(key)
        if row is None and signature != OVERFLOW:
            tool = replace(tool, signatures=tool.signatures + 1)
        self._signatures[key] = _with_error(row or SignatureDay(*key), change)
        self._touched[key] = None
        return tool

    @property
    def touched(self) -> tuple[Rollup, ...]:
        """The rows that differ from what was read, in the order first touched."""
        return tuple(self._tools[key] if len(key) == 2 else self._signatures[key] for key in self._touched)


def _with_error(row: SignatureDay, change: Change) -> SignatureDay:
    at = change.occurred_at or 0
    newest = sorted({*row.newest, (at, change.address)}, key=lambda pair: (-pair[0], pair[1]))[:NEWEST_KEPT]
    return replace(
        row,
        n=row.n + 1,
        first_at=min(row.first_at, at) if row.n else at,
        last_at=max(row.last_at, at),
        newest=tuple(newest),
    )


@dataclass(frozen=True, slots=True)
class ToolWindow:
    """All rollup rows of one tool inside a window of UTC days."""

    tool_key: str
    days: tuple[ToolDay, ...]
    signatures: tuple[SignatureDay, ...]

    @property
    def calls(self) -> int:
        """All calls in the window."""
        return sum(day.calls for day in self.days)

    @property
    def errors(self) -> int:
        """All failed calls in the window."""
        return sum(day.errors for day in self.days)

    def by_signature(self) -> Mapping[str, tuple[SignatureDay, ...]]:
        """The window's rows grouped by signature, signatures in order."""
        groups: dict[str, list[SignatureDay]] = {}
        for row in self.signatures:
            groups.setdefault(row.signature, []).append(row)
        return {signature: tuple(groups[signature]) for signature in sorted(groups)}

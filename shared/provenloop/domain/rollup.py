"""Counts per UTC day, and how changes are folded into them: tool calls, questions, reads, assembled contexts.

All folds commute: sums, minimum, maximum, and the newest few of a set. So a former hole may be folded after later
entries and the rollups are the same. A tool-day keeps at most 500 signatures of its own; the calls of further ones
are counted together under ``OVERFLOW`` and reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from provenloop.domain.commit import Change
from provenloop.domain.instants import days_before, utc_day

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


@dataclass(frozen=True, slots=True)
class AskDay:
    """One question on one UTC day: how often it was asked, and how often nothing was found (``empty``).

    ``question`` is the address of the grain that keeps the question's text.
    """

    question: str
    day: str
    namespace: str
    asked: int = 0
    empty: int = 0
    rev: int = 0


@dataclass(frozen=True, slots=True)
class AssemblyDay:
    """Contexts that agents assembled on one UTC day, and how many of them dropped something (``overflowed``)."""

    day: str
    assembled: int = 0
    overflowed: int = 0
    rev: int = 0


@dataclass(frozen=True, slots=True)
class ReadDays:
    """How often one grain was read, by UTC day; of the newest day and the 399 before it."""

    address: str
    days: Mapping[str, int] = field(default_factory=dict)
    rev: int = 0

    def since(self, first_day: str) -> int:
        """Reads on ``first_day`` and later."""
        return sum(n for day, n in self.days.items() if day >= first_day)


@dataclass(frozen=True, slots=True)
class AskDayId:
    """Names an :class:`AskDay`."""

    question: str
    day: str


@dataclass(frozen=True, slots=True)
class AssemblyDayId:
    """Names an :class:`AssemblyDay`."""

    day: str


@dataclass(frozen=True, slots=True)
class ReadDaysId:
    """Names a :class:`ReadDays`."""

    address: str


ToolDayId = tuple[str, str]
SignatureDayId = tuple[str, str, str]
RowId = ToolDayId | SignatureDayId | AskDayId | AssemblyDayId | ReadDaysId
Rollup = ToolDay | SignatureDay | AskDay | AssemblyDay | ReadDays


_Row = TypeVar("_Row", ToolDay, SignatureDay, AskDay, AssemblyDay, ReadDays)


def is_new_call(change: Change) -> bool:
    """Whether a change is a tool call that was new."""
    return change.kind == "tool_call" and change.op == "add" and change.tool_key is not None


def is_forgotten_call(change: Change) -> bool:
    """Whether a change takes back a tool call that was counted."""
    return change.kind == "tool_call" and change.op == "forget" and change.tool_key is not None


def counted(change: Change) -> bool:
    """Whether a change moves rollups."""
    is_call = is_new_call(change) or is_forgotten_call(change)
    return change.occurred_at is not None and (is_call or change.is_telemetry)


def rows_of(change: Change) -> tuple[RowId, ...]:
    """The ids of the rows a change may touch; an error may land in its own signature's row or in the overflow row."""
    if not counted(change) or change.occurred_at is None:
        return ()
    day = utc_day(change.occurred_at)
    if change.op == "ask":
        return (AskDayId(change.address, day),)
    if change.op == "read":
        return (ReadDaysId(change.address),)
    if change.op == "assemble":
        return (AssemblyDayId(day),)
    tool_key = change.tool_key or ""
    if not change.is_error or change.signature is None:
        return ((tool_key, day),)
    return ((tool_key, day), (tool_key, day, change.signature), (tool_key, day, OVERFLOW))


def id_of(row: Rollup) -> RowId:
    """The id of a row."""
    match row:
        case ToolDay():
            return row.tool_key, row.day
        case SignatureDay():
            return row.tool_key, row.day, row.signature
        case AskDay():
            return AskDayId(row.question, row.day)
        case AssemblyDay():
            return AssemblyDayId(row.day)
        case ReadDays():
            return ReadDaysId(row.address)


class Tally:
    """Folds changes into rows that were read before, and tells which rows came out different.

    Args:
        rows: the stored rows among those that the changes may touch.
    """

    def __init__(self, rows: Iterable[Rollup]) -> None:
        self._rows: dict[RowId, Rollup] = {id_of(row): row for row in rows}
        self._touched: dict[RowId, None] = {}

    def add(self, change: Change) -> None:
        """Count one change; one that moves no rollups counts nothing."""
        if not counted(change) or change.occurred_at is None:
            return
        day = utc_day(change.occurred_at)
        if change.op == "ask":
            self._keep(_asked(self._row(AskDay(change.address, day, change.namespace)), change))
        elif change.op == "assemble":
            self._keep(_assembled(self._row(AssemblyDay(day)), change))
        elif change.op == "read":
            self._keep(_read(self._row(ReadDays(change.address)), day))
        elif change.op == "forget":
            self._take_back(change, day)
        else:
            self._add_call(change, day)

    def _take_back(self, change: Change, day: str) -> None:
        """Count a call no more. Where its commit is folded later, the sums come out the same."""
        tool = self._row(ToolDay(change.tool_key or "", day, change.namespace))
        tool = replace(tool, calls=tool.calls - 1)
        if change.is_error and change.signature is not None:
            tool = replace(tool, errors=tool.errors - 1)
            own = (tool.tool_key, day, change.signature)
            signature = change.signature if own in self._rows else OVERFLOW
            self._keep(_without_error(self._row(SignatureDay(tool.tool_key, day, signature)), change))
        self._keep(tool)

    def _add_call(self, change: Change, day: str) -> None:
        tool = self._row(ToolDay(change.tool_key or "", day, change.namespace))
        tool = replace(tool, calls=tool.calls + 1, sample=min(tool.sample or change.address, change.address))
        if change.is_error and change.signature is not None:
            tool = self._add_error(replace(tool, errors=tool.errors + 1), change.signature, change)
        self._keep(tool)

    def _add_error(self, tool: ToolDay, signature: str, change: Change) -> ToolDay:
        known = (tool.tool_key, tool.day, signature) in self._rows
        if not known and tool.signatures >= MAX_SIGNATURES_A_DAY:
            signature = OVERFLOW
        elif not known:
            tool = replace(tool, signatures=tool.signatures + 1)
        self._keep(_with_error(self._row(SignatureDay(tool.tool_key, tool.day, signature)), change))
        return tool

    def _row(self, empty: _Row) -> _Row:
        """The row as counted so far, or the one given where nothing was counted yet."""
        row = self._rows.get(id_of(empty), empty)
        return row if isinstance(row, type(empty)) else empty

    def _keep(self, row: Rollup) -> None:
        self._rows[id_of(row)] = row
        self._touched[id_of(row)] = None

    @property
    def touched(self) -> tuple[Rollup, ...]:
        """The rows that differ from what was read, in the order first touched."""
        return tuple(self._rows[row_id] for row_id in self._touched)


def _asked(row: AskDay, change: Change) -> AskDay:
    return replace(row, asked=row.asked + 1, empty=row.empty + change.is_miss)


def _assembled(row: AssemblyDay, change: Change) -> AssemblyDay:
    return replace(row, assembled=row.assembled + 1, overflowed=row.overflowed + change.is_miss)


def _read(row: ReadDays, day: str) -> ReadDays:
    """One more read. What is over 400 days older than the newest goes, whichever of the two is counted first."""
    days = {**row.days, day: row.days.get(day, 0) + 1}
    first = days_before(max(days), ROLLUP_KEPT_DAYS - 1)
    return replace(row, days={each: n for each, n in sorted(days.items()) if each >= first})


def _without_error(row: SignatureDay, change: Change) -> SignatureDay:
    newest = tuple(pair for pair in row.newest if pair[1] != change.address)
    return replace(row, n=row.n - 1, newest=newest)


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

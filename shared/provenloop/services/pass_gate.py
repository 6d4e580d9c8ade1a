"""Whether a pass has anything to do: options are OR-ed, and a due timer opens the gate as well."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from provenloop.domain.commit import Heads, LogEntry
from provenloop.domain.errors import InvalidInputError
from provenloop.domain.instants import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS

_DURATION = re.compile(r"([1-9][0-9]{0,5})([smhd])\Z")
_UNIT_MS = {"s": SECOND_MS, "m": MINUTE_MS, "h": HOUR_MS, "d": DAY_MS}


@dataclass(frozen=True, slots=True)
class PassOptions:
    """When to run; without any option a pass always runs. ``full_sweep`` visits every key and folds nothing again."""

    min_new: int | None = None
    min_new_errors: int | None = None
    if_stale_ms: int | None = None
    full_sweep: bool = False

    @property
    def is_gated(self) -> bool:
        """Whether any gate is given."""
        return (self.min_new, self.min_new_errors, self.if_stale_ms) != (None, None, None)


def parse_if_stale(text: str) -> int:
    """A duration such as ``6h`` in milliseconds.

    Raises:
        InvalidInputError: it is not a whole number followed by s, m, h or d; never taken for "no gate".
    """
    match = _DURATION.match(text)
    if match is None:
        raise InvalidInputError("a whole number and one of s, m, h, d, for example 6h", field="if_stale")
    return int(match[1]) * _UNIT_MS[match[2]]


def opens_by_time(options: PassOptions, heads: Heads, now: int) -> bool:
    """Whether the gate is open without anything new."""
    if not options.is_gated:
        return True
    if heads.timer.due_at is not None and heads.timer.due_at <= now:
        return True
    last = heads.folds.last_run_at
    return options.if_stale_ms is not None and (last is None or now - last >= options.if_stale_ms)


def new_at_most(heads: Heads) -> tuple[int, int]:
    """How many grains and failed calls may be new: what was reserved since the last analyzed pass."""
    return heads.log.grains - heads.folds.grains_at, heads.log.errors - heads.folds.errors_at


def new_exactly(entries: Sequence[LogEntry]) -> tuple[int, int]:
    """How many really are."""
    return sum(entry.grains for entry in entries), sum(entry.errors for entry in entries)


def opens_by_counts(options: PassOptions, grains: int, errors: int) -> bool:
    """Whether that many new grains or failed calls open the gate."""
    enough = options.min_new is not None and grains >= options.min_new
    return enough or (options.min_new_errors is not None and errors >= options.min_new_errors)

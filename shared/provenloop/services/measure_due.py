"""What a pass measures: checkpoints whose time has come, and those that something came late for.

What cannot be measured now is declared due again; what there is no time for stays due.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from provenloop.domain.checkpoint import watched_by
from provenloop.domain.commit import LogEntry
from provenloop.domain.errors import LoopError
from provenloop.domain.records import Due
from provenloop.services.blame import DUE_CHECKPOINT, DUE_WATCH
from provenloop.services.examine import RETRY_MS, Examining
from provenloop.services.measure import Measuring


def measure_due(
    measuring: Measuring, due: Sequence[Due], entries: Iterable[LogEntry], examining: Examining
) -> list[Due]:
    """Measure; the rows that are dealt with, whatever they declare.

    Args:
        due: instants that have come, earliest first.
        entries: what is not analyzed yet.
    """
    done = [row for row in due if _is_dealt_with(measuring, row, examining)]
    for recommendation, horizon_ms in dict.fromkeys(_late(measuring, entries)):
        _attempt(lambda: measuring.look_again(recommendation, horizon_ms), examining)  # noqa: B023 - called at once
    return done


def _is_dealt_with(measuring: Measuring, row: Due, examining: Examining) -> bool:
    """False for what there is no time for."""
    if row.what == DUE_WATCH:
        _attempt(lambda: measuring.stop_watching(row.ref), examining)
    if row.what != DUE_CHECKPOINT:
        return True
    if examining.spent():
        examining.is_cut_short = True
        return False
    recommendation, _, horizon = row.ref.partition("|")
    following: list[Due | None] = [Due(measuring.now + RETRY_MS, row.what, row.ref)]

    def measure() -> None:
        following[:] = [measuring.measure(recommendation, int(horizon))]

    _attempt(measure, examining)
    examining.planted.update(dict.fromkeys(filter(None, following)))
    return True


def _late(measuring: Measuring, entries: Iterable[LogEntry]) -> Iterator[tuple[str, int]]:
    """Recommendations and horizons that something came late for."""
    watches = tuple(measuring.watches.values())
    for entry in entries if watches else ():
        for change in entry.changes:
            watched = watched_by(change)
            for watch in watches:
                horizon = watch.late_for(entry, change, measuring.now) if watch.watched == watched else None
                if horizon is not None:
                    yield watch.recommendation, horizon


def _attempt(work: Callable[[], None], examining: Examining) -> None:
    """Do something; what fails is reported, and fails neither the pass nor the rest."""
    try:
        work()
    except LoopError as error:
        examining.report("measure", error)

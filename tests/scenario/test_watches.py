"""A watch counts exactly the commits after the one that planted it, whatever is folded before that one is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

from provenloop.domain.checkpoint import HORIZONS_MS, Reading, Watch, after_undo
from provenloop.domain.commit import LogEntry
from provenloop.domain.errors import UnavailableError
from provenloop.services import forget as forgetting
from provenloop.services.fold import HOLE_CLOSES_AFTER_MS
from provenloop.services.forget_plan import Wanted
from tests.builders import DAY_MS, Desk, addresses, make_calls, make_tool_call
from tests.faults import Crash, Fault, FaultLayer, Interleaving, Kind, unobserved

HOUR_MS = 3_600_000
MONTH = HORIZONS_MS[-1]
#: An apply stands before its transaction; the number is reserved.
BEFORE_THE_WRITE = 4


@contextmanager
def suspended(desk: Desk, work: Callable[[], object], at_call: int = BEFORE_THE_WRITE) -> Iterator[None]:
    """While this lasts ``work`` stands before one of its calls; then it goes on to its end."""
    race = Interleaving(desk.client, schedule=[])
    race.actor("suspended", work, freeze_at=at_call)
    try:
        assert race.run()["suspended"].state == "frozen"
        yield
        race.resume("suspended")
        race.run()["suspended"].result()
    finally:
        race.remove()


def approved(desk: Desk) -> str:
    """An approved lesson, which further errors leave as it is."""
    rec_id = desk.finding("tool_failure")
    desk.approve(rec_id)
    return rec_id


def watch_of(desk: Desk, name: str) -> Watch:
    with unobserved():
        return next(watch for watch in desk.store.watches(desk.memory) if watch.recommendation == name)


def entries(desk: Desk) -> list[LogEntry]:
    with unobserved():
        return list(desk.store.log_entries(desk.memory, 0, 10_000))


def should_have_counted(desk: Desk, watch: Watch) -> Reading:
    """What the log says that a watch of the tool ``refund`` and its error must have counted by now."""
    changes = [(entry, change) for entry in entries(desk) for change in entry.changes if change.kind == "tool_call"]
    later = [
        change
        for entry, change in changes
        if entry.seq > watch.seq and change.occurred_at is not None and change.occurred_at > watch.applied_at
    ]
    return Reading(sum(change.is_error for change in later), len(later))


@pytest.mark.parametrize("passes", [1, 2])
def test_calls_that_are_folded_while_the_apply_still_writes_are_counted_once_it_has(found: Desk, passes: int) -> None:
    rec_id = approved(found)
    with suspended(found, lambda: found.apply(rec_id)):
        for number in range(passes):
            found.record(*make_calls(1, 2, name=f"between{number}"))
            found.run()
    found.record(*make_calls(1, name="after"))
    found.run()
    assert watch_of(found, rec_id).reading(MONTH) == Reading(passes + 1, 3 * passes + 1)
    found.run(full_sweep=True)
    assert watch_of(found, rec_id).reading(MONTH) == Reading(passes + 1, 3 * passes + 1)
    found.run(at=found.now + 2 * DAY_MS)
    [first, *_] = found.store.checkpoints(found.memory, rec_id)
    assert (first.errors, first.calls, first.verdict) == (passes + 1, 3 * passes + 1, "regressed")


@pytest.mark.parametrize("calls_of_the_pass", [2, 4, 5, 6, 8])
def test_an_apply_that_commits_at_any_moment_of_a_pass_misses_no_call(found: Desk, calls_of_the_pass: int) -> None:
    rec_id = approved(found)
    ingest, apply = 2, BEFORE_THE_WRITE
    schedule = [0] * apply + [1] * (ingest + calls_of_the_pass) + [0] * 9 + [1] * 99
    race = Interleaving(found.client, schedule=schedule)
    race.actor("apply", lambda: found.apply(rec_id))
    race.actor("agent", lambda: (found.record(*make_calls(1, 2, name="between")), found.run()))
    try:
        outcomes = race.run()
    finally:
        race.remove()
    assert outcomes["apply"].result()
    assert outcomes["agent"].result()
    found.record(*make_calls(1, name="after"))
    found.run()
    watch = watch_of(found, rec_id)
    assert watch.reading(MONTH) == should_have_counted(found, watch)


def test_what_the_missed_calls_mean_is_found_by_the_pass_that_counts_them(found: Desk) -> None:
    rec_id = approved(found)
    with suspended(found, lambda: found.apply(rec_id)):
        found.record(*make_calls(4, name="between"))
        found.run()
    assert found.queue(analyzer="loop.tool_failure") == []
    found.run()
    [row] = found.queue(analyzer="loop.tool_failure")
    assert (row["count"], found.recommendation(row["id"]).earlier) == (4, rec_id)


def test_a_call_that_was_forgotten_meanwhile_is_not_counted_either(found: Desk) -> None:
    rec_id = approved(found)
    with suspended(found, lambda: found.apply(rec_id)):
        [bad, _] = addresses(found.record(*make_calls(1, 1, name="between")))
        found.run()
        forgetting.forget(found.store, found.call(), Wanted(address=bad), "not ours")
        found.run()
    found.run()
    assert watch_of(found, rec_id).reading(MONTH) == Reading(0, 1)


def test_a_number_that_was_given_up_plants_no_watch_and_the_next_one_does(found: Desk) -> None:
    rec_id = approved(found)
    with suspended(found, lambda: found.apply(rec_id)):
        found.record(make_tool_call("between"))
        found.run()
        found.run(at=found.now + HOLE_CLOSES_AFTER_MS + 1)
        found.record(make_tool_call("between2"))
    found.record(make_tool_call("after"))
    found.run()
    watch = watch_of(found, rec_id)
    assert watch.reading(MONTH) == should_have_counted(found, watch) == Reading(0, 1)


def test_the_watch_of_an_undo_misses_nothing_either(found: Desk) -> None:
    rec_id = found.finding("tool_failure")
    found.approve_and_apply(rec_id)
    began = found.now
    found.now = began + HOUR_MS
    found.record(*make_calls(2, name="again"))
    found.run(at=began + 2 * DAY_MS)
    revert = found.finding("outcome_review")
    with found.counted() as names:
        work_of(found, revert)
    with suspended(found, lambda: found.approve_and_apply(revert), at_call=len(names)):
        found.record(*make_calls(2, name="between"))
        found.run()
    found.run()
    assert watch_of(found, after_undo(rec_id)).reading(MONTH) == Reading(2, 2)


def work_of(desk: Desk, revert: str) -> None:
    """Stand where a revert writes, and go no further."""
    layer = FaultLayer(desk.client)
    try:
        with layer.faults(Fault(Kind.CRASH_BEFORE, 1, "TransactWriteItems")), pytest.raises(Crash):
            desk.approve_and_apply(revert)
    finally:
        layer.remove()


@pytest.mark.parametrize("kind", [Kind.CRASH_AFTER, Kind.LOST_REPLY])
@pytest.mark.parametrize("nth", [1, 2, 3])
def test_a_fault_at_any_write_of_the_pass_that_catches_up_counts_once(found: Desk, kind: Kind, nth: int) -> None:
    rec_id = approved(found)
    with suspended(found, lambda: found.apply(rec_id)):
        found.record(*make_calls(1, 1, name="between"))
        found.run()
    found.record(*make_calls(1, 1, name="after"))
    layer = FaultLayer(found.client)
    try:
        with suppress(UnavailableError):
            layer.survives(found.run, Fault(kind, nth, "TransactWriteItems"))
    finally:
        layer.remove()
    found.run(at=found.now + HOUR_MS)
    assert watch_of(found, rec_id).reading(MONTH) == Reading(2, 4)

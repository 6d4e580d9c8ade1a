"""Applied changes are measured again at 1, 7 and 30 days, each horizon once and over its own window."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from provenloop.domain.checkpoint import GRACE_MS, HORIZONS_MS, LATE_MS, Checkpoint
from provenloop.domain.events import SupersedeEvent
from provenloop.domain.use_events import RecallReport
from provenloop.services import configure as configuring
from provenloop.services import forget as forgetting
from provenloop.services.analyze_memory import run_pass
from provenloop.services.configure import ConfigChange
from provenloop.services.forget_plan import Wanted
from provenloop.services.lease import LeaseLostError
from provenloop.services.measure import Measuring
from provenloop.services.outcomes import outcomes
from provenloop.services.pass_gate import PassOptions
from tests.builders import DAY_MS, Desk, addresses, make_calls, make_fact, make_tool_call
from tests.faults import assert_unchanged
from tests.faults.tables import TABLE

HOUR_MS = 3_600_000
DAY, WEEK, MONTH = HORIZONS_MS
ERROR = "card declined"


def applied(desk: Desk, family: str = "tool_failure") -> tuple[str, int]:
    """Apply the pending finding of an analyzer; its id and when."""
    rec_id = desk.finding(family)
    desk.approve_and_apply(rec_id)
    return rec_id, desk.now


def at(desk: Desk, now: int, *events: Any) -> None:
    """Record events at an instant."""
    desk.now = now - 1
    desk.record(*events)


def measured(desk: Desk, rec_id: str) -> dict[int, Checkpoint]:
    """The checkpoints that have a verdict, by horizon in days."""
    found = desk.store.checkpoints(desk.memory, rec_id)
    return {row.horizon_ms // DAY_MS: row for row in found if row.verdict is not None}


def verdicts(desk: Desk, rec_id: str) -> dict[int, Any]:
    return {days: row.verdict for days, row in measured(desk, rec_id).items()}


def readings(desk: Desk, rec_id: str) -> dict[int, tuple[int, int]]:
    return {days: (row.errors, row.calls) for days, row in measured(desk, rec_id).items()}


# tools


@pytest.mark.parametrize("looks", [(31,), (2, 8, 31), (3, 31)], ids=["once", "timely", "twice"])
def test_each_horizon_is_judged_by_its_own_window_however_late_the_pass(found: Desk, looks: tuple[int, ...]) -> None:
    rec_id, began = applied(found)
    told = [(began + n * DAY_MS - HOUR_MS, make_tool_call(f"g{n}")) for n in range(1, 8)]
    told.append((began + 20 * DAY_MS, make_tool_call("bad", error=ERROR)))
    count = 0
    for day in looks:
        while told and told[0][0] < began + day * DAY_MS:
            when, event = told.pop(0)
            at(found, when, event)
        count += found.run(at=began + day * DAY_MS)["measured"]
    assert verdicts(found, rec_id) == {1: "held", 7: "held", 30: "regressed"}
    assert readings(found, rec_id) == {1: (0, 1), 7: (0, 7), 30: (1, 8)}
    assert count == 3
    assert found.queue(analyzer="loop.outcome_review")[0]["details"]["horizon_days"] == 30


def test_a_tool_that_is_never_called_again_is_inconclusive(found: Desk) -> None:
    rec_id, began = applied(found)
    found.run(at=began + 31 * DAY_MS)
    assert verdicts(found, rec_id) == dict.fromkeys((1, 7, 30), "inconclusive")
    assert found.queue(analyzer="loop.outcome_review") == []


def test_a_checkpoint_waits_an_hour_and_then_opens_every_gate(found: Desk) -> None:
    rec_id, began = applied(found)
    found.run(at=began + DAY + GRACE_MS - 2)
    assert verdicts(found, rec_id) == {}
    assert found.run(at=began + DAY + GRACE_MS, min_new=99)["measured"] == 1
    assert verdicts(found, rec_id) == {1: "inconclusive"}


def test_a_measured_checkpoint_is_never_measured_again(found: Desk) -> None:
    rec_id, began = applied(found)
    found.run(at=began + 2 * DAY_MS)
    before = measured(found, rec_id)
    found.run(full_sweep=True)
    found.run(at=began + 3 * DAY_MS)
    assert measured(found, rec_id) == before


def test_far_fewer_errors_than_before_have_held_and_are_told_as_reduced(found: Desk) -> None:
    rec_id, began = applied(found)
    at(found, began + HOUR_MS, *make_calls(1, 40, name="later"))
    found.run(at=began + 2 * DAY_MS)
    assert (verdicts(found, rec_id), measured(found, rec_id)[1].is_reduced) == ({1: "held"}, True)
    assert found.queue(analyzer="loop.outcome_review") == []


@pytest.mark.parametrize(
    "other", [{"error": "no route"}, {"error": ERROR, "namespace": "team"}, {"error": ERROR, "tool": "pay"}]
)
def test_another_error_namespace_or_tool_is_no_recurrence(found: Desk, other: dict[str, Any]) -> None:
    rec_id, began = applied(found)
    at(found, began + HOUR_MS, make_tool_call("x", **other), make_tool_call("ok"))
    found.run(at=began + 2 * DAY_MS)
    assert verdicts(found, rec_id) == {1: "held"}


def test_a_call_of_before_the_apply_that_arrives_later_does_not_count(found: Desk) -> None:
    rec_id, began = applied(found)
    at(found, began + HOUR_MS, make_tool_call("old", error=ERROR, occurred_at=began))
    found.run(at=began + 2 * DAY_MS)
    assert verdicts(found, rec_id) == {1: "inconclusive"}


def test_a_forgotten_call_is_taken_back_from_what_is_measured(found: Desk) -> None:
    rec_id, began = applied(found)
    at(found, began + HOUR_MS, make_tool_call("ok"))
    [bad] = addresses(found.record(make_tool_call("bad", error=ERROR)))
    found.run()
    forgetting.forget(found.store, found.call(), Wanted(address=bad), "not ours")
    found.run(at=began + 2 * DAY_MS)
    assert readings(found, rec_id) == {1: (0, 1)}


def test_what_was_rolled_back_is_not_measured(found: Desk) -> None:
    rec_id, began = applied(found)
    at(found, began + HOUR_MS, make_tool_call("bad", error=ERROR))
    found.roll_back(rec_id)
    assert found.run(at=began + 31 * DAY_MS)["measured"] == 0
    assert (verdicts(found, rec_id), found.queue(analyzer="loop.outcome_review")) == ({}, [])


def test_after_the_last_horizon_nothing_is_watched_any_more(found: Desk) -> None:
    applied(found)
    applied(found, "contradiction_sweep")
    found.run(at=found.now + 8 * DAY_MS)
    assert len(found.store.watches(found.memory)) == 2
    found.run(at=found.now + 31 * DAY_MS)
    assert found.store.watches(found.memory) == ()


# late arrivals


def test_what_arrives_late_stands_beside_the_verdict_and_corrects_it_once(found: Desk) -> None:
    rec_id, began = applied(found)
    at(found, began + HOUR_MS, make_tool_call("ok"))
    found.run(at=began + 2 * DAY_MS)
    at(found, began + 3 * DAY_MS, make_tool_call("ok2", occurred_at=began + 2 * HOUR_MS))
    assert found.run()["measured"] == 0
    [row] = outcomes(found.store, found.call())["recommendations"][0]["series"][:1]
    assert (row["verdict"], row["calls"], row["late"]) == ("held", 1, {"errors": 0, "calls": 1, "corrected_at": None})
    at(found, began + 4 * DAY_MS, make_tool_call("bad", error=ERROR, occurred_at=began + 2 * HOUR_MS))
    found.run()
    late = measured(found, rec_id)[1]
    assert (late.verdict, late.errors, late.late_errors, late.corrected_at) == ("regressed", 0, 1, found.now)
    assert found.finding("outcome_review")
    found.run()
    assert measured(found, rec_id)[1] == late


def test_once_the_next_horizon_is_reached_the_verdict_stands(found: Desk) -> None:
    rec_id, began = applied(found)
    at(found, began + HOUR_MS, make_tool_call("ok"))
    found.run(at=began + 2 * DAY_MS)
    at(found, began + 7 * DAY_MS, make_tool_call("bad", error=ERROR, occurred_at=began + 2 * HOUR_MS))
    found.run()
    assert (verdicts(found, rec_id), measured(found, rec_id)[1].late_errors) == ({1: "held"}, 0)
    found.run(at=began + 8 * DAY_MS)
    assert verdicts(found, rec_id) == {1: "held", 7: "regressed"}


def test_for_a_week_after_the_last_horizon_what_arrives_late_may_still_correct_it(found: Desk) -> None:
    rec_id, began = applied(found)
    at(found, began + HOUR_MS, make_tool_call("ok"))
    found.run(at=began + 31 * DAY_MS)
    at(found, began + 32 * DAY_MS, make_tool_call("ok2", occurred_at=began + 29 * DAY_MS))
    found.run()
    assert (verdicts(found, rec_id)[30], measured(found, rec_id)[30].late_calls) == ("held", 1)
    at(found, began + 36 * DAY_MS, make_tool_call("bad", error=ERROR, occurred_at=began + 29 * DAY_MS))
    found.run()
    last = measured(found, rec_id)[30]
    assert (last.verdict, last.errors, last.late_errors, last.corrected_at) == ("regressed", 0, 1, found.now)
    assert found.queue(analyzer="loop.outcome_review")[0]["details"]["horizon_days"] == 30
    found.verify()


def test_a_week_after_the_last_horizon_the_verdict_stands_and_the_watch_goes(found: Desk) -> None:
    rec_id, began = applied(found)
    at(found, began + HOUR_MS, make_tool_call("ok"))
    found.run(at=began + 31 * DAY_MS)
    ends_at = began + MONTH + GRACE_MS + LATE_MS
    found.run(at=ends_at - 2)
    assert [watch.recommendation for watch in found.store.watches(found.memory)] == [rec_id]
    at(found, ends_at, make_tool_call("bad", error=ERROR, occurred_at=began + 29 * DAY_MS))
    found.run(min_new=99)
    assert found.store.watches(found.memory) == ()
    assert (verdicts(found, rec_id)[30], measured(found, rec_id)[30].late_errors) == ("held", 0)


# facts


def test_a_value_that_comes_after_the_apply_is_a_conflict_again(found: Desk) -> None:
    rec_id, began = applied(found, "contradiction_sweep")
    found.run(at=began + 2 * DAY_MS)
    at(found, began + 3 * DAY_MS, make_fact("Rome"))
    found.run(at=began + 8 * DAY_MS)
    assert verdicts(found, rec_id) == {1: "inconclusive", 7: "regressed"}
    assert readings(found, rec_id) == {1: (0, 0), 7: (1, 1)}


@pytest.mark.parametrize("late", [False, True], ids=["timely", "late"])
def test_what_was_live_at_the_end_of_the_window_decides(found: Desk, late: bool) -> None:
    rec_id, began = applied(found, "contradiction_sweep")
    at(found, began + HOUR_MS, make_fact("Rome"))
    if not late:
        found.run(at=began + 2 * DAY_MS)
    rome = found.facts()["Rome"]
    at(found, began + 3 * DAY_MS, SupersedeEvent(found.facts()["Tokyo"].address, make_fact("Rome")))
    assert found.grains()[rome.address].is_current
    found.run(at=began + 8 * DAY_MS)
    assert verdicts(found, rec_id) == {1: "regressed", 7: "held"}


def test_a_value_that_moves_on_properly_has_held(found: Desk) -> None:
    rec_id, began = applied(found, "contradiction_sweep")
    at(found, began + HOUR_MS, SupersedeEvent(found.facts()["Tokyo"].address, make_fact("Rome")))
    found.run(at=began + 2 * DAY_MS)
    assert readings(found, rec_id) == {1: (0, 1)}
    assert verdicts(found, rec_id) == {1: "held"}


def test_reading_the_subject_is_exposure_enough(found: Desk) -> None:
    rec_id, began = applied(found, "contradiction_sweep")
    tokyo = found.facts()["Tokyo"].address
    at(found, began + HOUR_MS, RecallReport("shared", returned=(tokyo,), subject="sam"))
    found.run(at=began + 2 * DAY_MS)
    assert verdicts(found, rec_id) == {1: "held"}


def test_the_same_value_in_another_spelling_is_no_conflict_and_another_copy_is(desk: Desk) -> None:
    for value in ("tea", "Tea"):
        desk.record(make_fact(value, relation="likes"))
    desk.run()
    rec_id, began = applied(desk, "duplicate_sweep")
    at(desk, began + HOUR_MS, make_fact("coffee", relation="likes"))
    desk.run(at=began + 2 * DAY_MS)
    at(desk, began + 3 * DAY_MS, make_fact("TEA", relation="likes"))
    desk.run(at=began + 8 * DAY_MS)
    assert verdicts(desk, rec_id) == {1: "held", 7: "regressed"}
    assert readings(desk, rec_id) == {1: (0, 1), 7: (1, 2)}


def test_values_that_are_forgotten_leave_nothing_to_judge(found: Desk) -> None:
    rec_id, began = applied(found, "contradiction_sweep")
    forgetting.forget(found.store, found.call(), Wanted(namespace="shared", subject="sam"), "asked to")
    found.run(at=began + 2 * DAY_MS)
    assert verdicts(found, rec_id) == {1: "inconclusive"}


# what a verdict means for its finding


def test_a_change_that_does_not_hold_is_one_strike_and_a_quiet_time(found: Desk) -> None:
    rec_id, began = applied(found)
    rec = found.recommendation(rec_id)
    at(found, began + HOUR_MS, *make_calls(5, name="again"))
    for day in (2, 8, 31):
        found.run(at=began + day * DAY_MS)
    assert verdicts(found, rec_id) == dict.fromkeys((1, 7, 30), "regressed")
    key = found.store.finding_key(found.memory, rec.family, rec.group, rec.dedup_key)
    assert key is not None
    assert (key.strikes, key.regressed_id) == (1, rec_id)
    [revert] = found.queue(analyzer="loop.outcome_review")
    assert revert["details"]["horizon_days"] == 30


def test_one_checkpoint_that_fails_fails_neither_the_pass_nor_the_others(found: Desk) -> None:
    rec_id, began = applied(found)
    other, _ = applied(found, "contradiction_sweep")
    rec = found.recommendation(rec_id)
    at(found, began + HOUR_MS, make_tool_call("bad", error=ERROR))
    key = found.store.finding_key(found.memory, rec.family, rec.group, rec.dedup_key)
    assert key is not None
    found.client.delete_item(
        TableName=TABLE,
        Key={"pk": {"S": "T#acme#M#demo#LOOP"}, "sk": {"S": f"KEY#{key.group}#{key.family}#{key.dedup_key}"}},
    )
    outcome = found.run(at=began + 2 * DAY_MS)
    assert (outcome["outcome"], outcome["measured"]) == ("ran", 1)
    assert {"id": "measure", "reason": "PVL-E060"} in outcome["analyzers_skipped"]
    assert (verdicts(found, rec_id), verdicts(found, other)) == ({}, {1: "inconclusive"})
    found.plant(key)
    found.run(at=found.now + HOUR_MS)
    assert verdicts(found, rec_id) == {1: "regressed"}


def test_what_there_is_no_time_for_stays_due(found: Desk) -> None:
    rec_id, began = applied(found)
    found.now = began + 2 * DAY_MS
    outcome = run_pass(found.store, found.call(), PassOptions(), run_id="hasty", spent=lambda: True)
    assert (outcome["measured"], outcome["more"], verdicts(found, rec_id)) == (0, True, {})
    assert found.run(min_new=99)["measured"] == 1


def test_a_checkpoint_is_one_read_and_one_transaction(found: Desk) -> None:
    rec_id, began = applied(found)
    found.record(make_tool_call("ok"))
    found.run()
    heads = found.store.heads(found.memory)
    assert heads is not None
    watches = {watch.recommendation: watch for watch in found.store.watches(found.memory)}
    measuring = Measuring(found.store, found.memory, began + 2 * DAY_MS, lambda: heads.folds, watches)
    with found.counted() as names:
        measuring.measure(rec_id, DAY)
    assert names == ["BatchGetItem", "TransactWriteItems"]
    assert verdicts(found, rec_id) == {1: "held"}


def test_a_pass_that_lost_its_lease_measures_nothing(found: Desk) -> None:
    rec_id, began = applied(found)
    heads = found.store.heads(found.memory)
    assert heads is not None
    stale = replace(heads.folds, rev=heads.folds.rev - 1)
    measuring = Measuring(found.store, found.memory, began + 2 * DAY_MS, lambda: stale, {})
    before = found.snapshot()
    with pytest.raises(LeaseLostError):
        measuring.measure(rec_id, DAY)
    assert_unchanged(before, found.snapshot())


def test_in_a_window_longer_than_the_watch_what_came_after_the_apply_counts_on(found: Desk) -> None:
    change = ConfigChange(analyzer="loop.tool_failure", parameters={"window_days": 90})
    configuring.configure(found.store, found.call(), change, "look further back")
    rec_id, began = applied(found)
    found.run(at=began + 31 * DAY_MS)
    assert found.queue(analyzer="loop.tool_failure") == []
    at(found, began + 40 * DAY_MS, *make_calls(4, name="much-later"))
    found.run()
    [row] = found.queue(analyzer="loop.tool_failure")
    assert (row["count"], found.recommendation(row["id"]).earlier) == (4, rec_id)

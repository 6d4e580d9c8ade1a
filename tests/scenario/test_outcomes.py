"""The report of outcomes: the series of every applied change, and counts whose rates are told from ten cases on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from provenloop.domain.errors import NotFoundError, ScopeDeniedError
from provenloop.domain.names import MemoryId
from provenloop.domain.recommendation import Recommendation
from provenloop.services import review
from provenloop.services.outcomes import outcomes
from tests.builders import DAY_MS, Desk, make_calls, make_principal, make_skill, make_tool_call


def report(desk: Desk) -> dict[str, Any]:
    return outcomes(desk.store, desk.call())


def counts(desk: Desk, family: str) -> dict[str, Any]:
    [row] = [row for row in report(desk)["analyzers"] if row["analyzer"] == f"loop.{family}/1"]
    return {name: value for name, value in row.items() if value not in (0, None) and name != "analyzer"}


def test_before_anything_was_applied_there_are_counts_and_no_series(found: Desk) -> None:
    told = report(found)
    assert (told["recommendations"], told["cut"]) == ([], False)
    assert counts(found, "tool_failure") == {"proposed": 1}
    found.reject(found.finding("tool_failure"))
    assert counts(found, "tool_failure") == {"proposed": 1, "rejected": 1}


def test_the_series_tells_each_horizon_and_the_verdict_of_the_longest_that_tells_something(found: Desk) -> None:
    rec_id = found.finding("tool_failure")
    found.approve_and_apply(rec_id)
    began = found.now
    found.record(make_tool_call("ok"))
    found.run(at=began + 2 * DAY_MS)
    [row] = report(found)["recommendations"]
    assert (row["id"], row["status"], row["target"], row["verdict"]) == (
        rec_id, "applied", "entity:lessons/refund", "held",
    )  # fmt: skip
    assert (row["metric"]["baseline_errors"], row["metric"]["baseline_calls"]) == (5, 7)
    assert [(each["horizon_ms"] // DAY_MS, each["verdict"]) for each in row["series"]] == [
        (1, "held"), (7, None), (30, None),
    ]  # fmt: skip
    assert counts(found, "tool_failure") == {"proposed": 1, "approved": 1, "applied": 1, "held": 1}


@pytest.mark.parametrize("later_ms", [0, 1])
def test_what_was_applied_last_comes_first_and_of_one_instant_the_lower_id(found: Desk, later_ms: int) -> None:
    low, high = sorted(row["id"] for row in found.queue())
    earlier, later = (high, low) if later_ms == 0 else (low, high)
    found.approve_and_apply(earlier)
    found.now += later_ms - 1
    found.approve_and_apply(later)
    shown = [row["id"] for row in report(found)["recommendations"]]
    assert shown == [later, earlier] == ([low, high] if later_ms == 0 else [high, low])
    assert [row["id"] for row in report(found)["recommendations"]] == shown


def test_a_revert_and_an_undo_by_hand_are_counted_apart(found: Desk) -> None:
    conflict = found.finding("contradiction_sweep")
    found.approve_and_apply(conflict)
    found.roll_back(conflict)
    found.approve_and_apply(found.finding("tool_failure"))
    began = found.now
    found.record(*make_calls(2, name="again"))
    found.run(at=began + 2 * DAY_MS)
    found.approve_and_apply(found.finding("outcome_review"))
    applied = {"proposed": 1, "approved": 1, "applied": 1}
    assert counts(found, "contradiction_sweep") == {**applied, "rolled_back": 1}
    assert counts(found, "tool_failure") == {**applied, "regressed": 1, "reverted": 1}
    assert counts(found, "outcome_review") == applied


def many(rec: Recommendation, number: int) -> list[Recommendation]:
    return [replace(rec, id=f"{rec.id[:-2]}{chr(97 + n)}2", status="rejected") for n in range(number)]


@pytest.mark.parametrize(("others", "rate"), [(8, None), (9, 0.1)])
def test_a_rate_is_told_from_ten_cases_on(found: Desk, others: int, rate: float | None) -> None:
    rec_id = found.finding("tool_failure")
    found.approve(rec_id)
    found.plant(*many(found.recommendation(rec_id), others))
    [row] = [row for row in report(found)["analyzers"] if row["analyzer"] == "loop.tool_failure/1"]
    assert (row["approval_rate"], row["held_rate"]) == (rate, None)


def test_advice_that_was_acknowledged_counts_as_taken(found: Desk) -> None:
    found.record(make_skill(proficiency=0.2, practice_count=9))
    found.run()
    rec_id = found.finding("skill_stall")
    review.acknowledge(found.store, found.call(), rec_id, "the skill is taught again")
    assert counts(found, "skill_stall") == {"proposed": 1, "acknowledged": 1}
    found.plant(*many(found.recommendation(rec_id), 9))
    assert counts(found, "skill_stall") == {"proposed": 10, "acknowledged": 1, "rejected": 9, "approval_rate": 0.1}


def test_only_who_may_read_a_memory_that_exists_is_told(found: Desk) -> None:
    with pytest.raises(ScopeDeniedError):
        outcomes(found.store, found.call(by=make_principal("bob", "write")))
    found.memory = MemoryId("acme", "nowhere")
    with pytest.raises(NotFoundError):
        report(found)

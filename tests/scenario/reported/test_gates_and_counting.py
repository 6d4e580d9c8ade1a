"""What counts as new, what opens a pass, and the order in which findings wait."""

from __future__ import annotations

import pytest

from provenloop.domain.errors import InvalidInputError
from provenloop.services.pass_gate import parse_if_stale
from tests.builders import (
    DAY_MS,
    NOW,
    Desk,
    make_calls,
    make_fact,
    make_free_event,
    make_goal,
    make_observation,
    make_skill,
    make_tool_call,
)
from tests.scenario.reported.steps import apply_only, found_by_pass, recalled, set_up


def test_everything_that_arrives_is_new_whatever_its_kind_and_date(desk: Desk) -> None:
    desk.run()
    desk.record(make_skill(), make_goal(), make_free_event(event_id="e"), make_observation())
    desk.record(make_fact("old", occurred_at=NOW - 900 * DAY_MS), make_tool_call("c", occurred_at=NOW - 60 * DAY_MS))
    assert desk.run(min_new=6)["outcome"] == "ran"


def test_what_comes_in_the_millisecond_of_a_pass_is_new_to_the_next(desk: Desk) -> None:
    desk.record(make_fact("Berlin"))
    desk.run()
    desk.now -= 2
    desk.record(make_fact("Tokyo"))
    assert desk.run(min_new=1)["new_grains"] == 1
    assert found_by_pass(desk) == ["contradiction_sweep"]


def test_a_clock_that_was_set_back_hides_nothing(desk: Desk) -> None:
    desk.record(make_fact("Berlin"))
    desk.run()
    desk.now -= DAY_MS
    desk.record(make_fact("Tokyo"))
    assert desk.run(min_new=1)["outcome"] == "ran"
    assert desk.finding("contradiction_sweep")


def test_what_the_loop_writes_and_what_is_only_asked_wakes_no_pass(desk: Desk) -> None:
    desk.record(*make_calls(5))
    desk.run()
    apply_only(desk)
    recalled(desk, "card declined")
    assert desk.run(min_new=1)["outcome"] == "skipped"


def test_new_errors_alone_open_a_pass(desk: Desk) -> None:
    desk.run()
    desk.record(make_tool_call("a", error="no"), make_tool_call("b"))
    assert desk.run(min_new_errors=2)["outcome"] == "skipped"
    desk.record(make_tool_call("c", error="no"))
    assert desk.run(min_new_errors=2)["outcome"] == "ran"


@pytest.mark.parametrize("text", ["6hours", "6", "1.5h", "", "-1h", "h", "٦h", " 6h"])
def test_what_is_no_duration_is_refused_and_never_opens_the_gate(text: str) -> None:
    with pytest.raises(InvalidInputError):
        parse_if_stale(text)


def test_one_batch_with_copies_counts_each_once_and_leaves_no_gap(desk: Desk) -> None:
    events = make_fact("tea", relation="likes"), make_tool_call("c1"), make_tool_call("c1")
    assert desk.statuses(*events) == ["stored", "stored", "duplicate"]
    assert desk.statuses(*events) == ["restated", "duplicate", "duplicate"]
    assert desk.run()["new_grains"] == 2
    heads = desk.store.heads(desk.memory)
    assert heads is not None
    assert (heads.folds.folded, heads.folds.holes) == (heads.log.seq, {})


def test_findings_wait_by_gravity_and_age_in_the_same_order_every_time(desk: Desk) -> None:
    desk.record(make_fact("tea", relation="likes"), make_fact("Tea", relation="likes"))
    desk.run()
    desk.record(make_fact("Berlin"), make_fact("Tokyo"), make_fact("gold", relation="tier"))
    desk.run()
    desk.record(*make_calls(5), make_fact("silver", relation="tier"))
    desk.run()
    first = desk.queue()
    assert [row["severity"] for row in first] == ["high", "medium", "medium", "low"]
    assert first[1]["created_at"] < first[2]["created_at"]
    desk.run(full_sweep=True)
    assert [row["id"] for row in desk.queue()] == [row["id"] for row in first]


def test_a_full_sweep_finds_what_older_grains_amount_to_under_new_parameters(desk: Desk) -> None:
    desk.record(*make_calls(2))
    assert found_by_pass(desk) == []
    desk.record(make_observation())
    desk.run()
    set_up(desk, "tool_failure", parameters={"min_count": 2})
    assert found_by_pass(desk, full_sweep=True) == ["tool_failure"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"parameters": {"min_cuont": 2}}, "parameters.min_cuont"),
        ({"parameters": {"min_count": "2"}}, "parameters.min_count"),
        ({"parameters": {"min_count": 0}}, "parameters.min_count"),
    ],
)
def test_a_parameter_that_means_nothing_is_refused_when_it_is_set(
    desk: Desk, change: dict[str, dict[str, object]], field: str
) -> None:
    with pytest.raises(InvalidInputError) as caught:
        set_up(desk, "tool_failure", **change)
    assert caught.value.field == field


def test_retention_for_a_kind_that_there_is_not_is_refused_and_never_sweeps_nothing(desk: Desk) -> None:
    with pytest.raises(InvalidInputError):
        set_up(desk, "retention_sweep", parameters={"grain_type": "events"})
    set_up(desk, "retention_sweep", enabled=True, parameters={"grain_type": "event", "max_age_days": 60})
    desk.record(make_free_event(event_id="e"), make_observation())
    desk.run()
    desk.run(at=NOW + 70 * DAY_MS)
    [operation] = desk.recommendation(desk.finding("retention_sweep")).proposal.operations
    assert desk.grains()[operation.target or ""].kind == "event"

"""What grows old is told in time, also where nothing else happens, and never for want of having watched."""

from __future__ import annotations

from provenloop.analyzers import ANALYZERS
from provenloop.domain.memory_config import MemoryConfig
from provenloop.services.pass_settings import settings_of
from tests.builders import DAY_MS, Desk, make_calls, make_fact, make_goal, make_observation, make_skill
from tests.scenario.reported.steps import apply_only, families, recalled, set_up


def test_facts_grow_cold_on_time_in_a_memory_to_which_nothing_is_added(desk: Desk) -> None:
    desk.record(make_fact("tea", relation="likes"))
    desk.run()
    assert desk.run(at=desk.now + 29 * DAY_MS, min_new=1)["outcome"] == "skipped"
    assert desk.run(at=desk.now + 2 * DAY_MS, min_new=1)["outcome"] == "ran"
    assert families(desk) == ["cold_grains"]


def test_retention_comes_due_in_a_memory_to_which_nothing_is_added(desk: Desk) -> None:
    set_up(desk, "retention_sweep", enabled=True, parameters={"max_age_days": 60})
    desk.record(make_observation())
    desk.run()
    desk.run(at=desk.now + 40 * DAY_MS, min_new=1)
    assert families(desk) == []
    desk.run(at=desk.now + 22 * DAY_MS, min_new=1)
    assert families(desk) == ["retention_sweep"]


def test_commits_of_several_days_come_due_one_after_the_other(desk: Desk) -> None:
    for value in ("tea", "coffee", "water"):
        desk.record(make_fact(value, relation="likes"))
        desk.run(at=desk.now + 5 * DAY_MS)
    counts = []
    desk.now += 13 * DAY_MS
    for _ in range(20):
        desk.run(at=desk.now + DAY_MS, min_new=1)
        counts.append(max((row["details"]["count"] for row in desk.queue()), default=0))
    assert counts == sorted(counts)
    assert set(counts) == {0, 1, 2, 3}


def test_a_fact_that_was_read_is_warm_for_a_window_and_no_longer(desk: Desk) -> None:
    desk.record(make_fact("tea", relation="likes"), make_fact("cat", subject="kim", relation="has"))
    desk.run(at=desk.now + 20 * DAY_MS)
    assert recalled(desk, subject="sam") == ["tea"]
    desk.run()
    desk.run(at=desk.now + 15 * DAY_MS)
    assert desk.only()["details"]["count"] == 1
    desk.run(at=desk.now + 20 * DAY_MS)
    assert max(row["details"]["count"] for row in desk.queue()) == 2


def test_without_telemetry_nothing_is_cold_and_the_missing_capability_is_named() -> None:
    needing = {"loop.cold_grains", "loop.coverage_gap", "loop.budget_pressure"}
    without = {s.family: s.skip_reason for s in settings_of(ANALYZERS, MemoryConfig(), frozenset())}
    assert {family for family, reason in without.items() if reason == "missing capability: telemetry"} == needing


def test_an_applied_lesson_is_never_cold(desk: Desk) -> None:
    desk.record(*make_calls(5))
    desk.run()
    apply_only(desk)
    desk.run(at=desk.now + 40 * DAY_MS)
    assert "cold_grains" not in families(desk)


def test_retention_never_names_what_the_loop_itself_keeps(desk: Desk) -> None:
    desk.record(*make_calls(5), make_fact("Berlin"), make_fact("Tokyo"))
    desk.run()
    for row in desk.queue():
        desk.approve_and_apply(row["id"])
    recalled(desk, "who was here before")
    desk.run()
    set_up(desk, "retention_sweep", enabled=True, parameters={"max_age_days": 60})
    desk.run(at=desk.now + 70 * DAY_MS)
    named = desk.recommendation(desk.finding("retention_sweep")).proposal.operations
    kinds = {address: grain.kind for address, grain in desk.grains().items()}
    assert set(kinds.values()) == {"fact", "tool_call", "question"}
    assert {kinds[operation.target or ""] for operation in named} == {"fact", "tool_call"}


def test_a_skill_that_was_never_measured_or_that_rises_is_no_stall(desk: Desk) -> None:
    desk.record(make_skill("a", practice_count=50), make_skill("b", proficiency=0.1, practice_count=9))
    desk.record(make_skill("b", revision=2, proficiency=0.3, practice_count=12))
    desk.run()
    assert families(desk) == []


def test_a_goal_keeps_the_state_and_the_progress_it_was_given(desk: Desk) -> None:
    set_up(desk, "goal_stagnation", enabled=True)
    desk.record(make_goal("a", state="done", progress=1.0), make_goal("b", progress=0.9), make_goal("c"))
    desk.run()
    desk.run(at=desk.now + 40 * DAY_MS)
    assert [row["details"]["goal"] for row in desk.queue()] == ["c"]

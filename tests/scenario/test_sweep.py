"""Passes that run out of time, sweeps that go on where the last one stopped, and settings that changed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from provenloop.domain.memory_config import AnalyzerConfig, MemoryConfig
from provenloop.services import examine, fold, sweep
from provenloop.services.analyze_memory import run_pass
from provenloop.services.pass_gate import PassOptions
from provenloop.services.ports import Put, Replace
from tests.builders import DAY_MS, Desk, make_calls, make_fact, make_tool_call

TOOLS = ("book", "cancel", "pay", "refund", "search", "ship")


def after(questions: int) -> Callable[[], bool]:
    """Time that is spent once it has been asked for so often."""
    asked = iter(range(questions))
    return lambda: next(asked, None) is None


def run(desk: Desk, spent: Callable[[], bool], **options: bool) -> dict[str, object]:
    call = desk.call()
    return run_pass(desk.store, call, PassOptions(**options), run_id=f"run-{call.request_id}", spent=spent)


def configure(desk: Desk, **analyzers: AnalyzerConfig) -> None:
    before = desk.store.memory_config(desk.memory)
    named = {f"loop.{name}": config for name, config in analyzers.items()}
    config = MemoryConfig(before.rev + 1, analyzers=named)
    write = Put(config) if before.rev == 0 else Replace(config, expected=before.rev)
    desk.store.transact(desk.memory, [write], desk.now)


def found_tools(desk: Desk) -> int:
    return sum(rec.family == "loop.tool_failure" for rec in desk.store.all_recommendations(desk.memory))


@pytest.fixture
def failing(desk: Desk) -> Desk:
    for tool in TOOLS:
        desk.record(*make_calls(5, 2, tool=tool, name=tool))
    return desk


def test_a_pass_that_runs_out_of_time_says_so_and_later_ones_do_the_rest(failing: Desk) -> None:
    outcomes = [run(failing, after(3))]
    while outcomes[-1]["more"]:
        assert len(outcomes) < 10
        outcomes.append(run(failing, after(3)))
    assert len(outcomes) > 1
    assert found_tools(failing) == len(TOOLS)
    assert failing.run()["proposed"] == 0


def test_a_pass_without_any_time_still_loses_nothing(failing: Desk) -> None:
    assert run(failing, lambda: True)["more"]
    assert found_tools(failing) == 0
    failing.run()
    failing.run()
    assert found_tools(failing) == len(TOOLS)


def test_a_pass_folds_so_many_commits_and_leaves_the_rest(failing: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fold, "MAX_ENTRIES_A_PASS", 4)
    first, second = failing.run(), failing.run()
    assert (first["more"], first["watermark"], second["more"], second["watermark"]) == (True, 4, False, 6)
    assert found_tools(failing) == len(TOOLS)


def test_a_sweep_goes_on_from_where_the_last_pass_stopped(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep, "_CHUNK", 2)
    for name in ("ann", "bob", "cyd", "dan", "eve", "fay"):
        desk.record(make_fact("Berlin", subject=name), make_fact("Tokyo", subject=name))
    desk.run()
    visited: list[str] = []
    outcomes = []
    look_at = examine.Examining._look_at  # noqa: SLF001 - the one place where a group is looked at

    def noting(*args: object) -> None:
        visited.append(str(args[3]))
        look_at(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(examine.Examining, "_look_at", noting)
    outcomes.append(run(desk, after(7), full_sweep=True))
    while outcomes[-1]["more"]:
        assert len(outcomes) < 20
        outcomes.append(run(desk, after(7)))
    heads = desk.store.heads(desk.memory)
    assert heads is not None
    assert (heads.folds.sweeping, heads.folds.sweep_after) == ((), "")
    assert len(outcomes) > 1
    clusters = {address[:16] for address, grain in desk.grains().items() if grain.kind == "fact"}
    assert clusters <= set(visited)


def test_a_parameter_that_changed_lets_every_tool_be_looked_at_anew(desk: Desk) -> None:
    desk.record(*(make_tool_call(f"c{n}", error="no") for n in range(2)))
    desk.run()
    assert found_tools(desk) == 0
    configure(desk, tool_failure=AnalyzerConfig(parameters={"min_count": 2}))
    assert desk.run()["stored"] == 1
    configure(desk, tool_failure=AnalyzerConfig())
    assert desk.run()["expired"] == 1


def test_an_analyzer_that_was_off_catches_up_when_it_is_switched_on(failing: Desk) -> None:
    configure(failing, tool_failure=AnalyzerConfig(enabled=False))
    outcome = failing.run()
    assert {"id": "loop.tool_failure/1", "reason": "disabled"} in outcome["analyzers_skipped"]
    assert "loop.tool_failure/1" not in outcome["analyzers_run"]
    configure(failing, tool_failure=AnalyzerConfig(enabled=True))
    assert failing.run()["stored"] == len(TOOLS)


def test_a_floor_keeps_slight_findings_out_and_no_others(failing: Desk) -> None:
    failing.record(make_fact("Berlin"), make_fact("Tokyo"))
    configure(failing, contradiction_sweep=AnalyzerConfig(severity_floor="high"))
    outcome = failing.run()
    assert (outcome["stored"], outcome["suppressed"]) == (len(TOOLS), 1)


def test_an_analyzer_held_to_namespaces_speaks_of_no_other(desk: Desk) -> None:
    desk.record(*make_calls(5, namespace="a", name="a"), *make_calls(5, namespace="b", name="b"))
    configure(desk, tool_failure=AnalyzerConfig(namespaces=("a",)))
    desk.run()
    assert [rec.namespace for rec in desk.store.all_recommendations(desk.memory)] == ["a"]


def test_passes_that_are_switched_off_are_skipped(failing: Desk) -> None:
    failing.store.transact(failing.memory, [Put(MemoryConfig(1, passes_enabled=False))], failing.now)
    assert failing.run()["skip_reason"] == "disabled"


def test_a_floor_that_is_lowered_brings_back_what_is_old_though_nothing_moved_since(desk: Desk) -> None:
    configure(desk, cold_grains=AnalyzerConfig(severity_floor="high"))
    desk.record(make_fact("tea", relation="likes"))
    assert desk.run(at=desk.now + 31 * DAY_MS)["suppressed"] == 1
    configure(desk, cold_grains=AnalyzerConfig())
    assert desk.run()["stored"] == 1
    desk.reject(desk.finding("cold_grains"))
    assert desk.run(full_sweep=True)["suppressed"] == 1

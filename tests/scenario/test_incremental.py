"""However a history is cut into passes, the open recommendations are those of one full sweep at its end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from moto import mock_aws

from provenloop.domain.errors import LoopError
from provenloop.domain.events import (
    Event,
    FactEvent,
    GoalEvent,
    ObservationEvent,
    SkillEvent,
    SupersedeEvent,
    ToolCallEvent,
)
from provenloop.domain.grain import Grain
from provenloop.domain.use_events import AssemblyReport, RecallReport, Report
from provenloop.services.configure import ConfigChange, configure
from provenloop.services.forget import forget
from provenloop.services.forget_plan import Wanted
from provenloop.services.pass_gate import PassOptions
from tests.examples import examples
from tests.faults import unobserved
from tests.scenario.world import MEMORY, NOW, Sent, fresh_world

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
PARCEL = "the parcel for the north gate was left at the door of the depot this morning by the driver"
QUESTIONS = ["who holds the key of the depot?", "where is the archive?"]

spaces = st.sampled_from(["shared", "shared", "shared", "team"])
ends = st.sampled_from([None, None, None, NOW + DAY_MS, NOW + 20 * DAY_MS, NOW - 95 * DAY_MS])
FACTS = st.builds(
    FactEvent,
    spaces,
    st.sampled_from(["sam", "sam", "Sam"]),
    st.sampled_from(["lives_in", "livesIn", "likes"]),
    st.sampled_from(["Berlin", "BERLIN", "Tokyo"]),
    confidence=st.sampled_from([None, 0.4]),
    valid_from=st.sampled_from([None, None, None, NOW + 2 * DAY_MS]),
    valid_to=st.sampled_from([None, None, None, NOW + 5 * DAY_MS, NOW + 20 * DAY_MS]),
)
CALLS = st.builds(
    ToolCallEvent,
    spaces,
    st.sampled_from(["refund", "search"]),
    st.sampled_from([True, True, False]),
    st.sampled_from(["card declined", "timed out after 30 s"]),
    occurred_at=st.sampled_from([None, NOW - 29 * DAY_MS, NOW - 3 * DAY_MS]),
)
NOTES = st.builds(
    ObservationEvent,
    spaces,
    st.sampled_from([PARCEL, f"{PARCEL} again", f"{PARCEL} today", PARCEL.replace("left", "never left")]),
    valid_to=ends,
)
SKILLS = st.builds(
    SkillEvent,
    spaces,
    st.just("typing"),
    revision=st.integers(1, 4),
    proficiency=st.sampled_from([None, 0.2, 0.3, 0.9]),
    practice_count=st.sampled_from([None, 2, 9]),
)
GOALS = st.builds(
    GoalEvent, spaces, st.just("ship"), state=st.sampled_from([None, "done"]), progress=st.sampled_from([None, 0.9])
)
ASKS = st.builds(RecallReport, spaces, question=st.sampled_from(QUESTIONS), returned=st.just(()))
ROOM = st.builds(AssemblyReport, spaces, budget=st.just(10), used=st.just(10), dropped=st.sampled_from([0, 3]))
#: Settings under which short histories have findings of every analyzer.
BEGUN_WITH = [
    ConfigChange("loop.cold_grains", parameters={"min_age_days": 5}),
    ConfigChange("loop.budget_pressure", parameters={"min_samples": 3}),
]
CONFIGS = st.sampled_from(
    [
        ConfigChange("loop.tool_failure", parameters={"min_count": 2}),
        ConfigChange("loop.tool_failure", parameters={"window_days": 5}),
        ConfigChange("loop.duplicate_sweep", parameters={"jaccard": 0.95}),
        ConfigChange("loop.contradiction_sweep", parameters={"extra_relations": "likes"}),
        ConfigChange("loop.contradiction_sweep", clear_parameters=True),
        ConfigChange("loop.goal_stagnation", enabled=True, parameters={"min_age_days": 3}),
        ConfigChange("loop.retention_sweep", enabled=True, parameters={"max_age_days": 9}),
        ConfigChange("loop.cold_grains", parameters={"min_age_days": 6}),
        ConfigChange("loop.coverage_gap", parameters={"min_runs": 2, "window_days": 10}),
        ConfigChange("loop.budget_pressure", parameters={"min_samples": 2, "window_days": 10}),
        ConfigChange("loop.staleness", enabled=False),
        ConfigChange("loop.staleness", enabled=True, parameters={"grace_days": 2}),
    ]
)


@dataclass(frozen=True)
class Step:
    """One thing that happens to a memory, ``after`` so many ms."""

    does: str
    after: int
    what: Any = None


#: What gives a finding, or just does not.
BURSTS: st.SearchStrategy[list[Event | Report]] = st.one_of(
    st.lists(CALLS, min_size=4, max_size=9),
    st.lists(FACTS, min_size=3, max_size=7),
    st.lists(NOTES, min_size=2, max_size=5),
    st.lists(ASKS, min_size=2, max_size=5),
    st.lists(ROOM, min_size=2, max_size=5),
    st.lists(SKILLS | GOALS, min_size=1, max_size=3),
)
BATCHES = st.lists(BURSTS, min_size=1, max_size=3).map(
    lambda bursts: tuple(event for burst in bursts for event in burst)
)
SENDING = st.builds(Step, st.just("send"), st.just(HOUR_MS), BATCHES)
steps = st.one_of(
    SENDING,
    SENDING,
    SENDING,
    st.builds(Step, st.just("supersede"), st.just(HOUR_MS), st.tuples(st.integers(0, 99), st.booleans())),
    st.builds(Step, st.just("forget"), st.just(HOUR_MS), st.integers(0, 99)),
    st.builds(Step, st.just("configure"), st.just(HOUR_MS), CONFIGS),
    st.builds(Step, st.just("wait"), st.sampled_from([HOUR_MS, DAY_MS, 6 * DAY_MS, 11 * DAY_MS])),
    st.builds(Step, st.just("pass"), st.just(HOUR_MS)),
)


@pytest.fixture(scope="module", autouse=True)
def aws() -> Iterator[None]:
    with mock_aws():
        yield


class History:
    """A memory as the steps make it. Times and keys are those of the steps, so a twin without passes has the same."""

    def __init__(self) -> None:
        self.world = fresh_world()
        self.clock = NOW
        self._sent = 0
        for change in BEGUN_WITH:
            configure(self.world.store, self.world.call(), change)

    def go(self, step: Step, *, with_passes: bool) -> None:
        """Do one step."""
        self.clock += step.after
        self.world.now = self.clock
        if step.does == "pass" and with_passes:
            self.world.run()
        elif step.does == "send":
            self._send(step.what)
        elif step.does == "supersede":
            self._supersede(*step.what)
        elif step.does == "forget":
            self._forget(step.what)
        elif step.does == "configure":
            configure(self.world.store, self.world.call(), step.what)

    def _send(self, events: tuple[Event | Report, ...]) -> None:
        self._sent += 1
        with suppress(LoopError):
            self.world.send(Sent(f"key-{self._sent}", events))

    def _supersede(self, place: int, fork: bool) -> None:
        facts = [grain for grain in self.grains() if grain.kind == "fact"]
        if facts:
            old = facts[place % len(facts)]
            new = FactEvent(old.namespace, "sam", "likes", f"tea {place}")
            self._send((SupersedeEvent(old.address, new, allow_fork=fork),))

    def _forget(self, place: int) -> None:
        grains = [grain for grain in self.grains() if grain.state != "forgotten"]
        if grains:
            forget(self.world.store, self.world.call(), Wanted(grains[place % len(grains)].address), "asked to")

    def grains(self) -> list[Grain]:
        """All grains in address order."""
        with unobserved():
            return list(self.world.store.all_grains(MEMORY, "", self.clock))

    def sweep(self) -> dict[str, Any]:
        """A full sweep, and as many passes as it asks for."""
        self.world.now = self.clock
        return self._until_done(PassOptions(full_sweep=True))

    def catch_up(self) -> dict[str, Any]:
        """A pass, and as many more as it asks for."""
        self.world.now = self.clock
        return self._until_done(PassOptions())

    def _until_done(self, options: PassOptions) -> dict[str, Any]:
        outcome = self.world.run(options)
        while outcome["more"]:
            outcome = self.world.run()
        assert [skip for skip in outcome["analyzers_skipped"] if skip["reason"] != "disabled"] == []
        return outcome

    def open(self) -> list[tuple[Any, ...]]:
        """The open recommendations."""
        with unobserved():
            recs = list(self.world.store.all_recommendations(MEMORY))
        return sorted(
            (rec.analyzer, rec.dedup_key, rec.severity, rec.count, tuple(sorted(rec.evidence)))
            for rec in recs
            if rec.status == "pending"
        )


def made(history: list[Step], *, with_passes: bool) -> History:
    memory = History()
    for step in history:
        memory.go(step, with_passes=with_passes)
    memory.clock += HOUR_MS
    return memory


def outcome_numbers(outcome: dict[str, Any]) -> dict[str, int]:
    return {name: outcome[name] for name in ("stored", "refreshed", "expired")}


@settings(max_examples=examples(8))
@given(st.lists(steps, min_size=2, max_size=10))
def test_passes_in_between_change_nothing_in_what_is_open_in_the_end(history: list[Step]) -> None:
    in_passes = made(history, with_passes=True)
    in_passes.catch_up()
    found = in_passes.open()
    at_once = made(history, with_passes=False)
    at_once.sweep()
    assert found == at_once.open()


@settings(max_examples=examples(8))
@given(st.lists(steps, min_size=2, max_size=10))
def test_a_full_sweep_after_passes_finds_nothing_that_they_have_not(history: list[Step]) -> None:
    memory = made(history, with_passes=True)
    memory.catch_up()
    before = memory.open()
    outcome = memory.sweep()
    assert outcome_numbers(outcome) == {"stored": 0, "refreshed": 0, "expired": 0}
    assert memory.open() == before

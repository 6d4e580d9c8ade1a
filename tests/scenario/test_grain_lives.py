"""Whatever is stated, superseded, forked and forgotten, and in what order: one head an address, and all its history."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from moto import mock_aws

from provenloop.domain.errors import ConflictError, InvalidInputError
from provenloop.domain.events import (
    Event,
    FactEvent,
    FreeEvent,
    GoalEvent,
    ObservationEvent,
    SkillEvent,
    SupersedeEvent,
    SupersedingEvent,
)
from provenloop.domain.grain import Grain, without_content
from provenloop.services.forget import forget
from provenloop.services.forget_plan import Wanted
from provenloop.services.history import versions_of
from tests.builders import Desk
from tests.examples import examples
from tests.scenario.world import fresh_world

RATES = st.sampled_from([None, 0.1, 0.9])
STATED: st.SearchStrategy[SupersedingEvent] = st.one_of(
    st.builds(
        FactEvent,
        st.just("shared"),
        st.just("sam"),
        st.sampled_from(["lives_in", "likes"]),
        st.sampled_from(["Berlin", "Tokyo"]),
        confidence=RATES,
    ),
    st.builds(SkillEvent, st.just("shared"), st.just("refunds"), st.integers(1, 3), RATES),
    st.builds(GoalEvent, st.just("shared"), st.sampled_from("ab"), st.sampled_from([None, "done"]), RATES),
    st.builds(ObservationEvent, st.just("shared"), st.sampled_from("ab"), source=st.sampled_from([None, "x"])),
    st.builds(FreeEvent, st.just("shared"), st.integers(0, 1), st.sampled_from("ab")),
)


def _said(grain: Grain) -> tuple[Any, ...]:
    """What a version is told by, whatever the counters say."""
    return (grain.head_rev, grain.state, grain.generation, grain.successors, dict(grain.body))


class Lives(RuleBasedStateMachine):
    """A memory, and beside it every head that each of its grains ever had, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.aws = mock_aws()
        self.aws.start()
        self.lives: dict[str, list[Grain]] = {}

    @initialize()
    def begin(self) -> None:
        """An empty memory."""
        world = fresh_world()
        self.desk = Desk(world.store)

    def _see(self) -> None:
        """Note every head that is new, and what a tombstone erased."""
        for address, grain in self.desk.grains().items():
            life = self.lives.setdefault(address, [])
            if not life or _said(life[-1]) != _said(grain):
                if grain.state == "forgotten":
                    # The tombstone takes the place of the head; of the versions before it only the content goes.
                    life[:] = [without_content(version) for version in life[:-1]]
                life.append(grain)

    def _try(self, event: Event) -> None:
        with suppress(ConflictError, InvalidInputError):
            self.desk.record(event)
        self._see()

    @rule(event=STATED)
    def state(self, event: SupersedingEvent) -> None:
        """Something is stated, perhaps again."""
        self._try(event)

    @precondition(lambda self: self.lives)
    @rule(data=st.data(), by=STATED, allow_fork=st.booleans())
    def supersede(self, data: st.DataObject, by: SupersedingEvent, allow_fork: bool) -> None:
        """Something replaces a grain, whatever its state; refused where it may not."""
        target = data.draw(st.sampled_from(sorted(self.lives)))
        self._try(SupersedeEvent(target, by, allow_fork=allow_fork))

    @precondition(lambda self: self.lives)
    @rule(data=st.data())
    def forget(self, data: st.DataObject) -> None:
        """A grain is forgotten, perhaps again."""
        address = data.draw(st.sampled_from(sorted(self.lives)))
        forget(self.desk.store, self.desk.call(), Wanted(address), "asked")
        self._see()

    @rule()
    def run_pass(self) -> None:
        """A pass changes no grain."""
        before = self.desk.grains()
        self.desk.run()
        assert self.desk.grains() == before

    @invariant()
    def every_head_is_kept_in_order_but_for_what_was_forgotten(self) -> None:
        """History and head are all that was ever seen."""
        for address, life in self.lives.items():
            kept = versions_of(self.desk.store, self.desk.memory, self.desk.grains()[address])
            assert [_said(version) for version in kept] == [_said(version) for version in life]
            revisions = [version.head_rev for version in kept]
            assert revisions == sorted(set(revisions))
            assert [version.since for version in kept] == sorted(version.since for version in kept)

    @invariant()
    def successors_are_told_from_both_sides(self) -> None:
        """Whatever a grain was superseded by leads back to it."""
        for life in self.lives.values():
            for successor in life[-1].successors:
                back = self.desk.store.predecessors(self.desk.memory, successor)
                assert life[-1].address in back

    def teardown(self) -> None:
        """The audit trail holds."""
        try:
            self.desk.verify()
        finally:
            self.aws.stop()


TestLives = Lives.TestCase
TestLives.settings = settings(max_examples=examples(6), stateful_step_count=12)

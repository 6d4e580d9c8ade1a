"""Any history of requests, passes, time and faults ends where the same requests end without a fault."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from moto import mock_aws

from provenloop.domain.events import Event, FactEvent, ObservationEvent, ToolCallEvent
from provenloop.services.pass_gate import PassOptions
from tests.examples import examples
from tests.faults import Fault, FaultLayer, Kind
from tests.scenario.world import MINUTE_MS, NOW, Sent, World, fresh_world, quietly, undisturbed

FAULTS = st.none() | st.builds(Fault, st.sampled_from(list(Kind)), st.integers(1, 20))
TIMES = st.integers(NOW - 40 * 24 * 60 * MINUTE_MS, NOW)
CALLS = st.builds(
    ToolCallEvent,
    st.just("shared"),
    st.sampled_from(["refund", "Refund", "search"]),
    st.booleans(),
    st.sampled_from(["card declined", "timed out after 30 s", "timed out after 31 s"]),
    call_id=st.none() | st.sampled_from(["c1", "c2", "c3", "c4"]),
    occurred_at=TIMES,
)
FACTS = st.builds(
    FactEvent,
    st.sampled_from(["shared", "team"]),
    st.just("sam"),
    st.sampled_from(["lives_in", "likes"]),
    st.sampled_from(["Berlin", "BERLIN", "Tokyo"]),
    occurred_at=st.sampled_from([NOW - MINUTE_MS, NOW - 2 * MINUTE_MS]),
)
NOTES = st.builds(ObservationEvent, st.just("shared"), st.sampled_from(["noted", "noted too"]))
BATCHES: st.SearchStrategy[list[Event]] = st.lists(CALLS | FACTS | NOTES, min_size=1, max_size=6)


class History(RuleBasedStateMachine):
    """One memory under faults; at the end every client gets its answer, and all is compared."""

    def __init__(self) -> None:
        super().__init__()
        self.aws = mock_aws()
        self.aws.start()
        self.world: World = fresh_world()
        self.layer = FaultLayer(self.world.client)
        self.sent: list[Sent] = []

    @initialize()
    def begin(self) -> None:
        """A quiet memory."""
        self.layer.arm()

    def _under(self, fault: Fault | None, work: Callable[[], object]) -> None:
        self.layer.survives(quietly(work), *([fault] if fault else []))

    @rule(events=BATCHES, fault=FAULTS)
    def send(self, events: list[Event], fault: Fault | None) -> None:
        """An agent sends a new request."""
        request = Sent(f"key-{len(self.sent)}", tuple(events))
        self.sent.append(request)
        self._under(fault, lambda: self.world.send(request))

    @precondition(lambda self: self.sent)
    @rule(data=st.data(), fault=FAULTS)
    def send_again(self, data: st.DataObject, fault: Fault | None) -> None:
        """An agent sends a request it has no answer for."""
        request = data.draw(st.sampled_from(self.sent))
        self._under(fault, lambda: self.world.send(request))

    @rule(fault=FAULTS, options=st.sampled_from([PassOptions(), PassOptions(min_new=3), PassOptions(full_sweep=True)]))
    def run_pass(self, fault: Fault | None, options: PassOptions) -> None:
        """A pass."""
        self._under(fault, lambda: self.world.run(options))

    @rule(minutes=st.sampled_from([1, 20, 24 * 60, 9 * 24 * 60]))
    def wait(self, minutes: int) -> None:
        """Time passes."""
        self.world.now += minutes * MINUTE_MS

    def teardown(self) -> None:
        """Recovery, and the comparison."""
        try:
            self.layer.arm()
            self.world.settle(self.sent)
            seen, now = self.world.seen(), self.world.now
            self.layer.remove()
            assert seen["all_folded"]
            assert seen == undisturbed(*self.sent, at=now)
        finally:
            self.aws.stop()


TestHistory = History.TestCase
TestHistory.settings = settings(max_examples=examples(6), stateful_step_count=8)

"""Every event is counted exactly once, whoever crashes, and whatever order writers and passes run in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from moto import mock_aws

from provenloop.domain.events import FactEvent, ToolCallEvent
from tests.faults import Fault, FaultLayer, Interleaving, Kind, schedules
from tests.scenario.world import NOW, Sent, World, fresh_world, quietly, undisturbed

KINDS = (
    Kind.CRASH_BEFORE,
    Kind.CRASH_AFTER,
    Kind.LOST_REPLY,
    Kind.LOST_REQUEST,
    Kind.RESENT,
    Kind.THROTTLE,
    Kind.CONFLICT,
)


def failing(call_id: str, minute: int = 0, *, tool: str = "refund", text: str = "card declined") -> ToolCallEvent:
    return ToolCallEvent("shared", tool, True, text, call_id=call_id, occurred_at=NOW - 600_000 + minute * 1000)


def working(call_id: str, *, tool: str = "refund") -> ToolCallEvent:
    return ToolCallEvent("shared", tool, False, "done", call_id=call_id, occurred_at=NOW - 500_000)


def lives_in(place: str, minute: int) -> FactEvent:
    return FactEvent("shared", "sam", "lives_in", place, occurred_at=NOW - 900_000 + minute * 1000)


FIRST = Sent("first", (failing("a1"), failing("a2", 1), working("a3"), lives_in("Berlin", 1)))
SECOND = Sent("second", (failing("b1", 2), failing("a2", 1), lives_in("Tokyo", 2), lives_in("Berlin", 1)))
THIRD = Sent(
    "third",
    (
        failing("c1", 3, text="timed out"),
        ToolCallEvent("shared", "refund", True, "card declined", occurred_at=NOW),
    ),
)


@pytest.fixture(scope="module", autouse=True)
def aws() -> Iterator[None]:
    with mock_aws():
        yield


def test_the_same_requests_in_one_go_and_with_passes_between_are_seen_alike() -> None:
    world = fresh_world()
    for request in (FIRST, SECOND, THIRD):
        world.send(request)
        world.run()
    world.settle([])
    seen = world.seen()
    assert seen == undisturbed(FIRST, SECOND, THIRD)
    assert [row[0] for row in world.seen()["open"]] == ["loop.contradiction_sweep/1", "loop.tool_failure/1"]


def _strike(work: Any, fault: Fault) -> World:
    world = fresh_world()
    world.send(FIRST)
    layer = FaultLayer(world.client)
    try:
        layer.survives(quietly(lambda: work(world)), fault)
    finally:
        layer.remove()
    return world


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("nth", [1, 2, 3])
def test_a_fault_at_any_call_of_ingest_loses_and_doubles_nothing(kind: Kind, nth: int) -> None:
    world = _strike(lambda world: world.send(SECOND), Fault(kind, nth))
    world.settle([SECOND])
    seen = world.seen()
    assert seen == undisturbed(FIRST, SECOND)


def _send_and_run(world: World) -> object:
    return (world.send(SECOND), world.run())


@pytest.mark.parametrize("kind", [Kind.CRASH_BEFORE, Kind.CRASH_AFTER, Kind.LOST_REPLY, Kind.RESENT])
@pytest.mark.parametrize("nth", range(3, 10))
def test_a_fault_at_any_write_of_a_pass_loses_and_doubles_nothing(kind: Kind, nth: int) -> None:
    world = _strike(_send_and_run, Fault(kind, nth, "TransactWriteItems"))
    world.settle([SECOND])
    seen = world.seen()
    assert seen == undisturbed(FIRST, SECOND)


def test_the_sweep_of_faults_reaches_the_last_write_of_a_pass() -> None:
    world = fresh_world()
    world.send(FIRST)
    layer = FaultLayer(world.client)
    calls = layer.count(lambda: _send_and_run(world))
    layer.remove()
    assert [call.operation for call in calls].count("TransactWriteItems") == 9


def _interleave(schedule: Sequence[int], crashes: dict[str, int], freeze: int | None, fault: Fault | None) -> World:
    world = fresh_world()
    layer = FaultLayer(world.client)
    layer.arm(*([fault] if fault else []))
    actors = Interleaving(world.client, schedule=schedule)
    try:
        actors.actor(
            "writer 1", quietly(lambda: (world.send(FIRST, 3), world.send(THIRD, 3))), crash_at=crashes.get("w1")
        )
        actors.actor("writer 2", quietly(lambda: world.send(SECOND, 3)), crash_at=crashes.get("w2"), freeze_at=freeze)
        actors.actor("pass 1", quietly(world.run), crash_at=crashes.get("p1"))
        actors.actor("pass 2", quietly(world.run), crash_at=crashes.get("p2"))
        outcomes = actors.run()
        layer.arm()
        world.settle([FIRST, SECOND, THIRD])
        if outcomes["writer 2"].state == "frozen":
            actors.resume("writer 2")
            actors.run()
            world.settle([])
    finally:
        actors.remove()
        layer.remove()
    return world


@pytest.mark.long
@settings(suppress_health_check=[HealthCheck.too_slow])
@given(
    schedule=schedules(4, 60),
    crashes=st.dictionaries(st.sampled_from(["w1", "w2", "p1", "p2"]), st.integers(1, 16), max_size=2),
    freeze=st.none() | st.integers(1, 4),
    fault=st.none() | st.builds(Fault, st.sampled_from(KINDS[2:]), st.integers(1, 50)),
)
def test_writers_and_passes_in_any_order_count_every_event_once(
    schedule: list[int], crashes: dict[str, int], freeze: int | None, fault: Fault | None
) -> None:
    world = _interleave(schedule, crashes, freeze, fault)
    seen = world.seen()
    assert seen["all_folded"]
    assert seen == undisturbed(FIRST, SECOND, THIRD)

"""What operations cost, counted in calls and capacity units from the sizes of what goes over the wire."""

from __future__ import annotations

import json
import random  # noqa: TID251  (seeded texts)
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from moto import mock_aws
from moto.backends import get_backend

from provenloop.adapters.dynamodb import keys, table
from provenloop.adapters.dynamodb.items import row_of
from provenloop.adapters.dynamodb.rows import Row
from provenloop.domain.events import (
    ToolCallEvent,
)
from provenloop.domain.grain import Grain
from provenloop.services.pass_gate import PassOptions
from tests.bench.workload import other_grains, twenty_events
from tests.faults.tables import TABLE
from tests.scenario.world import MEMORY, NOW, Sent, World, fresh_world


@pytest.fixture(autouse=True)
def aws() -> Iterator[None]:
    with mock_aws():
        yield


WORDS = (
    "index shard timeout while reading upstream response from replica connection pool exhausted retry after seconds "
    "document mapping field type keyword expected object found primary node cluster state blocked by write request "
    "invalid cursor page size exceeds maximum allowed query parser failed token position near clause authentication "
    "service account permission denied resource project bucket policy binding quota exceeded limit region zone"
).split()


def calls(count: int, start: int = 0, *, failing: bool = True, size: int = 1000) -> tuple[ToolCallEvent, ...]:
    """Tool calls whose event is ``size`` bytes of JSON, each with a text of its own in the words of error messages."""
    return tuple(_call(number, failing, size) for number in range(start, start + count))


def _call(number: int, failing: bool, size: int) -> ToolCallEvent:
    draw = random.Random(number)  # noqa: S311
    fixed = {
        "kind": "tool_call", "tool": "search", "is_error": failing, "call_id": f"call_{number:024x}",
        "session": "session-1",
        "input": {"query": " ".join(draw.choices(WORDS, k=8)), "page": draw.randrange(10**6)},
        "occurred_at": NOW - 1000 + number % 1000,
    }  # fmt: skip
    text = "no such index: " + " ".join(draw.choices(WORDS, k=size // 5))
    text = text[: size - len(json.dumps(fixed)) - len(', "result": ""')]
    return ToolCallEvent(
        "shared",
        "search",
        failing,
        text,
        fixed["input"],
        str(fixed["call_id"]),
        "session-1",
        NOW - 1000 + number % 1000,
    )


def spent(work: Any) -> Any:
    with table.metered() as usage:
        work()
    return usage


@pytest.mark.parametrize(("count", "units_an_event"), [(1, 6), (25, 3), (90, 3)])
def test_capture_costs_two_round_trips_and_few_write_units_an_event(count: int, units_an_event: int) -> None:
    world = fresh_world()
    world.send(Sent("warm", calls(1, 1000)))
    used = spent(lambda: world.send(Sent("first", calls(count))))
    assert dict(used.calls) == {"UpdateItem": 1, "TransactWriteItems": 1}
    assert used.writes / count <= units_an_event


def test_a_batch_with_duplicates_costs_one_round_trip_more() -> None:
    world = fresh_world()
    world.send(Sent("first", calls(90)))
    used = spent(lambda: world.send(Sent("again", calls(90, 45))))
    assert used.round_trips == 3


def _written(grains: Iterable[Grain]) -> None:
    """Grains put straight into the emulator: a memory of a size that capturing would take minutes for."""
    stored = get_backend("dynamodb")[MOTOS_ACCOUNT]["us-east-1"]
    for grain in grains:
        stored.put_item(TABLE, row_of(MEMORY, grain).serialize())


def _grain(number: int) -> Grain:
    return Grain(f"{number:064x}", "observation", "shared", {"text": f"note {number}"}, NOW, NOW, 1, "agent")


@pytest.mark.parametrize("size", [100, 10_000])
def test_a_gated_pass_with_nothing_to_do_is_one_query_of_one_unit_and_no_write(size: int) -> None:
    world = fresh_world()
    world.send(Sent("first", calls(5)))
    world.run()
    _written(map(_grain, range(size)))
    used = spent(lambda: outcomes.append(world.run(PassOptions(min_new=1, min_new_errors=1))))
    assert outcomes[-1]["skip_reason"] == "gate"
    assert dict(used.calls) == {"Query": 1}
    assert (used.reads, used.writes) == (1, 0)
    assert outcomes[-1]["usage"] == {"reads": 1, "writes": 0}


outcomes: list[dict[str, Any]] = []
#: So many rounds until the rows that fill up are full.
WARM_UP = 8
MOTOS_ACCOUNT = "123456789012"


def _one_error(count: int, start: int) -> tuple[ToolCallEvent, ...]:
    return tuple(replace(call, result="no such index") for call in calls(count, start))


def _cost_of_twenty_more(world: World, start: int) -> tuple[int, float, int]:
    world.send(Sent(f"twenty-{start}", _one_error(20, start)))
    used = spent(world.run)
    return used.round_trips, used.reads, used.writes


def test_a_pass_over_twenty_new_calls_costs_the_same_in_a_larger_memory() -> None:
    world = fresh_world()
    world.send(Sent("first", _one_error(90, 500)))
    world.run()
    _cost_of_twenty_more(world, 100)
    small = _cost_of_twenty_more(world, 150)
    _written(map(_grain, range(1000)))
    large = _cost_of_twenty_more(world, 200)
    assert large == pytest.approx(small, rel=0.05)


@pytest.mark.long
def test_a_pass_over_twenty_new_grains_of_every_kind_costs_the_same_in_a_memory_of_ten_thousand() -> None:
    world = fresh_world()
    costs = []
    for number, more in enumerate((*[0] * WARM_UP, 0, 1_000, 9_000)):
        _written(other_grains(100_000 * number, more))
        world.send(Sent(f"twenty-{number}", tuple(twenty_events(number))))
        used = spent(lambda: outcomes.append(world.run()))
        assert outcomes[-1]["new_grains"] >= 15
        assert [skip for skip in outcomes[-1]["analyzers_skipped"] if skip["reason"] != "disabled"] == []
        costs.append((used.round_trips, used.reads, used.writes))
    warm, small, large = costs[WARM_UP:]
    assert small == pytest.approx(warm, rel=0.05)
    assert large == pytest.approx(warm, rel=0.05)


def _sorts_of(rows: Sequence[Row]) -> list[str]:
    return [row.sk for row in rows]


def test_the_log_holds_one_entry_a_batch() -> None:
    world = fresh_world()
    for number in range(3):
        world.send(Sent(f"batch-{number}", calls(10, number * 10)))
    stored = list(table.query(keys.partition(MEMORY, "LOG")))
    assert _sorts_of(stored) == [keys.log_entry(seq) for seq in (1, 2, 3)]

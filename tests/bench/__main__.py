"""What a pass over twenty new grains costs, however large the memory is: ``python -m tests.bench [sizes]``.

Figures are counted from what goes over the wire, not timed, so any emulator will do: moto, with the copies and sorting
of whole tables taken out, answers at a hundred thousand grains where a served one runs into time limits. Exits 1 when a
larger memory costs over 5 % more or less.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from itertools import islice
from typing import Any

from moto import mock_aws

import tests.conftest  # noqa: F401  (fake credentials)
from provenloop.adapters.dynamodb import table
from provenloop.adapters.dynamodb.items import row_of
from provenloop.entry.local.table_queries import look_at_one_partition
from tests.bench.workload import other_grains, twenty_events
from tests.faults.tables import TABLE
from tests.scenario.world import MEMORY, Sent, World, fresh_world

SIZES = (0, 1_000, 10_000, 100_000)
ALLOWED = 0.05
WARM_UP = 8
FIGURES = ("round_trips", "reads", "writes")


def measure(world: World, sizes: Sequence[int]) -> list[dict[str, Any]]:
    """The cost of a pass over twenty new grains at each size, once the rows that fill up are full."""
    for number in range(WARM_UP):
        _pass_over_twenty(world, number)
    planted, rows = 0, []
    for number, size in enumerate(sizes, start=WARM_UP):
        _plant(world.client, planted, size - planted)
        planted = max(planted, size)
        rows.append({"grains": size, **_pass_over_twenty(world, number)})
    return rows


def _pass_over_twenty(world: World, number: int) -> dict[str, float]:
    world.send(Sent(f"twenty {number}", tuple(twenty_events(number))))
    with table.metered() as used:
        outcome = world.run()
    assert outcome["outcome"] == "ran"
    return {name: getattr(used, name) for name in FIGURES}


def _plant(client: Any, start: int, count: int) -> None:
    stream = other_grains(start, max(count, 0))
    while grains := list(islice(stream, 25)):
        puts = [{"PutRequest": {"Item": row_of(MEMORY, grain).serialize()}} for grain in grains]
        client.batch_write_item(RequestItems={TABLE: puts})


def main(arguments: Sequence[str]) -> int:
    """Measure, print a table and one line of JSON; 0 when the cost is the same at every size."""
    sizes = [int(size) for size in arguments] or list(SIZES)
    with mock_aws():
        look_at_one_partition()
        rows = measure(fresh_world(), sizes)
    print(f"{'grains':>10} {'round trips':>12} {'read units':>11} {'write units':>12}")
    for row in rows:
        print(f"{row['grains']:>10,} {row['round_trips']:>12} {row['reads']:>11} {row['writes']:>12}")
    print(json.dumps({"pass_over_twenty": rows}))
    first = rows[0]
    is_flat = all(abs(row[name] - first[name]) <= ALLOWED * first[name] for row in rows for name in FIGURES)
    print("the cost is the same at every size" if is_flat else "a larger memory costs otherwise")
    return 0 if is_flat else 1


sys.exit(main(sys.argv[1:]))

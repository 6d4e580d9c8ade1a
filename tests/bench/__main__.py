"""What a pass over twenty new grains costs, however large the memory is: ``python -m tests.bench [sizes]``.

Runs on ministack, since moto would copy and sort its whole table at every turn. Figures are counted from what goes over
the wire, not timed. Exits 1 when a larger memory costs over 5 % more.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from provenloop.adapters.dynamodb import table
from provenloop.adapters.dynamodb.items import row_of
from provenloop.adapters.dynamodb.store import DynamoStore
from tests.bench.workload import other_grains, twenty_events
from tests.faults.tables import TABLE, make_table
from tests.packaged.emulator import REGION, running_emulator
from tests.scenario.world import MEMORY, Sent, World

SIZES = (0, 1_000, 10_000, 100_000)
ALLOWED = 0.05
FIGURES = ("round_trips", "reads", "writes")


def measure(world: World, sizes: Sequence[int]) -> list[dict[str, Any]]:
    """The cost of a pass over twenty new grains at each size; one before them warms up what is made once."""
    _pass_over_twenty(world, 0)
    planted, rows = 0, []
    for number, size in enumerate(sizes, start=1):
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
    with TemporaryDirectory() as folder, running_emulator(Path(folder)) as emulator:
        os.environ.update(emulator.environment)  # noqa: TID251 - the store reaches the emulator by it
        world = World(store=DynamoStore(TABLE, REGION, pause=lambda _attempt: None))
        make_table(world.client)
        world.open()
        rows = measure(world, sizes)
    print(f"{'grains':>10} {'round trips':>12} {'read units':>11} {'write units':>12}")
    for row in rows:
        print(f"{row['grains']:>10,} {row['round_trips']:>12} {row['reads']:>11} {row['writes']:>12}")
    print(json.dumps({"pass_over_twenty": rows}))
    first = rows[0]
    is_flat = all(row[name] <= first[name] * (1 + ALLOWED) for row in rows for name in FIGURES)
    print("the cost is the same at every size" if is_flat else "a larger memory costs more")
    return 0 if is_flat else 1


sys.exit(main(sys.argv[1:]))

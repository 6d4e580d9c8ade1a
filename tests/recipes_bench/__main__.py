"""``python -m tests.recipes_bench [PAIRS]``: the figures of the committed data, or those of a file of pairs.

``--write`` puts the figures of the committed data into ``figures.json``, from which ``shared/RECIPES.md`` is checked.
The last line about a file of pairs is its sum; the status is 1 where a look-alike would be served.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from tests.recipes_bench import figures
from tests.recipes_bench.data_sets import Pairs, pairs_of
from tests.recipes_bench.measures import PairRow, pair_rows
from tests.recipes_bench.speed import timed_matches


def main(arguments: list[str]) -> int:
    """Print the figures."""
    if arguments and arguments != ["--write"]:
        return _of_file(Path(arguments[0]))
    begun = time.perf_counter()
    found = figures.measured()
    sys.stdout.write(figures.tables(found))
    sys.stdout.write("\nour own processor time for one request, warm\n")
    for size, spent in timed_matches():
        sys.stdout.write(f"{size:>8} recipes{spent * 1000:>9.2f} ms\n")
    sys.stdout.write(f"\n{time.perf_counter() - begun:.0f} s\n")
    if arguments:
        figures.FILE.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0


def _of_file(path: Path) -> int:
    try:
        pairs = pairs_of(path)
    except (OSError, ValueError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    same, look_alikes = pair_rows(pairs)
    sys.stdout.write(f"{'kind':<16}{'pairs':>7}{'served':>8}{'composer':>10}{'missed':>8}\n")
    for row in (*look_alikes, same):
        sys.stdout.write(f"{row.kind:<16}{row.pairs:>7}{row.served:>8}{row.composer:>10}{row.missed:>8}\n")
    sys.stdout.write(f"{summary(pairs, same, look_alikes)}\n")
    return 1 if any(row.served for row in look_alikes) else 0


def summary(pairs: Pairs, same: PairRow, look_alikes: list[PairRow]) -> str:
    """The last line."""
    served = sum(row.served for row in look_alikes)
    offered = same.served + same.composer
    return f"{served} look-alikes served, {offered} of {len(pairs.same)} paraphrases offered (served or composer)"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

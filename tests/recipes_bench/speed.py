"""Our own processor time for one request on the semantic rung: embedding, search and decision.

Not by the clock on the wall: what else the machine does is no cost of ours, and nothing here runs in threads.
"""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING
from unittest import mock

import numpy as np

from provenloop.adapters.dynamodb import packed_vectors, packing
from provenloop.adapters.dynamodb.packed_vectors import ROW_BYTES, PackedVectorIndex
from provenloop.domain.names import MemoryId
from provenloop.domain.recipe_vectors import RowRef, VectorHead, VectorRow
from provenloop.recipes.decide import Candidate, decide
from tests.recipes_bench.data_sets import banking77
from tests.recipes_bench.measures import BAND, EMBEDDER, K

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SIZES = (1_000, 5_000, 20_000, 50_000)
_ASKED = 60
_PLACE = (MemoryId("acme", "demo"), "s", "e")


def timed_matches(sizes: Sequence[int] = SIZES) -> Iterator[tuple[int, float]]:
    """For each number of recipes the median of one request, in seconds of processor time."""
    texts = [text for text, _ in banking77().stored]
    asked = [text for text, _ in banking77().asked[:: len(banking77().asked) // _ASKED]]
    for size in sizes:
        head, rows = _stored(texts, size)
        index = PackedVectorIndex(pause=lambda _attempt: None)
        with (
            mock.patch.object(packed_vectors, "_head", return_value=head),
            mock.patch.object(index, "_rows", return_value=rows),
        ):
            yield size, statistics.median(list(_spent(index, asked, texts)))


def _spent(index: PackedVectorIndex, asked: Sequence[str], texts: Sequence[str]) -> Iterator[float]:
    index.query(*_PLACE, EMBEDDER.embed(["warm"])[0], K)
    for text in asked:
        begun = time.process_time()
        [vector] = EMBEDDER.embed([text])
        near = index.query(*_PLACE, vector, K)
        stored = (Candidate(each.name, texts[int(each.name) % len(texts)], each.name, each.similarity) for each in near)
        decide(text, list(stored), BAND)
        yield time.process_time() - begun


def _stored(texts: Sequence[str], size: int) -> tuple[VectorHead, dict[int, VectorRow]]:
    """So many recipes in full rows: the texts over and over, each time a little aside."""
    noise = np.random.default_rng(7)
    vectors = np.asarray(EMBEDDER.embed(texts[:size]), dtype=np.float32)
    full = ROW_BYTES // (EMBEDDER.dimensions + packing.SCALE_BYTES)
    rows = {}
    for n, start in enumerate(range(0, size, full)):
        places = range(start, min(start + full, size))
        moved = [vectors[place % len(vectors)] + noise.normal(0, 0.002, EMBEDDER.dimensions) for place in places]
        rows[n] = VectorRow("s", "e", n, tuple(map(str, places)), packing.packed(moved))
    refs = tuple(RowRef(n, 1, len(row.names)) for n, row in rows.items())
    return VectorHead("s", "e", EMBEDDER.dimensions, refs), rows

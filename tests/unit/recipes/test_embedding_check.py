"""An embedder that tells nothing apart is found out at start."""

from __future__ import annotations

import math

import pytest

from provenloop.recipes.embedding_check import PROBES, embedding_fault

GOOD = [[1.0, 0.0, 0.1], [0.0, 1.0, 0.1], [0.5, 0.5, -1.0], [-1.0, 0.2, 0.0]]


def test_vectors_that_differ_are_fine() -> None:
    assert len(GOOD) == len(PROBES)
    assert embedding_fault(GOOD, 3) is None


@pytest.mark.parametrize(
    ("vectors", "said"),
    [
        ([[1.0, 0.0, 0.0]] * 4, "one vector"),
        ([[1.0, 0.0, 0.0], [2.0, 0.0, 0.0], *GOOD[1:3]], "one vector"),
        ([*GOOD[:3], [0.0, 0.0, 0.0]], "zero"),
        ([*GOOD[:3], [1e-200, 0.0, 0.0]], "zero"),
        ([*GOOD[:3], [math.nan, 0.0, 1.0]], "none"),
        ([*GOOD[:3], [math.inf, 0.0, 1.0]], "none"),
        ([*GOOD[:3], [1.0, 0.0]], "2 dimensions"),
        (GOOD[:3], "number of vectors"),
        ([], "number of vectors"),
    ],
)
def test_constant_zero_and_broken_vectors_are_named(vectors: list[list[float]], said: str) -> None:
    assert said in str(embedding_fault(vectors, 3))

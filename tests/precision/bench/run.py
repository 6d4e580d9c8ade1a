"""Runs cases of the analyzers that are registered, on two cores; those of others wait for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import chain
from multiprocessing import get_context

from provenloop.adapters.dynamodb.store import DynamoStore
from provenloop.analyzers import ANALYZERS
from provenloop.domain.recommendation import family_of
from tests.precision.bench.cases import Case
from tests.precision.bench.measured import review
from tests.precision.bench.play import play
from tests.precision.bench.score import Verdict
from tests.store_fixture import fresh_store

WORKERS = 2
_MEASURED = "outcome_review"
_AT_ONCE = 10


def served() -> frozenset[str]:
    """The analyzers that can be judged, without ``loop.``: those a pass runs, and the one that is given its views."""
    return frozenset(family_of(one.manifest.id).removeprefix("loop.") for one in ANALYZERS) | {_MEASURED}


def judge(case: Case, store: DynamoStore) -> Verdict:
    """Play one case.

    Raises:
        ValueError: the case is not well formed.
    """
    return Verdict(case, review(case) if case.analyzer == _MEASURED else play(case, store))


def judge_all(cases: Iterable[Case]) -> Iterator[Verdict]:
    """Play cases in processes of their own; the verdicts in the order of the cases.

    Raises:
        ValueError: a case is not well formed.
    """
    waiting = list(cases)
    parts = [waiting[start : start + _AT_ONCE] for start in range(0, len(waiting), _AT_ONCE)]
    with ProcessPoolExecutor(WORKERS, mp_context=get_context("spawn")) as pool:
        yield from chain.from_iterable(pool.map(_judge_part, parts))


def _judge_part(cases: Sequence[Case]) -> list[Verdict]:
    with fresh_store() as store:
        return [judge(case, store) for case in cases]

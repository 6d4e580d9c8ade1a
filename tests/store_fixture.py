"""Fixtures for tests above a real store: an empty table in moto, and one memory on it.

A ``conftest.py`` imports them by name. The botocore client behind the store is made once a process; the table is new
for every test.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import pytest
from moto import mock_aws
from moto.backends import get_backend
from moto.core.models import DEFAULT_ACCOUNT_ID

from provenloop.adapters.dynamodb import table
from provenloop.adapters.dynamodb.store import DynamoStore
from tests.builders import Desk, make_calls, make_fact
from tests.faults.tables import TABLE, make_table

REGION = "us-east-1"

T = TypeVar("T")


@contextmanager
def fresh_store() -> Iterator[DynamoStore]:
    """A store on an empty table; waits before further tries are left out."""
    with mock_aws(config={"core": {"reset_boto3_session": False}}):
        made = DynamoStore(TABLE, REGION, pause=lambda _attempt: None)
        make_table(table.connection().client)
        yield made


@pytest.fixture
def store() -> Iterator[DynamoStore]:
    with fresh_store() as made:
        yield made


_prepared: dict[Callable[[Desk], Any], tuple[Any, int, Any]] = {}


def _table() -> Any:
    """The table as moto holds it."""
    return get_backend("dynamodb")[DEFAULT_ACCOUNT_ID][REGION].get_table(TABLE)


def prepared(store: DynamoStore, prepare: Callable[[Desk], T]) -> tuple[Desk, T]:
    """A memory that was driven to where ``prepare`` leaves it, and what that returned.

    Done once a process; later tests get a copy of the items, since a pass and a decision take long.
    """
    if prepare not in _prepared:
        first = Desk(store).open()
        answer = prepare(first)
        _prepared[prepare] = (copy.deepcopy(_table().items), first.now, answer)
        return first, answer
    items, now, answer = _prepared[prepare]
    desk = Desk(store, now=now, numbers=itertools.count(1_000))
    _table().items = copy.deepcopy(items)
    return desk, answer


def first_pass(desk: Desk) -> None:
    """``refund`` failed 5 of 7 calls; sam lives in Berlin and, said later, in Tokyo; and a pass has found both."""
    desk.record(*make_calls(5, 2), make_fact("Berlin"), make_fact("Tokyo"))
    desk.run()


@pytest.fixture
def found(store: DynamoStore) -> Desk:
    """A memory with two pending findings, see :func:`first_pass`."""
    return prepared(store, first_pass)[0]


@pytest.fixture
def desk(store: DynamoStore) -> Desk:
    """One memory, opened, and everybody who works with it."""
    return Desk(store).open()

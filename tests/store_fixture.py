"""Fixtures for tests above a real store: an empty table in moto, and one memory on it.

A ``conftest.py`` imports them by name. The botocore client behind the store is made once a process; the table is new
for every test.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from moto import mock_aws

from provenloop.adapters.dynamodb import table
from provenloop.adapters.dynamodb.store import DynamoStore
from tests.builders import Desk, make_calls, make_fact, put_items
from tests.faults.tables import TABLE, make_table

REGION = "us-east-1"


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


_after_first_pass: list[tuple[list[Any], int]] = []


@pytest.fixture
def found(store: DynamoStore) -> Desk:
    """A memory after its first pass: ``refund`` failed 5 of 7 calls; sam lives in Berlin and, said later, in Tokyo.

    Made once and copied from then on, since a pass takes long.
    """
    if not _after_first_pass:
        first = Desk(store).open()
        first.record(*make_calls(5, 2), make_fact("Berlin"), make_fact("Tokyo"))
        first.run()
        _after_first_pass.append((first.client.scan(TableName=TABLE)["Items"], first.now))
        return first
    [(items, now)] = _after_first_pass
    desk = Desk(store, now=now, numbers=itertools.count(100))
    put_items(desk.client, items)
    return desk


@pytest.fixture
def desk(store: DynamoStore) -> Desk:
    """One memory, opened, and everybody who works with it."""
    return Desk(store).open()

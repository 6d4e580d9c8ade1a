"""Fixtures for tests above a real store: an empty table in moto, and one memory on it.

A ``conftest.py`` imports them by name. The botocore client behind the store is made once a process; the table is new
for every test.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from moto import mock_aws

from provenloop.adapters.dynamodb import table
from provenloop.adapters.dynamodb.store import DynamoStore
from tests.builders import Desk
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


@pytest.fixture
def desk(store: DynamoStore) -> Desk:
    """One memory, opened, and everybody who works with it."""
    return Desk(store).open()

"""What contract tests ask: a provider of models on this machine, and a client of DynamoDB with an empty table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto import mock_aws

from tests import model_server
from tests.faults.tables import make_table
from tests.model_server import ModelServer


@pytest.fixture(scope="module")
def running() -> Iterator[ModelServer]:
    """One for all tests of a module."""
    with model_server.model_server() as made:
        yield made


@pytest.fixture
def server(running: ModelServer, monkeypatch: pytest.MonkeyPatch) -> ModelServer:
    """That one as if nobody had asked it yet; it is where Bedrock is, too."""
    monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", running.url)
    running.seen.clear()
    running.keys = None
    return running


@pytest.fixture
def client() -> Iterator[Any]:
    """Botocore's client, with the table that tests of faults use."""
    with mock_aws():
        made = boto3.client("dynamodb", region_name="eu-west-1")
        make_table(made)
        yield made

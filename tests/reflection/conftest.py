"""An empty table, and a model server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests import model_server
from tests.model_server import ModelServer
from tests.store_fixture import store

__all__ = ["running", "server", "store"]


@pytest.fixture(scope="module")
def running() -> Iterator[ModelServer]:
    with model_server.model_server() as made:
        yield made


@pytest.fixture
def server(running: ModelServer) -> ModelServer:
    """As new: what it charges grows with what it has seen."""
    running.seen.clear()
    return running

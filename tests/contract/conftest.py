"""The provider of models on this machine that contract tests ask."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests import model_server
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

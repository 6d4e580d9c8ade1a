"""The local stack, started once for the scenarios of a module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from provenloop.entry.local.stack import LocalStack
from tests.parity.runner.report import new_stack


@pytest.fixture(scope="module")
def stack() -> Iterator[LocalStack]:
    """The stack of a runner; each scenario empties it."""
    with new_stack() as started:
        yield started

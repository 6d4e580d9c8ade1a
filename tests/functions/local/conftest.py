"""Running stacks, empty for each test: ``small`` of the small system beside this file, ``stack`` of the whole one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from provenloop.entry.local.stack import LocalStack
from tests.local_stack import NOW_MS, built_stack, running_stack, stack

__all__ = ["built_stack", "running_stack", "stack"]

if TYPE_CHECKING:
    from collections.abc import Iterator

SMALL = Path(__file__).parent / "small"


@pytest.fixture(scope="session")
def small_stack() -> LocalStack:
    """The small system, not started."""
    return LocalStack(SMALL, dev_token="token-of-the-small-system", now_ms=NOW_MS)


@pytest.fixture(scope="module")
def running_small(small_stack: LocalStack) -> Iterator[LocalStack]:
    """The small system, started."""
    with small_stack:
        yield small_stack


@pytest.fixture
def small(running_small: LocalStack) -> LocalStack:
    """The small system, empty, its clock at ``NOW_MS``."""
    running_small.reset()
    running_small.set_clock(NOW_MS)
    return running_small

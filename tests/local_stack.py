"""Fixtures of the whole system in this process. A conftest imports all three, a test asks for ``stack``.

The stack is built once a session, started once a module and emptied before each test, so that a test costs no more than
the creation of its tables. It is stopped between modules, so that tests which use the emulator themselves find it as
they expect. Under xdist each worker has one of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from provenloop.entry.local.stack import LocalStack

ROOT = Path(__file__).parent.parent
#: 2026-01-01T00:00:00Z
NOW_MS = 1_767_225_600_000
DEV_TOKEN = "bootstrap-token-of-the-tests"


@pytest.fixture(scope="session")
def built_stack() -> LocalStack:
    """The stack, not started."""
    return LocalStack(ROOT, dev_token=DEV_TOKEN, now_ms=NOW_MS)


@pytest.fixture(scope="module")
def running_stack(built_stack: LocalStack) -> Iterator[LocalStack]:
    """The stack, started; holds whatever the module's tests leave in it."""
    with built_stack:
        yield built_stack


@pytest.fixture
def stack(running_stack: LocalStack) -> LocalStack:
    """The stack, empty, its clock at ``NOW_MS``; the bootstrap admin token is ``stack.dev_token``."""
    running_stack.reset()
    running_stack.set_clock(NOW_MS)
    return running_stack

"""The functions with nothing behind them, and the whole local stack."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from provenloop.domain.errors import NotFoundError
from provenloop.entry.local.stack import LocalStack
from provenloop.entry.settings import Settings
from provenloop.entry.wiring import Wiring, use_wiring
from tests.faulty_service import FaultyServer, faulty_service
from tests.functions.api import Api
from tests.functions.requests import ADMIN, NOW, ROOT


class Untouched:
    """Stands where the store and the tokens stand: whoever reaches it has got past every check of the entry room."""

    def __getattr__(self, name: str) -> Any:
        raise NotFoundError(f"reached {name}", field="store")


@pytest.fixture
def untouched() -> Iterator[None]:
    """Puts ``Untouched`` behind the functions, with the clock standing at NOW."""
    current = Wiring(Settings({"PROVENLOOP_DEV_TOKEN": ADMIN}), now=lambda: NOW, entropy=bytes)
    current.__dict__.update(store=Untouched(), tokens=Untouched())
    use_wiring(current)
    yield
    use_wiring(None)


@pytest.fixture(scope="session")
def built() -> LocalStack:
    """The system of template.yaml, not started; its functions are loaded once a session."""
    return LocalStack(ROOT, dev_token=ADMIN, now_ms=NOW)


@pytest.fixture(scope="module")
def running(built: LocalStack) -> Iterator[LocalStack]:
    """The system of template.yaml, started once a module."""
    with built:
        yield built


@pytest.fixture
def api(running: LocalStack) -> Api:
    """The whole system, empty, its clock at NOW."""
    running.reset()
    running.set_clock(NOW)
    return Api(running)


@pytest.fixture
def service(api: Api) -> Iterator[FaultyServer]:
    """The stack behind a port, with the memory ``support`` in it."""
    api.done("create_memory")
    with faulty_service(api.stack) as server:
        yield server

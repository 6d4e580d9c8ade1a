"""A wiring behind which nothing may be reached."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from provenloop.domain.errors import NotFoundError
from provenloop.entry.settings import Settings
from provenloop.entry.wiring import Wiring, use_wiring
from tests.functions.requests import ADMIN, NOW


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

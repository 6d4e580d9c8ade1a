"""An empty table."""

from tests.store_fixture import store

__all__ = ["store"]

"""An empty table and one memory for every test that asks for them."""

from tests.store_fixture import desk, found, store

__all__ = ["desk", "found", "store"]

"""An empty table and one memory, or the whole stack, for every test that asks for them."""

from tests.local_stack import built_stack, running_stack, stack
from tests.store_fixture import desk, found, store

__all__ = ["built_stack", "desk", "found", "running_stack", "stack", "store"]

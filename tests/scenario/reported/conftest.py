"""Nothing behind the functions, for what the edge refuses."""

from tests.functions.conftest import untouched

__all__ = ["untouched"]

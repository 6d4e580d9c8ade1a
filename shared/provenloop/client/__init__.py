"""The Python client: ``Provenloop(url, token, memory)``, whose methods are the operations of the HTTP API.

    with Provenloop("https://...", token, "support") as memory:
        memory.record_tool_call("http_get", is_error=True, result="connect timeout", call_id="c-1")
        memory.loop_run()

It needs httpx and nothing else of what the service is made of. httpx takes a while to load, so the class is loaded when
it is first asked for: who only handles its errors, or prints a help, does not wait for it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from provenloop.client.errors import ProvenloopError

if TYPE_CHECKING:
    from provenloop.client.provenloop import Provenloop
    from provenloop.client.transport import Options

__all__ = ["Options", "Provenloop", "ProvenloopError"]

_LATER = {"Options": "provenloop.client.transport", "Provenloop": "provenloop.client.provenloop"}


def __getattr__(name: str) -> Any:
    """What is loaded when it is asked for."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)

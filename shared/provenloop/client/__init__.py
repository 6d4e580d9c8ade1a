"""The Python client: ``Provenloop(url, token, memory)``, whose methods are the operations of the HTTP API.

    with Provenloop("https://...", token, "support") as memory:
        memory.record_tool_call("http_get", is_error=True, result="connect timeout", call_id="c-1")
        memory.loop_run()

It needs httpx and nothing else of what the service is made of.
"""

from provenloop.client.errors import ProvenloopError
from provenloop.client.provenloop import Provenloop
from provenloop.client.transport import Options

__all__ = ["Options", "Provenloop", "ProvenloopError"]

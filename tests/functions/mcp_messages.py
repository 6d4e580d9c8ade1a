"""Messages of MCP, posted to the endpoint of a running local stack."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from provenloop.entry.local.gateway import HttpResponse
from tests.functions.api import Api
from tests.functions.requests import ADMIN

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


def post(api: Api, body: Any, token: str | None = ADMIN, **headers: str) -> HttpResponse:
    """What the endpoint answers to a message."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    if token is not None:
        sent["authorization"] = f"Bearer {token}"
    text = body if isinstance(body, str) else json.dumps(body)
    return api.stack.request("POST", "/mcp", {"content-type": "application/json", **sent}, text)


def message(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}


def tool(api: Api, name: str, arguments: Mapping[str, Any], token: str = ADMIN) -> Any:
    """The result of one call."""
    answer = post(api, message("tools/call", name=name, arguments=arguments), token)
    assert answer.status == 200, answer.text
    return answer.json()["result"]


def error_of(answer: HttpResponse) -> tuple[int, int]:
    """(status, code) of an answer that is an error of the protocol."""
    return answer.status, answer.json()["error"]["code"]

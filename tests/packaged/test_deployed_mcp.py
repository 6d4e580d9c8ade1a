"""The endpoint of MCP, deployed: it may ask every function that serves one of its tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from provenloop.entry.operations import OPERATIONS, Operation, Tool

if TYPE_CHECKING:
    import httpx

    from tests.packaged.deployment import Deployment

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

MEMORY = "agents"
TOOLS = [each for each in OPERATIONS if isinstance(each.mcp, Tool)]
FAILING_CALLS = [
    {"kind": "tool_call", "tool": "search", "call_id": f"c{n}", "is_error": True, "result": "Timeout after 30 s"}
    for n in range(5)
]


def call(client: httpx.Client, name: str, arguments: dict[str, Any]) -> Any:
    """The result of one call of a tool."""
    params = {"name": name, "arguments": {"memory": MEMORY, **arguments}}
    answer = client.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    assert answer.status_code == 200, answer.text
    return answer.json()["result"]


@pytest.mark.parametrize("operation", TOOLS, ids=lambda operation: operation.name)
def test_the_endpoint_reaches_the_function_of_every_tool(deployment: Deployment, operation: Operation) -> None:
    assert isinstance(operation.mcp, Tool)
    action = {} if operation.mcp.action is None else {"action": operation.mcp.action}
    with deployment.http(token=deployment.token) as admin:
        admin.put(f"/v1/memories/{MEMORY}", json={})
        result = call(admin, operation.mcp.name, action)
    assert not result["isError"] or result["structuredContent"]["status"] == 400, result


def test_an_agent_records_finds_and_decides_with_its_own_token(deployment: Deployment) -> None:
    with deployment.http(token=deployment.token) as admin:
        admin.put(f"/v1/memories/{MEMORY}", json={})
        asked = {"label": "mcp-agent", "kind": "agent", "memories": MEMORY, "scopes": ["read", "write", "review"]}
        token = admin.post("/v1/tokens", json=asked).json()["secret"]
    with deployment.http(token=token) as agent:
        assert not call(agent, "record", {"events": FAILING_CALLS})["isError"]
        found = call(agent, "loop_run", {})["structuredContent"]
        [waiting] = [each for each in found["pending"] if each["target"] == "entity:lessons/search"]
        decided = {"action": "reject", "id": waiting["id"], "because": "known"}
        assert call(agent, "recommendations", decided)["structuredContent"]["status"] == "rejected"
        refused = call(agent, "recommendations", {**decided, "action": "apply"})
    assert (refused["isError"], refused["structuredContent"]["status"]) == (True, 403)

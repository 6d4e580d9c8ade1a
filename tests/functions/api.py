"""The HTTP API of a running local stack, called by the names of the operation table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from provenloop.entry.local.gateway import HttpResponse
from provenloop.entry.local.stack import LocalStack
from provenloop.entry.operations import Operation
from tests.functions.requests import ADMIN, MEMORY, operation

PROBLEM = "application/problem+json"


@dataclass(frozen=True)
class Api:
    """Sends requests; ``token`` None sends none."""

    stack: LocalStack

    def call(
        self,
        name: str,
        path: Mapping[str, str] = MEMORY,
        body: Mapping[str, Any] | None = None,
        *,
        token: str | None = ADMIN,
        query: Mapping[str, str] | None = None,
        key: str | None = None,
    ) -> HttpResponse:
        """One request of one operation."""
        known = operation(name)
        headers = {} if token is None else {"authorization": f"Bearer {token}"}
        if key is not None:
            headers["idempotency-key"] = key
        asked = url(known, path) + (f"?{urlencode(query)}" if query else "")
        return self.stack.request(known.method, asked, headers, body)

    def done(
        self, name: str, path: Mapping[str, str] = MEMORY, body: Mapping[str, Any] | None = None, **how: Any
    ) -> Any:
        """The JSON of a request that succeeds."""
        response = self.call(name, path, body, **how)
        assert response.status in operation(name).statuses, response.text
        return response.json()

    def refused(self, response: HttpResponse) -> tuple[int, str]:
        """(status, code) of a refusal that is problem details."""
        assert response.header("content-type") == PROBLEM, response.text
        problem = response.json()
        assert problem["status"] == response.status
        return response.status, problem["code"]

    def mint(self, label: str, *scopes: str, token: str = ADMIN, **fields: Any) -> str:
        """The secret of a new token."""
        request = {"label": label, "kind": "agent", "memories": "*", "scopes": list(scopes), **fields}
        secret: str = self.done("mint_token", {}, request, token=token)["secret"]
        return secret

    def find(self) -> list[dict[str, Any]]:
        """Makes the memory with a failing tool and a contradiction in it, runs a pass; the queue."""
        self.done("create_memory")
        self.done("record_events", body={"events": [*CALLS, *VALUES]})
        self.done("run_pass", body={})
        found: list[dict[str, Any]] = self.done("list_recommendations")["recommendations"]
        return found


CALLS = [
    {
        "kind": "tool_call",
        "tool": "http_get",
        "is_error": number < 5,
        "result": "connect timeout" if number < 5 else "ok",
        "call_id": f"call-{number}",
        "session": "s-1",
    }
    for number in range(7)
]
VALUES = [
    {"kind": "fact", "subject": "checkout", "relation": "deploy_target", "object": region} for region in ("eu", "us")
]


def url(known: Operation, path: Mapping[str, str]) -> str:
    """The operation's path with its variables filled in."""
    filled = known.path
    for name, value in path.items():
        filled = filled.replace(f"{{{name}}}", quote(value, safe="")).replace(f"{{{name}+}}", quote(value, safe="/"))
    return filled

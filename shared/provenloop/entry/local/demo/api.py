"""How the demo talks to the stack: HTTP requests with a token, on a clock that it steps itself."""

from __future__ import annotations

from typing import Any

import httpx

from provenloop.entry.local.stack import LocalStack

SECOND_MS = 1000
DAY_MS = 86_400_000


class UnexpectedAnswerError(Exception):
    """The stack answered with another status than the demo needs to go on."""


class Api:
    """One caller of one memory.

    Args:
        memory: its name.
        token: the caller's bearer token.
    """

    def __init__(self, stack: LocalStack, memory: str, token: str) -> None:
        self._stack = stack
        self._client: httpx.Client = stack.client_as(token)
        self._root = f"/v1/memories/{memory}"

    def get(self, path: str, status: int = 200) -> Any:
        """Read something of the memory."""
        return self._send("GET", self._root + path, None, status).json()

    def lines(self, path: str) -> list[str]:
        """Read something that is answered line by line."""
        return self._send("GET", self._root + path, None, 200).text.splitlines()

    def post(self, path: str, body: dict[str, Any], status: int = 200) -> Any:
        """Do something in the memory, one second after what was done last."""
        return self._send("POST", self._root + path, body, status).json()

    def make_memory(self) -> None:
        """Make the memory."""
        self._send("PUT", self._root, {}, 201)

    def mint(self, label: str, kind: str, scopes: list[str]) -> str:
        """A new token's secret."""
        body = {"label": label, "kind": kind, "memories": "*", "scopes": scopes}
        return str(self._send("POST", "/v1/tokens", body, 201).json()["secret"])

    def later(self, span_ms: int) -> None:
        """Let time pass."""
        self._stack.set_clock(self._stack.now_ms() + span_ms)

    def _send(self, method: str, path: str, body: dict[str, Any] | None, status: int) -> httpx.Response:
        if method != "GET":
            self.later(SECOND_MS)
        answer = self._client.request(method, path, json=body)
        if answer.status_code != status:
            raise UnexpectedAnswerError(
                f"{method} {path}: {answer.status_code} instead of {status}: {answer.text[:300]}"
            )
        return answer

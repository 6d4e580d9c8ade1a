"""How the demo talks to the stack: HTTP requests with a token, on a clock that it steps itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import httpx

from provenloop.entry.local.stack import LocalStack

SECOND_MS = 1000
DAY_MS = 86_400_000


class UnexpectedAnswerError(Exception):
    """The stack answered with another status than the demo needs to go on."""


@dataclass
class Usage:
    """What was asked of the stack, and what the passes say they used."""

    requests: int = 0
    sent: int = 0
    stored: int = 0
    ran: int = 0
    skipped: int = 0
    reads: float = 0
    writes: float = 0


class Api:
    """One caller of one memory.

    Args:
        memory: its name.
        token: the caller's bearer token.
        usage: counts what this caller asks for.
    """

    def __init__(self, stack: LocalStack, memory: str, token: str, usage: Usage) -> None:
        self._stack = stack
        self._client: httpx.Client = stack.client_as(token)
        self._root = f"/v1/memories/{memory}"
        self._usage = usage

    def get(self, path: str, status: int = 200) -> Any:
        """Read something of the memory."""
        return self._send("GET", self._root + path, None, status).json()

    def lines(self, path: str) -> list[str]:
        """Read something that is answered line by line."""
        return self._send("GET", self._root + path, None, 200).text.splitlines()

    def post(self, path: str, body: dict[str, Any], status: int = 200, key: str | None = None) -> Any:
        """Do something in the memory, one second after what was done last. ``key``: the Idempotency-Key."""
        return self._send("POST", self._root + path, body, status, key).json()

    def record(self, events: list[dict[str, Any]], key: str | None = None) -> list[dict[str, Any]]:
        """Send one batch of events; what became of each."""
        answers: list[dict[str, Any]] = self.post("/events", {"events": events}, key=key)["events"]
        self._usage.sent += len(events)
        self._usage.stored += sum(answer["status"] == "stored" for answer in answers)
        return answers

    def run(self, **options: Any) -> dict[str, Any]:
        """Ask for a pass; its outcome."""
        outcome: dict[str, Any] = self.post("/loop/run", options)
        self._usage.ran += outcome["outcome"] == "ran"
        self._usage.skipped += outcome["outcome"] == "skipped"
        self._usage.reads += outcome["usage"]["reads"]
        self._usage.writes += outcome["usage"]["writes"]
        return outcome

    def queue(self) -> list[dict[str, Any]]:
        """The pending recommendations in review order."""
        rows: list[dict[str, Any]] = self.get("/loop/recommendations")["recommendations"]
        return rows

    def make_memory(self) -> None:
        """Make the memory."""
        self._send("PUT", self._root, {}, 201)

    def mint(self, label: str, kind: str, scopes: list[str], memories: str = "*") -> str:
        """A new token's secret."""
        return str(self.ask_token(label, kind, scopes, memories)["secret"])

    def ask_token(self, label: str, kind: str, scopes: list[str], memories: str, status: int = 201) -> dict[str, Any]:
        """What a request for a new token is answered."""
        body = {"label": label, "kind": kind, "memories": memories, "scopes": scopes}
        answer: dict[str, Any] = self._send("POST", "/v1/tokens", body, status).json()
        return answer

    @property
    def now_ms(self) -> int:
        """The stack's time in epoch milliseconds."""
        return self._stack.now_ms()

    def later(self, span_ms: int) -> None:
        """Let time pass."""
        self._stack.set_clock(self._stack.now_ms() + span_ms)

    def _send(
        self, method: str, path: str, body: dict[str, Any] | None, status: int, key: str | None = None
    ) -> httpx.Response:
        if method != "GET":
            self.later(SECOND_MS)
        self._usage.requests += 1
        headers = {} if key is None else {"idempotency-key": key}
        answer = self._client.request(method, path, json=body, headers=headers)
        if answer.status_code != status:
            raise UnexpectedAnswerError(
                f"{method} {path}: {answer.status_code} instead of {status}: {answer.text[:300]}"
            )
        return answer


@dataclass(frozen=True)
class People:
    """Who works on one memory: an agent that may read and write, one person who reviews, one who may only apply."""

    agent: Api
    reviewer: Api
    applier: Api

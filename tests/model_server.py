"""A model provider on this machine: speaks the forms of ``tests.model_forms``, and plays what a test tells it to.

Each request is answered by the next play; when none is left, by the last one. ``seen`` holds what came in and which
tokens were charged for it. A test that uses it is marked ``@pytest.mark.allow_hosts(["127.0.0.1"])``.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from provenloop.domain.model_cost import Usage
from tests import model_forms

_TRICKLE_S = 0.02
_NEVER_S = 30


@dataclass(frozen=True)
class Play:
    """How one request is answered: with a message (``text``, ``stop_reason``), or with ``status``, ``body`` as it is.

    ``hangs`` never answers, ``trickles`` sends a byte now and then. ``usage`` are the tokens that are charged, None
    for some that differ from request to request.
    """

    text: str | None = None
    stop_reason: str = "end_turn"
    status: int = 200
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    hangs: bool = False
    trickles: bool = False
    usage: Usage | None = None
    model: str | None = None


def says(value: object, **more: Any) -> Play:
    """A message that is this value as JSON."""
    return Play(json.dumps(value, ensure_ascii=False), **more)


def says_text(text: str, **more: Any) -> Play:
    """A message of that text."""
    return Play(text, **more)


def says_nothing() -> Play:
    """A message without a text."""
    return Play("")


def refuses() -> Play:
    """A message that was broken off by the provider's own filters."""
    return Play("I can", stop_reason="refusal")


def fails(status: int, kind: str, **headers: str) -> Play:
    """An error of the API."""
    error = {"type": "error", "error": {"type": kind, "message": f"it is {kind}"}}
    return Play(status=status, body=json.dumps(error).encode(), headers=headers)


def sends(body: bytes, **headers: str) -> Play:
    """Status 200 and some bytes that are no message."""
    return Play(body=body, headers=headers)


UNAUTHORIZED = fails(401, "authentication_error")
RATE_LIMITED = fails(429, "rate_limit_error", **{"retry-after": "7"})
BROKEN = fails(500, "api_error")
HANGS = Play(hangs=True)
TRICKLES = Play("{}", trickles=True)


@dataclass(frozen=True)
class Seen:
    """One request as it came in, and the tokens it was charged."""

    key: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    charged: Usage

    @property
    def instructions(self) -> str:
        """What it says as the system."""
        return model_forms.instructions(self.body)

    @property
    def blocks(self) -> list[str]:
        """The texts of the user's turn."""
        return model_forms.blocks(self.body)


class ModelServer:
    """What is served. ``keys`` are those that are let in; None lets everyone in."""

    def __init__(self, port: int, end: threading.Event) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.seen: list[Seen] = []
        self.keys: set[str] | None = None
        self._plays: list[Play | Callable[[Mapping[str, Any]], Play]] = [says({})]
        self._end = end
        self._lock = threading.Lock()

    def plays(self, *plays: Play | Callable[[Mapping[str, Any]], Play]) -> None:
        """Answer the coming requests so; a function gets the body of the request."""
        self._plays = list(plays)

    @property
    def charged(self) -> list[Usage]:
        """The tokens of each request that was charged any."""
        return [seen.charged for seen in self.seen if seen.charged != Usage()]

    def take(self, path: str, headers: Mapping[str, str], body: Mapping[str, Any]) -> tuple[Play, Usage]:
        """Note a request; how it is answered, and what it is charged."""
        with self._lock:
            key = headers.get("authorization", "").removeprefix("Bearer ")
            chosen = self._plays.pop(0) if len(self._plays) > 1 else self._plays[0]
            play = chosen(body) if callable(chosen) else chosen
            if self.keys is not None and key not in self.keys:
                play = UNAUTHORIZED
            is_charged = play.text is not None and not play.hangs and not play.trickles
            charged = model_forms.as_told(path, play.usage or self._some()) if is_charged else Usage()
            self.seen.append(Seen(key, headers, body, charged))
        return play, charged

    def wait(self, seconds: float) -> bool:
        """Wait; whether the server ends."""
        return self._end.wait(seconds)

    def _some(self) -> Usage:
        n = len(self.seen)
        return Usage(101 + 7 * n, 23 + 3 * n, 11 * (n % 3), 0, 13 * (n % 2))


@contextmanager
def model_server() -> Iterator[ModelServer]:
    """A provider that is served as long as the context lasts."""
    box: list[ModelServer] = []
    end = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            headers = {name.lower(): value for name, value in self.headers.items()}
            wrong = fails(400, "invalid_request_error") if model_forms.is_wrong(self.path, headers, body) else None
            play, charged = box[0].take(self.path, headers, body)
            # The client may have gone.
            with suppress(OSError):
                self._answer(wrong or play, charged, body)
            self.close_connection = True

        def _answer(self, play: Play, charged: Usage, body: Mapping[str, Any]) -> None:
            if play.hangs:
                box[0].wait(_NEVER_S)
                return
            sent = play.body
            if sent is None:
                sent = model_forms.message(self.path, body, play.text, play.stop_reason, play.model, charged)
            self.send_response(play.status)
            for name, value in {"content-type": "application/json", **play.headers}.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(sent) + 1_000_000 if play.trickles else len(sent)))
            self.end_headers()
            self.wfile.write(sent)
            while play.trickles and not box[0].wait(_TRICKLE_S):
                self.wfile.write(b" ")
                self.wfile.flush()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        box.append(ModelServer(server.server_port, end))
        serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        serving.start()
        try:
            yield box[0]
        finally:
            end.set()
            server.shutdown()
            serving.join()

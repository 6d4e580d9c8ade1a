"""The local stack behind a real port that plays faults: it refuses, breaks off, and keeps what it was sent.

Each request is answered by the next fault that is planned, and by the stack when none is. A test that uses it is marked
``@pytest.mark.allow_hosts(["127.0.0.1"])``.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from provenloop.entry.local.http_event import HttpRequest
from provenloop.entry.local.stack import LocalStack


@dataclass(frozen=True)
class Fault:
    """How a request fails: with a status, or (0) with a broken connection; ``after`` it had its effect, or before."""

    status: int = 503
    body: str = '{"title": "Busy", "status": 503, "code": "PVL-E001", "detail": "try again"}'
    headers: Mapping[str, str] = field(default_factory=dict)
    after: bool = False
    waits_s: float = 0.0


@dataclass(frozen=True)
class Seen:
    """A request that came in."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def key(self) -> str | None:
        """Its Idempotency-Key."""
        return self.headers.get("idempotency-key")

    def json(self) -> Any:
        """Its body."""
        return json.loads(self.body)


class FaultyServer(ThreadingHTTPServer):
    """Serves a started stack on a free port; without one, only what is planned."""

    daemon_threads = True

    def __init__(self, stack: LocalStack | None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.stack = stack
        self.faults: deque[Fault] = deque()
        self.seen: list[Seen] = []
        #: Set to let requests go that wait.
        self.released = threading.Event()

    @property
    def url(self) -> str:
        """Base address."""
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is no error here."""


class _Handler(BaseHTTPRequestHandler):
    server: FaultyServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def _serve(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        path, _, query = self.path.partition("?")
        body = self.rfile.read(int(headers.get("content-length", "0")))
        self.server.seen.append(Seen(self.command, path, query, headers, body))
        fault = self.server.faults.popleft() if self.server.faults else None
        if self.server.stack is not None and (fault is None or fault.after):
            asked = HttpRequest(self.command, path, query, tuple(self.headers.items()), body)
            answer = self.server.stack.gateway.handle(asked)
            if fault is None:
                return self._send(answer.status, dict(answer.headers), answer.body)
        if fault is not None and fault.waits_s:
            self.server.released.wait(fault.waits_s)
        if fault is None or not fault.status:
            self.close_connection = True
            return None
        return self._send(fault.status, fault.headers, fault.body.encode())

    do_GET = do_POST = do_PUT = do_DELETE = _serve  # noqa: N815 - the library's names

    def _send(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in {**headers, "content-length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
        """Nothing."""


@contextmanager
def faulty_service(stack: LocalStack | None) -> Iterator[FaultyServer]:
    """The server, running."""
    with FaultyServer(stack) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.released.set()
            server.shutdown()
            thread.join()

"""A server that stands for Lambda, as far as functions are invoked: for the real client of AWS."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

import pytest


class LambdaService:
    """How the next invocations are answered, and what was sent."""

    def __init__(self) -> None:
        self.status, self.body, self.headers = 200, b"{}", dict[str, str]()
        self.waits_s = 0.0
        self.seen: list[tuple[str, dict[str, str], bytes]] = []
        self.end = threading.Event()

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        sent = handler.rfile.read(int(handler.headers["content-length"]))
        headers = {name.lower(): value for name, value in handler.headers.items()}
        self.seen.append((unquote(handler.path), headers, sent))
        if self.waits_s and self.end.wait(self.waits_s):
            return
        handler.send_response(self.status)
        for name, value in {"content-length": str(len(self.body)), **self.headers}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(self.body)


@contextmanager
def lambda_service(monkeypatch: pytest.MonkeyPatch) -> Iterator[LambdaService]:
    """The service at an address of this machine, which clients of Lambda are pointed to."""
    made = LambdaService()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            try:
                made.answer(self)
            except OSError:
                # The client has gone, as it should.
                self.close_connection = True

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        monkeypatch.setenv("AWS_ENDPOINT_URL_LAMBDA", f"http://127.0.0.1:{server.server_port}")
        serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        serving.start()
        try:
            yield made
        finally:
            made.end.set()
            server.shutdown()
            serving.join()

"""The local stack behind a real port, for browsers, curl and clients in other languages.

Invariants: it listens on 127.0.0.1 and nowhere else, and refuses requests that name another host or come from another
origin, so that no web page can reach it by a name of its own; what is under ``/_local`` (the clock and the tick) exists
here and in no deployed function; the log names method, path and status, never a query, a header or a body.
"""

from __future__ import annotations

import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from provenloop.entry.local.control import CONTROL_PREFIX, control
from provenloop.entry.local.gateway import PAYLOAD_LIMIT_BYTES, HttpResponse, message
from provenloop.entry.local.http_event import HttpRequest
from provenloop.entry.local.stack import LocalStack

HOST = "127.0.0.1"
DEFAULT_PORT = 8787

_IDLE_S = 60
#: A body over the limit is read and dropped up to here, so that the client gets its 413 instead of a broken pipe.
_DROPPED_BYTES = 4 * PAYLOAD_LIMIT_BYTES
_CHUNK_BYTES = 65_536
_BODYLESS = frozenset({204, 304})
_MS_PER_S = 1_000


class LocalServer(ThreadingHTTPServer):
    """Serves a started stack. Port 0 takes a free one.

    Raises:
        OSError: the port is taken.
    """

    daemon_threads = True

    def __init__(self, stack: LocalStack, port: int = DEFAULT_PORT, *, quiet: bool = False) -> None:
        super().__init__((HOST, port), _Handler)
        self.stack = stack
        self.quiet = quiet
        names = (HOST, "localhost")
        #: What a request may call this server.
        self.hosts = frozenset(f"{name}:{self.server_port}" for name in names)
        self.origins = frozenset(f"http://{host}" for host in self.hosts)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is no error."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)

    @property
    def url(self) -> str:
        """Base address."""
        return f"http://{HOST}:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    server: LocalServer
    protocol_version = "HTTP/1.1"
    server_version = "provenloop-local"
    sys_version = ""
    timeout = _IDLE_S
    # Headers and body go out in two writes; without this the second would wait for the first one's acknowledgement.
    disable_nagle_algorithm = True

    def _serve(self) -> None:
        began = time.monotonic()
        response = self._answer()
        self._send(response)
        if not self.server.quiet:
            path = self.path.partition("?")[0]
            elapsed_ms = (time.monotonic() - began) * _MS_PER_S
            sys.stderr.write(f"{self.command} {path} {response.status} {elapsed_ms:.0f} ms\n")

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _serve  # noqa: N815 - the library's names

    def _answer(self) -> HttpResponse:
        refusal = self._refusal()
        if refusal is not None:
            return refusal
        body = self._body()
        if isinstance(body, HttpResponse):
            return body
        path, _, query = self.path.partition("?")
        if path.startswith(CONTROL_PREFIX):
            return control(self.server.stack, self.command, path, body)
        headers = tuple(self.headers.items())
        return self.server.stack.gateway.handle(HttpRequest(self.command, path, query, headers, body))

    def _refusal(self) -> HttpResponse | None:
        hosts = self.headers.get_all("host", [])
        origins = self.headers.get_all("origin", [])
        if len(hosts) != 1 or hosts[0].lower() not in self.server.hosts:
            return self._refuse(403, "This server answers to its own address only")
        if any(origin.lower() not in self.server.origins for origin in origins):
            return self._refuse(403, "This server answers to pages of its own only")
        if not self.path.startswith("/"):
            return self._refuse(400, "Bad Request")
        return None

    def _body(self) -> bytes | HttpResponse:
        """The body, or why there can be none."""
        if "transfer-encoding" in self.headers:
            return self._refuse(411, "Length Required")
        lengths = set(self.headers.get_all("content-length", []))
        text = lengths.pop() if len(lengths) == 1 else "0"
        if lengths or not (text.isascii() and text.isdigit()):
            return self._refuse(400, "Bad Request")
        length = int(text)
        if length > PAYLOAD_LIMIT_BYTES:
            self._drop(length)
            return self._refuse(413, "Request Entity Too Large")
        return self.rfile.read(length)

    def _drop(self, length: int) -> None:
        left = min(length, _DROPPED_BYTES)
        while left > 0:
            chunk = self.rfile.read(min(left, _CHUNK_BYTES))
            if not chunk:
                return
            left -= len(chunk)

    def _refuse(self, status: int, text: str) -> HttpResponse:
        # The body may not have been read, so what follows on this connection has no meaning.
        self.close_connection = True
        return message(status, text)

    def _send(self, response: HttpResponse) -> None:
        self.send_response(response.status)
        for name, value in response.headers:
            self.send_header(name, value)
        if response.status not in _BODYLESS:
            self.send_header("content-length", str(len(response.body)))
        if self.close_connection:
            self.send_header("connection", "close")
        self.end_headers()
        if self.command != "HEAD" and response.status not in _BODYLESS:
            self.wfile.write(response.body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
        """Nothing: requests that were understood are logged by ``_serve``, and others tell their sender."""

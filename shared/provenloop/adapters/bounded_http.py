"""HTTP to somebody outside with an end in time and in size, whatever the other side does.

The timeouts of an HTTP client are for each read, so an answer that trickles never ends. Here a timer cuts the
connection when the time of the call is over, and nobody waits longer for a name or for one of its addresses. Imports
the HTTP library of the models' SDK, so it is imported when somebody is first asked.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from functools import cache
from time import monotonic
from typing import TYPE_CHECKING, Any, Self

import httpx2

if TYPE_CHECKING:
    import ssl
    from types import TracebackType

MODEL_BYTES = 2_000_000
#: The HTTP library takes no timeout of 0.
_LEAST_S = 0.001
_CONNECTED = ("connect_tcp.complete", "start_tls.complete")


class Deadline:
    """The end of one call, ``seconds`` after it is entered: what is connected then is cut."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._ends_at = 0.0
        self._stream: Any = None
        self._timer = threading.Timer(seconds, self._cut)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        self._ends_at = monotonic() + self.seconds
        self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        self._stream = None

    @property
    def is_over(self) -> bool:
        """Whether the time is over."""
        return monotonic() >= self._ends_at

    @property
    def seconds_left(self) -> float:
        """How long it is until then, at least a little."""
        return max(self._ends_at - monotonic(), _LEAST_S)

    def note(self, event: str, info: dict[str, Any]) -> None:
        """Takes note of the connection; what the HTTP library calls for each of its steps."""
        if event.endswith(_CONNECTED):
            self._stream = info["return_value"]
            if self.is_over:
                self._cut()

    def _cut(self) -> None:
        connected = self._stream.get_extra_info("socket") if self._stream is not None else None
        if connected is not None:
            # It may be closed already.
            with contextlib.suppress(OSError):
                connected.shutdown(socket.SHUT_RDWR)


class TooLargeError(httpx2.RemoteProtocolError):
    """An answer is larger than it may be."""


class BoundedTransport(httpx2.BaseTransport):
    """Connections of one call: an answer is at most ``max_bytes``, and comes before the deadline."""

    def __init__(self, deadline: Deadline, max_bytes: int = MODEL_BYTES) -> None:
        self.deadline = deadline
        self._max_bytes = max_bytes
        self._inner = httpx2.HTTPTransport(verify=_tls())

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request; the answer is asked for as it is, since what is packed may be of any size."""
        request.headers["accept-encoding"] = "identity"
        request.extensions = {**request.extensions, "trace": self.deadline.note}
        response = self._begun(request)
        if response.headers.get("content-encoding", "identity") != "identity":
            response.close()
            raise httpx2.RemoteProtocolError("the answer is packed, which was not asked for", request=request)
        return httpx2.Response(
            status_code=response.status_code,
            headers=response.headers,
            stream=_Bounded(response.stream, self._max_bytes),
            extensions=response.extensions,
        )

    def _begun(self, request: httpx2.Request) -> httpx2.Response:
        """What answers; a thread waits for it, since each address of a name has the whole timeout for itself."""
        answered: Future[httpx2.Response] = Future()

        def send() -> None:
            try:
                answered.set_result(self._inner.handle_request(request))
            except Exception as error:  # noqa: BLE001 - it is raised where somebody waits
                answered.set_exception(error)

        threading.Thread(target=send, daemon=True).start()
        try:
            return answered.result(self.deadline.seconds_left)
        except TimeoutError as error:
            raise httpx2.ReadTimeout("the time is over", request=request) from error

    def close(self) -> None:
        """Close the connection."""
        self._inner.close()


class _Bounded(httpx2.SyncByteStream):
    """A body of at most so many bytes."""

    def __init__(self, inner: Any, max_bytes: int) -> None:
        self._inner = inner
        self._max_bytes = max_bytes

    def __iter__(self) -> Iterator[bytes]:
        size = 0
        for chunk in self._inner:
            size += len(chunk)
            if size > self._max_bytes:
                raise TooLargeError("the answer is too large")
            yield chunk

    def close(self) -> None:
        self._inner.close()


@cache
def _tls() -> ssl.SSLContext:
    """Reading the certificates takes longer than a handshake, and they hold no secret."""
    return httpx2.create_ssl_context()

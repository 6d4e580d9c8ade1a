"""External analyzers behind HTTPS: each question is signed, so that whoever answers can tell who asks.

Invariants: nothing is sent unsigned, or to another address than the registered one; the key is read at every call and
kept nowhere; a call is over when its time is over, and its answer is at most as large as it may be.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from provenloop.adapters.outside_address import checked_address
from provenloop.domain.errors import LoopError
from provenloop.services.external_port import ExternalFailure

if TYPE_CHECKING:
    from provenloop.adapters.bounded_http import BoundedTransport

TIMESTAMP = "x-provenloop-timestamp"
SIGNATURE = "x-provenloop-signature"
ANALYZER = "x-provenloop-analyzer"
_OK = 200

#: Gives the key of an analyzer; None where there is none. May raise LoopError.
Key = Callable[[], str | None]


class HttpsAnalyzer:
    """Implements ``services.external_port.ExternalAnalyzer``.

    Args:
        analyzer: its id.
        address: where it is; HTTPS, or plain HTTP on this machine.
        key: gives what questions are signed with.
        now: gives epoch milliseconds.

    Raises:
        InternalError: the address is neither.
    """

    def __init__(self, analyzer: str, address: str, key: Key, now: Callable[[], int]) -> None:
        self._analyzer = analyzer
        self._address = checked_address(address, "an external analyzer")
        self._key = key
        self._now = now

    def ask(self, request: bytes, *, timeout_ms: int, max_bytes: int) -> bytes | ExternalFailure:
        """See ``ExternalAnalyzer``."""
        from provenloop.adapters.bounded_http import BoundedTransport, Deadline  # noqa: PLC0415 - takes long to import

        transport = BoundedTransport(Deadline(timeout_ms / 1000), max_bytes)
        try:
            # Reading the key takes of the time, too.
            with transport.deadline:
                key = self._current_key()
                if not key:
                    return ExternalFailure("no key")
                return self._post(transport, request, signed(key, self._analyzer, request, self._now() // 1000))
        except Exception as error:  # noqa: BLE001 - whatever goes wrong there, the caller goes on without it
            return _failure(error, timed_out=transport.deadline.is_over)

    def _current_key(self) -> str | None:
        try:
            return self._key()
        except LoopError:
            return None

    def _post(self, transport: BoundedTransport, request: bytes, headers: Mapping[str, str]) -> bytes | ExternalFailure:
        with _client(transport) as client:
            answer = client.post(self._address, content=request, headers=headers)
            content: bytes = answer.content
            if transport.deadline.is_over:
                # An answer without a length looks whole when its connection is cut.
                return ExternalFailure("timeout")
            return content if answer.status_code == _OK else ExternalFailure("failed")


def signed(key: str, analyzer: str, body: bytes, timestamp: int) -> dict[str, str]:
    """The headers of a question: when it was asked (unix seconds), of whom, and the proof that it was us."""
    proof = hmac.new(key.encode(), f"{timestamp}.{analyzer}.".encode() + body, sha256).hexdigest()
    return {
        "content-type": "application/json",
        "connection": "close",
        TIMESTAMP: str(timestamp),
        ANALYZER: analyzer,
        SIGNATURE: f"v1={proof}",
    }


def _client(transport: BoundedTransport) -> Any:
    import httpx2  # noqa: PLC0415 - takes long to import

    seconds = transport.deadline.seconds_left
    return httpx2.Client(transport=transport, follow_redirects=False, trust_env=False, timeout=seconds)


def _failure(error: Exception, *, timed_out: bool) -> ExternalFailure:
    import httpx2  # noqa: PLC0415 - takes long to import

    from provenloop.adapters.bounded_http import TooLargeError  # noqa: PLC0415 - takes long to import

    if isinstance(error, TooLargeError):
        return ExternalFailure("too_large")
    if timed_out or isinstance(error, httpx2.TimeoutException):
        return ExternalFailure("timeout")
    return ExternalFailure("unreachable" if isinstance(error, httpx2.ConnectError) else "failed")

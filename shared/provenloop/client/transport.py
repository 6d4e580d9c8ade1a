"""One request: sent, and sent again with the same Idempotency-Key where that can help.

Invariants: the bytes of a request and its key are the same however often it is sent; the token goes to the address that
was given and nowhere else (no redirect is followed, and plain HTTP is for this machine only), and stands in no message.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import httpx

from provenloop.client.errors import MISUSED, NOT_THE_SERVICE, UNREACHABLE, ProvenloopError

#: Statuses under which the same request may succeed later.
PASSING: Final = frozenset({429, 502, 503, 504})
MAX_WAIT_S: Final = 60.0
_FIRST_WAIT_S: Final = 0.2
_LONGEST_DETAIL: Final = 300
_TOKEN = re.compile(r"[\x21-\x7e]{1,8192}\Z")
_HERE: Final = frozenset({"127.0.0.1", "localhost", "::1"})


def random_key() -> str:
    """A key that no other request has: 128 bits."""
    return os.urandom(16).hex()


@dataclass(frozen=True, slots=True)
class Options:
    """How the client behaves.

    Attributes:
        timeout_s: how long one request may take, in seconds; a pass takes up to 25.
        attempts: how often a request is sent at most, the first time included.
        send_after_s: how long events wait for company before they are sent in the background, in seconds.
        max_waiting: how many events may wait.
        on_unsent: told of events that are given up, with the reason, from whatever thread finds it out; without it
            ``flush`` and ``close`` raise.
        sleep: waits so many seconds.
        clock: seconds that only go forward.
        new_key: makes Idempotency-Keys.
    """

    timeout_s: float = 30.0
    attempts: int = 4
    send_after_s: float = 1.0
    max_waiting: int = 10_000
    on_unsent: Callable[[Sequence[Mapping[str, Any]], ProvenloopError], None] | None = None
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    new_key: Callable[[], str] = random_key


@dataclass(frozen=True, slots=True)
class Asked:
    """A request. ``path`` begins with a slash and is escaped; ``key`` is None of a read."""

    method: str
    path: str
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    key: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


class Transport:
    """Sends requests to one address with one token. Threads may share it.

    Raises:
        ProvenloopError: the address or the token is none.
    """

    def __init__(self, url: str, token: str | None, options: Options) -> None:
        base = _base(url)
        if token is not None and not _TOKEN.match(token):
            raise ProvenloopError("a token is printable ASCII without blanks", code=MISUSED, field="token")
        is_here = base.host in _HERE
        if token is not None and base.scheme == "http" and not is_here:
            raise ProvenloopError("a token is sent over https only, but to this machine", code=MISUSED, field="url")
        self._options = options
        headers = {"accept": "application/json"} | ({} if token is None else {"authorization": f"Bearer {token}"})
        # A proxy of the environment is for what is elsewhere.
        self._http = httpx.Client(
            base_url=base, headers=headers, timeout=options.timeout_s, trust_env=not is_here, follow_redirects=False
        )

    def send(self, asked: Asked, attempts: int | None = None) -> httpx.Response:
        """The answer, of a request that succeeded.

        Raises:
            ProvenloopError: it was refused, or there was no answer after so many attempts.
        """
        request = self._request(asked)
        left = attempts or self._options.attempts
        wait_s = _FIRST_WAIT_S
        while True:
            left -= 1
            outcome = self._once(request)
            if isinstance(outcome, httpx.Response) and outcome.is_success:
                return outcome
            if left <= 0 or not _is_passing(outcome):
                raise _error_of(outcome)
            self._options.sleep(_asked_wait_s(outcome) or wait_s)
            wait_s *= 2

    def close(self) -> None:
        """Give the connections back."""
        self._http.close()

    def _request(self, asked: Asked) -> httpx.Request:
        headers = dict(asked.headers)
        content = None
        if asked.key is not None:
            headers["idempotency-key"] = asked.key
        if asked.body is not None:
            headers["content-type"] = "application/json"
            content = encoded(asked.body)
        query = {name: _text(value) for name, value in asked.query.items() if value is not None}
        return self._http.build_request(asked.method, asked.path, params=query, headers=headers, content=content)

    def _once(self, request: httpx.Request) -> httpx.Response | httpx.HTTPError:
        try:
            return self._http.send(request)
        except httpx.HTTPError as error:
            return error


def encoded(value: Mapping[str, Any]) -> bytes:
    """A JSON object as it is sent.

    Raises:
        TypeError, ValueError: it is no JSON.
    """
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8", "replace")


def _base(url: str) -> httpx.URL:
    try:
        base = httpx.URL(url.rstrip("/"))
    except httpx.InvalidURL as error:
        raise ProvenloopError(f"no address: {error}", code=MISUSED, field="url") from error
    if base.scheme not in ("http", "https") or not base.host:
        raise ProvenloopError("an address begins with https://", code=MISUSED, field="url")
    return base


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _is_passing(outcome: httpx.Response | httpx.HTTPError) -> bool:
    if isinstance(outcome, httpx.Response):
        return outcome.status_code in PASSING
    return isinstance(outcome, httpx.TransportError) and not isinstance(outcome, httpx.UnsupportedProtocol)


def _asked_wait_s(outcome: httpx.Response | httpx.HTTPError) -> float | None:
    """How long the service asks to be left alone, in seconds; a date instead of a number is not read."""
    told = outcome.headers.get("retry-after", "") if isinstance(outcome, httpx.Response) else ""
    return min(float(told), MAX_WAIT_S) if told.isascii() and told.isdigit() else None


def _error_of(outcome: httpx.Response | httpx.HTTPError) -> ProvenloopError:
    if not isinstance(outcome, httpx.Response):
        reason = str(outcome) or type(outcome).__name__
        return ProvenloopError(f"no answer came: {reason}", code=UNREACHABLE)
    told = _json_of(outcome)
    status = outcome.status_code
    if not isinstance(told.get("code"), str):
        detail = str(told.get("message") or outcome.reason_phrase or "no problem details")[:_LONGEST_DETAIL]
        return ProvenloopError(f"status {status}: {detail}", code=NOT_THE_SERVICE, status=status)
    detail = str(told.get("detail") or told.get("title") or "refused")
    return ProvenloopError(detail, code=told["code"], status=status, field=told.get("field"))


def _json_of(answer: httpx.Response) -> Mapping[str, Any]:
    try:
        told = answer.json()
    except ValueError:
        return {}
    return told if isinstance(told, Mapping) else {}

"""The HTTP API in front of the functions: a request finds its route, the function's answer becomes the response.

Invariants, as API Gateway has them: a function error or a malformed answer is a 500 that tells nothing; a request over
10 MB, or over 6 MB as an event, is a 413; an answer after more than 30 seconds is a 503; an answer without a status is
a body on its own.
"""

from __future__ import annotations

import base64
import binascii
import itertools
import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from provenloop.entry.local.functions import Invocation
from provenloop.entry.local.http_event import HttpRequest, http_event
from provenloop.entry.local.routing import Router

PAYLOAD_LIMIT_BYTES = 10_485_760
TIMEOUT_S = 30

_JSON_TYPE = "application/json"
_TEXT_TYPE = "text/plain; charset=utf-8"
_EVENT_TOO_LARGE = "RequestEntityTooLargeException"

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """What the client gets."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode()

    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)

    def header(self, name: str) -> str | None:
        """The first header of that name, in any case."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)


class MalformedAnswerError(ValueError):
    """A function's answer is not one that API Gateway can turn into a response."""


class Gateway:
    """Routes requests to functions.

    Args:
        router: the routes.
        invoke: runs the function with that logical id on an event.
        now_ms: the clock that events tell.
    """

    def __init__(self, router: Router, invoke: Callable[[str, Any], Invocation], now_ms: Callable[[], int]) -> None:
        self._router = router
        self._invoke = invoke
        self._now_ms = now_ms
        self._numbers = itertools.count(1)

    def restart_ids(self) -> None:
        """Begin again at the first request id."""
        self._numbers = itertools.count(1)

    def handle(self, request: HttpRequest) -> HttpResponse:
        """The response to a request; never raises for what a client or a function did."""
        request_id = f"local-{next(self._numbers):08d}"
        response = self._respond(request, request_id)
        return HttpResponse(response.status, (*response.headers, ("apigw-requestid", request_id)), response.body)

    def _respond(self, request: HttpRequest, request_id: str) -> HttpResponse:
        if len(request.body) > PAYLOAD_LIMIT_BYTES:
            return message(413, "Request Entity Too Large")
        match = self._router.match(request.method, request.path)
        if match is None:
            return message(404, "Not Found")
        event = http_event(request, match, request_id=request_id, now_ms=self._now_ms())
        outcome = self._invoke(match.route.function, event)
        if outcome.elapsed_s > TIMEOUT_S:
            return message(503, "Service Unavailable")
        if outcome.error_type == _EVENT_TOO_LARGE:
            return message(413, "Request Entity Too Large")
        if outcome.failed:
            return message(500, "Internal Server Error")
        try:
            return http_response(outcome.payload)
        except MalformedAnswerError as error:
            _logger.error("%s: malformed answer: %s", match.route.function, error)  # noqa: TRY400 - no trace to show
            return message(500, "Internal Server Error")


def message(status: int, text: str) -> HttpResponse:
    """A response of the gateway's own."""
    return HttpResponse(status, (("content-type", _JSON_TYPE),), json.dumps({"message": text}).encode())


def http_response(answer: Any) -> HttpResponse:
    """The response that a function's answer stands for.

    Raises:
        MalformedAnswerError: it has a status but is otherwise not of the form of payload format 2.0.
    """
    if not isinstance(answer, Mapping) or "statusCode" not in answer:
        body = answer if isinstance(answer, str) else json.dumps(answer)
        return HttpResponse(200, (("content-type", _JSON_TYPE),), _encoded(body, "utf-8", "the answer"))
    headers = _answer_headers(answer.get("headers") or {})
    if not any(name.lower() == "content-type" for name, _ in headers):
        headers.append(("content-type", _TEXT_TYPE))
    cookies = answer.get("cookies") or []
    if not isinstance(cookies, list):
        raise MalformedAnswerError("cookies is not a list")
    headers.extend(("set-cookie", _one_line(cookie, "a cookie")) for cookie in cookies)
    return HttpResponse(_status(answer["statusCode"]), tuple(headers), _answer_body(answer))


def _status(value: Any) -> int:
    text = str(value)
    if isinstance(value, bool) or not (text.isascii() and text.isdigit()) or not 100 <= int(text) <= 599:
        raise MalformedAnswerError("statusCode is not a status")
    return int(text)


def _answer_headers(headers: Any) -> list[tuple[str, str]]:
    if not isinstance(headers, Mapping):
        raise MalformedAnswerError("headers is not a mapping")
    # The gateway measures the body itself.
    return [(name, _one_line(value, name)) for name, value in headers.items() if name.lower() != "content-length"]


def _one_line(value: Any, name: str) -> str:
    if not isinstance(value, str | int | float):
        raise MalformedAnswerError(f"{name} is not a text")
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if not text.isprintable():
        raise MalformedAnswerError(f"{name} is more than one line")
    _encoded(text, "latin-1", name)
    return text


def _encoded(text: str, encoding: str, name: str) -> bytes:
    try:
        return text.encode(encoding)
    except UnicodeEncodeError:
        raise MalformedAnswerError(f"{name} holds characters that cannot be sent") from None


def _answer_body(answer: Mapping[str, Any]) -> bytes:
    body = answer.get("body")
    if body is None:
        return b""
    if not isinstance(body, str):
        raise MalformedAnswerError("body is not a text")
    if not answer.get("isBase64Encoded"):
        return _encoded(body, "utf-8", "body")
    try:
        return base64.b64decode(body, validate=True)
    except binascii.Error:
        raise MalformedAnswerError("body is not base64") from None

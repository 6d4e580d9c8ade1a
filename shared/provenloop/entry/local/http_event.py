"""Requests as events: payload format 2.0, the way an HTTP API sends it to a function.

Invariants: the path and what its variables stand for are decoded, the query string is not; header names are in lower
case, repeated headers and parameters joined by commas, cookies apart; a body that is not text travels in base64; where
there is nothing to say (no query, no variables, no cookies, no body) the key is absent.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl, unquote

from provenloop.entry.local.account import ACCOUNT
from provenloop.entry.local.naming import API_ID
from provenloop.entry.local.routing import Match

STAGE = "$default"

_TEXT_TYPES = frozenset({"application/json", "application/javascript", "application/xml"})
_TEXT_SUFFIXES = ("+json", "+xml")
_MS_PER_S = 1_000


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request as it came over the wire: ``path`` and ``query`` still encoded, headers in order, repeated ones too."""

    method: str
    path: str
    query: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    source_ip: str = "127.0.0.1"


def http_event(request: HttpRequest, match: Match, *, request_id: str, now_ms: int) -> dict[str, Any]:
    """The event for a request that ``match`` takes.

    Args:
        request: the request.
        match: the route and its variables.
        request_id: the gateway's id of the request.
        now_ms: epoch ms, told as the time of the request.
    """
    headers = _headers(request)
    body, is_base64 = _body(request.body, headers)
    event = {
        "version": "2.0",
        "routeKey": match.route.key,
        "rawPath": unquote(request.path),
        "rawQueryString": request.query,
        "cookies": _cookies(request),
        "headers": headers,
        "queryStringParameters": _joined(parse_qsl(request.query, keep_blank_values=True)),
        "requestContext": _context(request, match, request_id=request_id, now_ms=now_ms),
        "pathParameters": dict(match.variables),
        "body": body,
    }
    always = ("rawQueryString", "headers")
    said = {name: value for name, value in event.items() if value or name in always}
    return {**said, "isBase64Encoded": is_base64}


def _headers(request: HttpRequest) -> dict[str, str]:
    given = _joined((name.lower(), value) for name, value in request.headers if name.lower() != "cookie")
    forwarded = given.get("x-forwarded-for")
    return {
        **given,
        "x-forwarded-for": f"{forwarded}, {request.source_ip}" if forwarded else request.source_ip,
        "x-forwarded-port": "443",
        "x-forwarded-proto": "https",
    }


def _cookies(request: HttpRequest) -> list[str]:
    lines = (value for name, value in request.headers if name.lower() == "cookie")
    return [part.strip() for line in lines for part in line.split(";") if part.strip()]


def _joined(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    joined: dict[str, str] = {}
    for name, value in pairs:
        joined[name] = f"{joined[name]},{value}" if name in joined else value
    return joined


def _body(body: bytes, headers: Mapping[str, str]) -> tuple[str | None, bool]:
    """(the body as the event holds it, whether that is base64)."""
    if not body:
        return None, False
    if _is_text(headers):
        try:
            return body.decode(), False
        except UnicodeDecodeError:
            pass
    return base64.b64encode(body).decode(), True


def _is_text(headers: Mapping[str, str]) -> bool:
    if headers.get("content-encoding", "identity").lower() != "identity":
        return False
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    return not kind or kind in _TEXT_TYPES or kind.startswith("text/") or kind.endswith(_TEXT_SUFFIXES)


def _context(request: HttpRequest, match: Match, *, request_id: str, now_ms: int) -> dict[str, Any]:
    host = next((value for name, value in request.headers if name.lower() == "host"), "localhost").partition(":")[0]
    agent = next((value for name, value in request.headers if name.lower() == "user-agent"), "")
    return {
        "accountId": ACCOUNT,
        "apiId": API_ID,
        "domainName": host,
        "domainPrefix": host.partition(".")[0],
        "http": {
            "method": request.method,
            "path": unquote(request.path),
            "protocol": "HTTP/1.1",
            "sourceIp": request.source_ip,
            "userAgent": agent,
        },
        "requestId": request_id,
        "routeKey": match.route.key,
        "stage": STAGE,
        "time": datetime.fromtimestamp(now_ms / _MS_PER_S, UTC).strftime("%d/%b/%Y:%H:%M:%S +0000"),
        "timeEpoch": now_ms,
    }

"""The local stack's own endpoints, under ``/_local``: its clock and its tick. No deployed function has them.

``GET /_local/clock`` tells the time. ``POST /_local/clock {"now": ...}`` sets it, to RFC 3339 text with an offset or to
epoch milliseconds, later or earlier; null lets it go with the wall clock again. ``POST /_local/tick`` fires the
schedules that are due and delivers what the queues hold.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from provenloop.domain.instants import InstantError, format_instant, parse_instant
from provenloop.entry.local.gateway import HttpResponse, message
from provenloop.entry.local.stack import LocalStack

CONTROL_PREFIX = "/_local/"


def control(stack: LocalStack, method: str, path: str, body: bytes) -> HttpResponse:
    """The answer to a request under ``/_local``."""
    match (method, path.removeprefix(CONTROL_PREFIX)):
        case ("GET", "clock"):
            return _json(_clock(stack))
        case ("POST", "clock"):
            return _set_clock(stack, body)
        case ("POST", "tick"):
            return _json(asdict(stack.tick()))
        case _:
            return message(404, "Not Found")


def _clock(stack: LocalStack) -> dict[str, Any]:
    now = stack.now_ms()
    return {"now": now, "text": format_instant(now), "set": stack.clock_is_set}


def _set_clock(stack: LocalStack, body: bytes) -> HttpResponse:
    try:
        wanted = json.loads(body)
    except ValueError:
        wanted = None
    if not isinstance(wanted, dict) or wanted.keys() != {"now"}:
        return message(400, 'Send {"now": <RFC 3339 text, epoch milliseconds or null>}')
    now = wanted["now"]
    try:
        stack.set_clock(None if now is None else parse_instant(now, "now"))
    except InstantError as error:
        return message(400, str(error))
    return _json(_clock(stack))


def _json(value: Any) -> HttpResponse:
    return HttpResponse(200, (("content-type", "application/json"),), json.dumps(value).encode())

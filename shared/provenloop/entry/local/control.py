"""The local stack's own endpoints, under ``/_local``: its clock and its tick. No deployed function has them.

``GET /_local/clock`` tells the time. ``POST /_local/clock {"now": ...}`` sets it, to RFC 3339 text with an offset or to
epoch milliseconds, later or earlier; null lets it go with the wall clock again. ``POST /_local/tick`` fires the
schedules that are due and delivers what the queues hold.

What comes without HTTP in AWS has doors here: ``POST /_local/events {"source": ..., "detail": {...}}`` puts an event
``AgentEvents`` on the bus, ``PUT /_local/inbox/<source>/<memory>/<file>`` puts a file into the inbox, and
``GET /_local/reports/<source>/<memory>/<file>.report.json`` reads the report that lies beside it after a tick.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any
from urllib.parse import unquote

from provenloop.domain.instants import InstantError, format_instant, parse_instant
from provenloop.entry.local.doors import put_agent_events, put_file, read_report
from provenloop.entry.local.gateway import HttpResponse, message
from provenloop.entry.local.stack import LocalStack

CONTROL_PREFIX = "/_local/"
_INBOX = "inbox/"
_REPORTS = "reports/"
_AS_JSON = (("content-type", "application/json"),)


def control(stack: LocalStack, method: str, path: str, body: bytes) -> HttpResponse:
    """The answer to a request under ``/_local``."""
    match (method, path.removeprefix(CONTROL_PREFIX)):
        case ("GET", "clock"):
            return _json(_clock(stack))
        case ("POST", "clock"):
            return _set_clock(stack, body)
        case ("POST", "tick"):
            return _json(asdict(stack.tick()))
        case ("POST", "events"):
            return _put_events(stack, body)
        case ("PUT", name) if name.startswith(_INBOX):
            return _done(put_file(stack.aws, unquote(name.removeprefix(_INBOX)), body))
        case ("GET", name) if name.startswith(_REPORTS):
            found = read_report(stack.aws, unquote(name.removeprefix(_REPORTS)))
            return _not_found() if found is None else HttpResponse(200, _AS_JSON, found)
        case _:
            return _not_found()


def _put_events(stack: LocalStack, body: bytes) -> HttpResponse:
    wanted = _object_of(body)
    match wanted:
        case {"source": str(source), "detail": dict(detail)} if len(wanted) == 2:
            return _done(put_agent_events(stack.aws, source, detail))
        case _:
            return message(400, 'Send {"source": <name of a source>, "detail": {"events": [...], ...}}')


def _done(was_put: bool) -> HttpResponse:  # noqa: FBT001 - what a door says of itself
    return _json({"put": True}) if was_put else _not_found()


def _not_found() -> HttpResponse:
    return message(404, "Not Found")


def _object_of(body: bytes) -> dict[str, Any]:
    """The JSON object that was sent; an empty one where it is none."""
    try:
        wanted = json.loads(body)
    except ValueError:
        return {}
    return wanted if isinstance(wanted, dict) else {}


def _clock(stack: LocalStack) -> dict[str, Any]:
    now = stack.now_ms()
    return {"now": now, "text": format_instant(now), "set": stack.clock_is_set}


def _set_clock(stack: LocalStack, body: bytes) -> HttpResponse:
    wanted = _object_of(body)
    if wanted.keys() != {"now"}:
        return message(400, 'Send {"now": <RFC 3339 text, epoch milliseconds or null>}')
    now = wanted["now"]
    try:
        stack.set_clock(None if now is None else parse_instant(now, "now"))
    except InstantError as error:
        return message(400, str(error))
    return _json(_clock(stack))


def _json(value: Any) -> HttpResponse:
    return HttpResponse(200, _AS_JSON, json.dumps(value).encode())

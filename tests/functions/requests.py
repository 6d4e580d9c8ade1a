"""HTTP API events for the operations of the table, and the functions that answer them."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from provenloop.entry.operations import OPERATIONS, Operation

ROOT = Path(__file__).parents[2]
ADMIN = "local-admin-token"
NOW = 1_800_000_000_000
ADDRESS = "0123456789abcdef" * 4
MEMORY = {"memory": "support"}
RECOMMENDATION = {**MEMORY, "id": "aaaa"}
FACT: dict[str, Any] = {"kind": "fact", "subject": "s", "relation": "r", "object": "o"}
CALL: dict[str, Any] = {"kind": "tool_call", "tool": "t", "is_error": False}
NOTE: dict[str, Any] = {"kind": "observation", "text": "x"}
SKILL: dict[str, Any] = {"kind": "skill", "name": "n"}
GOAL: dict[str, Any] = {"kind": "goal", "name": "n"}
EVENT: dict[str, Any] = {"kind": "event", "body": {"a": 1}}

Handler = Callable[[dict[str, Any], object], dict[str, Any]]


@cache
def function(name: str) -> Handler:
    """The ``lambda_handler`` of one function, loaded from its folder."""
    spec = importlib.util.spec_from_file_location(f"functions_{name}", ROOT / "functions" / name / "app.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    handler: Handler = module.lambda_handler
    return handler


def sample(name: str) -> dict[str, Any]:
    """A payload of ``events/``."""
    event: dict[str, Any] = json.loads((ROOT / "events" / f"{name}.json").read_text(encoding="utf-8"))
    return event


def operation(name: str) -> Operation:
    """An operation by its name."""
    return next(known for known in OPERATIONS if known.name == name)


def http_event(
    name: str,
    *,
    path: Mapping[str, str] | None = None,
    body: str | None = None,
    token: str | None = ADMIN,
    headers: Mapping[str, str] | None = None,
    query: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The event of one operation. ``body`` is the text that was sent; ``headers`` replace the usual ones."""
    known = operation(name)
    sent = {"content-type": "application/json", **(headers or {})}
    if token is not None:
        sent["authorization"] = f"Bearer {token}"
    event: dict[str, Any] = {
        "version": "2.0",
        "routeKey": known.route_key,
        "rawPath": known.path,
        "rawQueryString": "",
        "headers": sent,
        "requestContext": {"requestId": "request-1", "http": {"method": known.method, "path": known.path}},
        "isBase64Encoded": False,
    }
    if path:
        event["pathParameters"] = dict(path)
    if query:
        event["queryStringParameters"] = dict(query)
    return event if body is None else {**event, "body": body}


def call(event: dict[str, Any]) -> tuple[int, dict[str, Any], dict[str, str]]:
    """(status, JSON body, headers) of the function that serves the event's route."""
    served = next((known for known in OPERATIONS if known.route_key == event["routeKey"]), None)
    answer = function(served.function if served else "loop_api")(event, None)
    return answer["statusCode"], json.loads(answer["body"]), answer["headers"]


def ingest(body: str) -> dict[str, Any]:
    """The event of a batch."""
    return http_event("record_events", path=MEMORY, body=body)


def batch(*events: object) -> str:
    """The body of a batch."""
    return json.dumps({"events": list(events)})


def refusal(event: dict[str, Any]) -> tuple[int, str | None]:
    """(status, field) of a refusal that is problem details in every respect."""
    status, problem, headers = call(event)
    assert headers["content-type"] == "application/problem+json"
    assert problem["status"] == status
    assert problem["code"] == ("PVL-E012" if status == 413 else "PVL-E011")
    assert problem["detail"]
    return status, problem.get("field")

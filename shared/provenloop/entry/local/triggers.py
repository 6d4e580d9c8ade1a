"""The template's functions and what starts them, as typed views: routes, queues, schedules.

Invariants: environment, timeout and memory are what Lambda would get, SAM's globals included; an event of a kind that
the local stack cannot deliver is listed by ``undelivered``; switched-off triggers are left out; schedules that are not
rates are errors, since a clock that steps cannot honour them by halves.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from provenloop.domain.instants import DAY_MS, HOUR_MS, MINUTE_MS
from provenloop.entry.local.intrinsics import TemplateError, text_of
from provenloop.entry.local.template import Resource, Template

FUNCTION = "AWS::Serverless::Function"
HTTP_API = "AWS::Serverless::HttpApi"
DEFAULT_ROUTE = "$default"
ANY_METHOD = "ANY"

_RATE = re.compile(r"rate\(([1-9][0-9]*) (minute|hour|day)(s?)\)")
_UNIT_MS = {"minute": MINUTE_MS, "hour": HOUR_MS, "day": DAY_MS}
_ANY_METHODS = frozenset({"ANY", "X-AMAZON-APIGATEWAY-ANY-METHOD"})
_DEFAULT_TIMEOUT_S = 3
_DEFAULT_MEMORY_MB = 128
_DEFAULT_RETRIES = 2
#: Properties of an HTTP API that would change what a request meets.
_API_BEHAVIOUR = frozenset({"Auth", "CorsConfiguration", "DefinitionBody", "DefinitionUri", "StageName"})
_DELIVERED = frozenset({"EventBridgeRule", "HttpApi", "SQS", "Schedule", "ScheduleV2"})


@dataclass(frozen=True, slots=True)
class Function:
    """A Lambda function.

    Attributes:
        folder: the folder with its code.
        module, handler: ``app`` and ``lambda_handler`` of ``app.lambda_handler``.
        retries: how often a failed asynchronous invocation is tried again.
        failure_arn: where an asynchronous invocation goes that failed for good, None for nowhere.
    """

    logical_id: str
    name: str
    arn: str
    folder: Path
    module: str
    handler: str
    timeout_s: int
    memory_mb: int
    environment: Mapping[str, str]
    retries: int
    failure_arn: str | None


@dataclass(frozen=True, slots=True)
class Route:
    """A route of the HTTP API; ``path`` is ``$default`` for the route that takes the rest."""

    function: str
    method: str
    path: str

    @property
    def key(self) -> str:
        """The route key as API Gateway writes it."""
        return DEFAULT_ROUTE if self.path == DEFAULT_ROUTE else f"{self.method} {self.path}"


@dataclass(frozen=True, slots=True)
class QueueSource:
    """A queue whose messages a function gets in batches."""

    function: str
    queue_arn: str
    batch_size: int
    reports_item_failures: bool


@dataclass(frozen=True, slots=True)
class Schedule:
    """A rate at which a function is invoked. ``event`` is the fixed event, None for the scheduler's own."""

    function: str
    name: str
    every_ms: int
    event: Any
    is_rule: bool


@dataclass(frozen=True, slots=True)
class BusRule:
    """Events of a bus that a function is invoked with; ``queue_name`` holds them until they are delivered."""

    function: str
    name: str
    bus: str
    pattern: Mapping[str, Any]
    queue_name: str


def functions(template: Template) -> tuple[Function, ...]:
    """The template's functions."""
    return tuple(_function(resource) for resource in template.of_kind(FUNCTION))


def routes(template: Template) -> tuple[Route, ...]:
    """The routes of all functions."""
    for api in template.of_kind(HTTP_API):
        changed = sorted(_API_BEHAVIOUR & api.raw.keys())
        if changed:
            raise TemplateError(f"{api.logical_id}: {changed[0]} is not supported")
    return tuple(_route(logical_id, body) for logical_id, _, body in _events(template, "HttpApi"))


def queue_sources(template: Template) -> tuple[QueueSource, ...]:
    """The queues that feed functions."""
    return tuple(
        _queue_source(logical_id, body) for logical_id, _, body in _events(template, "SQS") if body.get("Enabled", True)
    )


def schedules(template: Template) -> tuple[Schedule, ...]:
    """The schedules of all functions."""
    rules = [_schedule(*event, is_rule=True) for event in _events(template, "Schedule")]
    scheduled = [_schedule(*event, is_rule=False) for event in _events(template, "ScheduleV2")]
    return tuple(schedule for schedule in (*rules, *scheduled) if schedule is not None)


def bus_rules(template: Template) -> tuple[BusRule, ...]:
    """What functions hear of the template's buses."""
    return tuple(
        BusRule(logical_id, name, body["EventBusName"], body["Pattern"], f"{template.stack_name}-{logical_id}-{name}")
        for logical_id, name, body in _events(template, "EventBridgeRule")
        if body.get("State", "ENABLED") == "ENABLED"
    )


def undelivered(template: Template) -> tuple[str, ...]:
    """Events of functions that the local stack cannot deliver, as ``<function>.<event> (<type>)``."""
    return tuple(
        f"{resource.logical_id}.{name} ({body['Type']})"
        for resource in template.of_kind(FUNCTION)
        for name, body in resource.raw.get("Events", {}).items()
        if body["Type"] not in _DELIVERED
    )


def _function(resource: Resource) -> Function:
    module, _, handler = str(resource.need("Handler")).rpartition(".")
    asynchronous = resource.get("EventInvokeConfig", {})
    variables = resource.get("Environment", {}).get("Variables", {})
    return Function(
        logical_id=resource.logical_id,
        name=resource.template.ref(resource.logical_id),
        arn=resource.template.attribute(resource.logical_id, "Arn"),
        folder=resource.template.folder / str(resource.need("CodeUri")),
        module=module,
        handler=handler,
        timeout_s=int(resource.get("Timeout", _DEFAULT_TIMEOUT_S)),
        memory_mb=int(resource.get("MemorySize", _DEFAULT_MEMORY_MB)),
        environment={name: text_of(value) for name, value in variables.items()},
        retries=int(asynchronous.get("MaximumRetryAttempts", _DEFAULT_RETRIES)),
        failure_arn=asynchronous.get("DestinationConfig", {}).get("OnFailure", {}).get("Destination"),
    )


def _events(template: Template, kind: str) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """(logical id of the function, name of the event, its evaluated properties) for each event of one kind."""
    for resource in template.of_kind(FUNCTION):
        for name, body in resource.raw.get("Events", {}).items():
            if body["Type"] == kind:
                yield resource.logical_id, name, template.resolve(body.get("Properties", {}))


def _route(logical_id: str, body: Mapping[str, Any]) -> Route:
    path = body.get("Path", DEFAULT_ROUTE)
    if path == DEFAULT_ROUTE:
        return Route(logical_id, ANY_METHOD, DEFAULT_ROUTE)
    method = str(body["Method"]).upper()
    return Route(logical_id, ANY_METHOD if method in _ANY_METHODS else method, path)


def _queue_source(logical_id: str, body: Mapping[str, Any]) -> QueueSource:
    if "FilterCriteria" in body:
        raise TemplateError(f"{logical_id}: filters on queue events are not supported")
    return QueueSource(
        function=logical_id,
        queue_arn=body["Queue"],
        batch_size=int(body.get("BatchSize", 10)),
        reports_item_failures="ReportBatchItemFailures" in body.get("FunctionResponseTypes", ()),
    )


def _schedule(logical_id: str, name: str, body: Mapping[str, Any], *, is_rule: bool) -> Schedule | None:
    if not body.get("Enabled", True) or body.get("State", "ENABLED") == "DISABLED":
        return None
    return Schedule(
        function=logical_id,
        name=name,
        every_ms=_rate_ms(body["Schedule" if is_rule else "ScheduleExpression"], f"{logical_id}.{name}"),
        event=json.loads(body["Input"]) if "Input" in body else None,
        is_rule=is_rule,
    )


def _rate_ms(expression: str, where: str) -> int:
    match = _RATE.fullmatch(expression)
    if match is None or (match[1] == "1") == bool(match[3]):
        raise TemplateError(f"{where}: {expression!r} is not a rate, such as rate(5 minutes)")
    return int(match[1]) * _UNIT_MS[match[2]]

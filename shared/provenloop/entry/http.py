"""HTTP API events (payload format 2.0) in, answers out: one application a function.

The gateway has matched the path already and says which route it took and what stood in its place holders. So requests
are told apart by ``routeKey``, not by matching the path again: a decoded path can hold whatever a subject is called,
and whatever no route takes comes as ``$default``.

Invariants: every answer is JSON, every refusal is problem details; nothing that came up inside is told outside; one
log line a request, without payload.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from provenloop.domain.errors import LoopError, NotFoundError
from provenloop.entry.operations import Operation, operations_of
from provenloop.entry.problems import problem_reply, status_of, unexpected_reply
from provenloop.entry.publishing import publish_committed
from provenloop.entry.reply import Reply, too_large
from provenloop.entry.request import Request, identify, read_request, request_id_of
from provenloop.entry.telemetry import log_answer, log_error
from provenloop.entry.wiring import wiring

Handler = Callable[[Request], Reply]
Event = Mapping[str, Any]
Context = dict[str, str | None]

_NO_ROUTE = "no_route"
_OURS = 500


class Route(NamedTuple):
    """An operation and what answers it."""

    operation: Operation
    handler: Handler


class HttpApp:
    """Answers the HTTP requests of one function. Holds no state of a request."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self._routes = {route.operation.route_key: route for route in routes}

    def __call__(self, event: Event, context: object) -> dict[str, Any]:
        """One request's answer, in the form the gateway takes; never raises."""
        route = self._routes.get(str(event.get("routeKey")))
        name = route.operation.name if route else _NO_ROUTE
        # Filled in as soon as it is known, so that refused requests are logged with their tenant too.
        about: Context = {"correlation_id": request_id_of(event)}
        try:
            reply = _fitting(_answer(route, event, context, about))
        except LoopError as error:
            reply = problem_reply(error)
            about["code"] = error.code
            if status_of(type(error)) >= _OURS:
                log_error(name, error, detail=error.message, **about)
        except Exception as error:  # noqa: BLE001 - the last net: whatever it is, the caller gets an answer and no detail
            reply = unexpected_reply()
            log_error(name, error, **about)
        log_answer(name, reply, **about)
        return reply.to_gateway()


def _fitting(reply: Reply) -> Reply:
    if not reply.fits():
        raise too_large()
    return reply


def build_app(function: str) -> HttpApp:
    """The application of one function: its operations, each with the handler of the same name.

    Raises:
        AttributeError: an operation has no handler; told when the function is loaded.
    """
    handlers = importlib.import_module(f"provenloop.entry.handlers.{function}")
    return HttpApp(Route(operation, getattr(handlers, operation.name)) for operation in operations_of(function))


def _answer(route: Route | None, event: Event, context: object, about: Context) -> Reply:
    if route is None:
        raise NotFoundError("there is nothing at this path and method")
    current = wiring()
    target = identify(event, route.operation, current)
    about["tenant"] = target.principal.tenant if target.principal else None
    about["memory"] = target.path.memory
    try:
        return route.handler(replace(read_request(event, route.operation, current, target), context=context))
    finally:
        publish_committed(current)

"""A call of a tool as the HTTP request that it stands for, and that request's answer as the result of the tool."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from provenloop.domain.errors import InternalError, InvalidInputError, LoopError, UnavailableError
from provenloop.entry.mcp.tools import ACTION, KEY, ToolKind, arguments_of, path_variables, tools
from provenloop.entry.operations import Operation
from provenloop.entry.problems import problem_reply, status_of
from provenloop.entry.reply import json_text
from provenloop.entry.request import request_id_of, require_key
from provenloop.entry.telemetry import log_error
from provenloop.entry.time_left import CountsDown

if TYPE_CHECKING:
    from provenloop.domain.principal import Principal
    from provenloop.entry.wiring import Wiring

_OK = range(200, 300)
_OURS = 500
_HANDED_ON = ("authorization", "x-model-key")
#: How long another function may take: of what is left to this one, all but what connecting and answering need.
_AT_MOST_S = 25
_RESERVE_S = 3
_STEP_S = 5


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call: of which tool, with what, by whom, and the event that it came in. ``context`` is Lambda's."""

    tool: ToolKind
    arguments: Mapping[str, Any]
    event: Mapping[str, Any]
    principal: Principal
    context: object = None

    @property
    def seconds(self) -> int:
        """How many seconds another function may take, in steps; 0 where it is too late to ask."""
        if not isinstance(self.context, CountsDown):
            return _AT_MOST_S
        left = self.context.get_remaining_time_in_millis() // 1_000 - _RESERVE_S
        return max(0, min(_AT_MOST_S, left // _STEP_S * _STEP_S))


def call_tool(call: ToolCall, current: Wiring) -> dict[str, Any]:
    """The result of a call; one that failed says so, with the problem document that HTTP would have answered with."""
    try:
        return _ask(call, current)
    except LoopError as error:
        if status_of(type(error)) >= _OURS:
            log_error(call.tool.name, error, detail=error.message, correlation_id=request_id_of(call.event))
        return failed_result(error)


def failed_result(error: LoopError) -> dict[str, Any]:
    """The result of a call that ended in this error."""
    return _result(json.loads(problem_reply(error).text), failed=True)


def _ask(call: ToolCall, current: Wiring) -> dict[str, Any]:
    operation = _operation(call)
    arguments = {
        name: value for name, value in call.arguments.items() if not (name == ACTION and _has_actions(call.tool))
    }
    found, failed = _answer(operation, arguments, call, current, call.seconds)
    if operation.name == "run_pass" and not failed:
        return _result(_with_pending(found, call, arguments, current), failed=False)
    return _result(found, failed=failed)


def _has_actions(tool: ToolKind) -> bool:
    return None not in tool.operations


def _with_pending(run: Any, call: ToolCall, arguments: Mapping[str, Any], current: Wiring) -> dict[str, Any]:
    """The run, and what waits for review as far as the token may read it and there is time: a run is told anyway."""
    queue = tools()["recommendations"].operations["list"]
    if not all(call.principal.has(scope) for scope in queue.scopes):
        return {"run": run}
    try:
        pending, failed = _answer(queue, {"memory": arguments["memory"]}, call, current, min(call.seconds, _STEP_S))
    except LoopError as error:
        log_error(call.tool.name, error, detail=error.message, correlation_id=request_id_of(call.event))
        return {"run": run}
    return {"run": run} if failed else {"run": run, "pending": pending["recommendations"]}


def _operation(call: ToolCall) -> Operation:
    operations = call.tool.operations
    if not _has_actions(call.tool):
        return operations[None]
    action = call.arguments.get(ACTION)
    if not isinstance(action, str) or action not in operations:
        raise InvalidInputError(f"must be one of {', '.join(map(str, operations))}", field=ACTION)
    return operations[action]


def _answer(
    operation: Operation, arguments: Mapping[str, Any], call: ToolCall, current: Wiring, seconds: int
) -> tuple[Any, bool]:
    """(the answer of the function that serves the operation, whether it is a refusal)."""
    asked = request_event(operation, arguments, call.event)
    if not seconds:
        raise UnavailableError("there is no time left for it; nothing was done")
    answer = current.functions.ask(operation.function, asked, at_most_s=seconds)
    try:
        return json.loads(answer["body"]), answer["statusCode"] not in _OK
    except (KeyError, TypeError, ValueError):
        raise InternalError("a function gave no answer of the gateway's form") from None


def request_event(operation: Operation, arguments: Mapping[str, Any], event: Mapping[str, Any]) -> dict[str, Any]:
    """The event that the gateway would have made of the same request.

    Raises:
        InvalidInputError: an argument has no place in a request; what has one is checked by whoever serves it.
    """
    rest = dict(arguments)
    path = {name: _text(rest.pop(name, None), name) for name in path_variables(operation)}
    headers = {name: value for name, value in _sent(event).items() if name in _HANDED_ON}
    key = rest.pop(KEY, None) if operation.method != "GET" else None
    if key is not None:
        headers["idempotency-key"] = require_key(_text(key, KEY), KEY)
    made: dict[str, Any] = {
        "version": "2.0",
        "routeKey": operation.route_key,
        "headers": headers,
        "requestContext": {"requestId": request_id_of(event)},
        # A gateway leaves this one escape in a path for the function to read.
        "pathParameters": {name: value.replace("%", "%25") for name, value in path.items()},
        "isBase64Encoded": False,
    }
    if operation.body is not None:
        headers["content-type"] = "application/json"
        return {**made, "body": json_text(rest)}
    return {**made, "queryStringParameters": _query(operation, rest)}


def _query(operation: Operation, arguments: Mapping[str, Any]) -> dict[str, str]:
    """A query holds text only, so what is no text is checked here and written as one."""
    schemas = arguments_of(operation)[0]
    query = {}
    for name, value in arguments.items():
        kinds = _kinds(schemas.get(name, {"type": "string"}))
        if value is None and "null" in kinds:
            continue
        if isinstance(value, str) and "string" in kinds:
            query[name] = value
        elif isinstance(value, int) and not isinstance(value, bool) and "integer" in kinds:
            query[name] = str(value)
        else:
            wanted = "a whole number" if "integer" in kinds else "a string"
            raise InvalidInputError(f"must be {wanted}", field=name[:64])
    return query


def _kinds(schema: Mapping[str, Any]) -> set[str]:
    """The JSON types that a schema allows; texts of a fixed choice are texts."""
    if "anyOf" in schema:
        return {kind for each in schema["anyOf"] for kind in _kinds(each)}
    return {schema.get("type", "string")}


def _text(value: object, name: str) -> str:
    if isinstance(value, str) and value:
        return value
    raise InvalidInputError(
        "this field is needed" if value is None else "must be a string that is not empty", field=name
    )


def _sent(event: Mapping[str, Any]) -> Mapping[str, str]:
    headers: Mapping[str, str] = event.get("headers") or {}
    return headers


def _result(answer: Mapping[str, Any], *, failed: bool) -> dict[str, Any]:
    """The answer as data, and the same as the text of a JSON document: nothing in it stands outside of its quotes."""
    text = {"type": "text", "text": json_text(answer)}
    return {"content": [text], "structuredContent": answer, "isError": failed}

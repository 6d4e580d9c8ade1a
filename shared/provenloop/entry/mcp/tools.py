"""The tools: made of the operation table, with the schemas of the models that the HTTP API reads with."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from provenloop.domain.principal import Principal
from provenloop.entry.models.paths import PathParameters
from provenloop.entry.operations import OPERATIONS, Operation, Tool

ACTION = "action"
KEY = "idempotency_key"
_VARIABLE = re.compile(r"\{(\w+)\+?\}")
_KEY_SCHEMA = {
    "type": "string",
    "minLength": 1,
    "maxLength": 255,
    "description": "The same key with the same arguments has its effect once, however often it is sent.",
}
#: What a tool of several operations, or of more than one, is for.
_ABOUT = {
    "recommendations": "Read the review queue, and decide about what is in it.",
    "loop_run": "Run one analyzer pass over the memory, if a gate opens; tells the run, and what waits for review.",
}


@dataclass(frozen=True, slots=True)
class ToolKind:
    """A tool, and the operations that it is; more than one are told apart by an action."""

    name: str
    operations: Mapping[str | None, Operation]

    def may_be_used_by(self, principal: Principal) -> bool:
        """Whether a token's scopes let it do anything with it."""
        return any(all(principal.has(scope) for scope in each.scopes) for each in self.operations.values())

    def described(self) -> dict[str, Any]:
        """As tools/list tells it."""
        return {"name": self.name, "description": self._description(), "inputSchema": self.schema()}

    def schema(self) -> dict[str, Any]:
        """JSON Schema of the arguments."""
        operations = list(self.operations.values())
        properties: dict[str, Any] = {}
        definitions: dict[str, Any] = {}
        for operation in operations:
            own, shared = arguments_of(operation)
            properties = {**own, **properties}
            definitions = {**shared, **definitions}
        required = sorted(set.intersection(*(_required(each) for each in operations)))
        if self._actions:
            properties[ACTION] = {"type": "string", "enum": self._actions}
            required = [ACTION, *required]
        schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
        return {**schema, "$defs": definitions} if definitions else schema

    @property
    def _actions(self) -> list[str]:
        return [action for action in self.operations if action is not None]

    def _description(self) -> str:
        about = _ABOUT.get(self.name)
        if not self._actions:
            return about or self.operations[None].summary
        return "\n".join([about or "", *self._lines()])

    def _lines(self) -> Iterator[str]:
        for action, operation in self.operations.items():
            needs = ", ".join(sorted(_required(operation) - {"memory"}))
            yield f"{action}: {operation.summary}" + (f" Needs {needs}." if needs else "")


@cache
def tools() -> Mapping[str, ToolKind]:
    """Every tool by its name, in the order of the operation table."""
    found: dict[str, dict[str | None, Operation]] = {}
    for operation in OPERATIONS:
        if isinstance(operation.mcp, Tool):
            found.setdefault(operation.mcp.name, {})[operation.mcp.action] = operation
    return {name: ToolKind(name, operations) for name, operations in found.items()}


@cache
def arguments_of(operation: Operation) -> tuple[dict[str, Any], dict[str, Any]]:
    """(schemas of an operation's arguments by name, definitions that they refer to)."""
    places = PathParameters.model_json_schema()["properties"]
    own = {name: _without_null(places[name]) for name in path_variables(operation)}
    model = _schema(operation)
    own |= model.get("properties", {})
    if operation.method != "GET":
        own[KEY] = _KEY_SCHEMA
    return own, model.get("$defs", {})


def path_variables(operation: Operation) -> Sequence[str]:
    """Names of what stands in the path."""
    return _VARIABLE.findall(operation.path)


def _required(operation: Operation) -> set[str]:
    return {*path_variables(operation), *_schema(operation).get("required", ())}


@cache
def _schema(operation: Operation) -> dict[str, Any]:
    model = operation.body or operation.query
    return {} if model is None else model.model_json_schema()


def _without_null(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A path's variable is there wherever it is one."""
    [text] = [each for each in schema["anyOf"] if each["type"] != "null"]
    return {**text, **{name: schema[name] for name in ("description",) if name in schema}}

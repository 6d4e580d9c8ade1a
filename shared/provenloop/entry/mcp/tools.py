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
    "pattern": "^[ -~]*[!-~][ -~]*$",
    "description": "The same key with the same arguments has its effect once, however often it is sent.",
}
#: What a tool of several operations, or of more than one, is for.
_ABOUT = {
    "recommendations": "Read the review queue, and decide about what is in it.",
    "loop_run": "Run one analyzer pass over the memory, if a gate opens; tells the run, and what waits for review.",
}


#: What stands in a schema beside its words: names of ours, and data.
_NAMED = frozenset({"properties", "$defs"})
_DATA = frozenset({"default", "const", "enum"})
#: Words of OpenAPI, which strict readers of JSON Schema refuse, and titles, which say again what the names say.
_LEFT_OUT = frozenset({"title", "discriminator"})
_FORMATS = frozenset({"date-time"})


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
        told = {"name": self.name, "description": self._description(), "inputSchema": self.schema()}
        reads = all(each.method == "GET" for each in self.operations.values())
        return {**told, "annotations": {"readOnlyHint": True}} if reads else told

    def schema(self) -> dict[str, Any]:
        """JSON Schema of the arguments."""
        arguments: dict[str, dict[str | None, Any]] = {}
        definitions: dict[str, Any] = {}
        for action, operation in self.operations.items():
            own, shared = arguments_of(operation)
            definitions = {**shared, **definitions}
            for name, schema in own.items():
                arguments.setdefault(name, {})[action] = schema
        properties = {name: _one_of(schemas) for name, schemas in arguments.items()}
        required = sorted(set.intersection(*(_required(each) for each in self.operations.values())))
        if self._actions:
            properties[ACTION] = {"type": "string", "enum": self._actions}
            required = [ACTION, *required]
        told = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
        return {**told, "$defs": definitions} if definitions else told

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
    told = {"properties": own, "$defs": model.get("$defs", {})}
    plain = _plain(told)
    return plain["properties"], plain["$defs"]


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


def _one_of(schemas: Mapping[str | None, Mapping[str, Any]]) -> dict[str, Any]:
    """The schema of an argument that several actions have; each tells what it takes it for, where they differ."""
    [first, *others] = schemas.values()
    if all(other == first for other in others):
        return dict(first)
    lines = [f"{action}: {schema['description']}" for action, schema in schemas.items() if "description" in schema]
    return {**first, "description": "\n".join(lines)}


def _plain(schema: Any) -> Any:
    """The schema in words of JSON Schema alone."""
    if isinstance(schema, list):
        return [_plain(each) for each in schema]
    if not isinstance(schema, Mapping):
        return schema
    return {word: _plain_word(word, value) for word, value in schema.items() if not _is_left_out(word, value)}


def _plain_word(word: str, value: Any) -> Any:
    if word in _DATA:
        return value
    return {name: _plain(each) for name, each in value.items()} if word in _NAMED else _plain(value)


def _is_left_out(word: str, value: Any) -> bool:
    return word in _LEFT_OUT or (word == "format" and value not in _FORMATS)

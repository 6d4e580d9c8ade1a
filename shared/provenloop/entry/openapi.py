"""The OpenAPI 3.1 document, made of the operation table and the models: nothing in it is written twice."""

from __future__ import annotations

from functools import cache
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from pydantic.json_schema import models_json_schema

import provenloop
from provenloop.entry.models import (
    decision_replies,
    lesson_replies,
    loop_replies,
    outcome_replies,
    recipe_replies,
    replies,
    settings_replies,
)
from provenloop.entry.models.paths import PathParameters
from provenloop.entry.operations import OPERATIONS, Operation
from provenloop.entry.problems import PROBLEM_JSON
from provenloop.entry.reply import CURSOR_HEADER, JSON_LINES

if TYPE_CHECKING:
    from pydantic import BaseModel

    from provenloop.entry.models.fields import WireModel

_REF = "#/components/schemas/{model}"
_REPLIES = (
    replies, loop_replies, outcome_replies, decision_replies, settings_replies, lesson_replies, recipe_replies,
)  # fmt: skip
_BEARER = "bearer"
_PROBLEM = replies.Problem.__name__
_REFUSALS = {
    "400": "The request can never succeed as sent; `field` names the place.",
    "401": "No token, or one that is not valid.",
    "403": "The token may not do this.",
    "404": "There is no such thing in this memory.",
    "409": "Something changed in between, or the step is not possible from here; nothing was written.",
    "413": "Over a limit.",
    "503": "Try again later.",
}
_IDEMPOTENCY_KEY: dict[str, Any] = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "1 to 255 printable ASCII characters; the same key with the same body has its effect once.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255},
}
_MODEL_KEY: dict[str, Any] = {
    "name": "X-Model-Key",
    "in": "header",
    "required": False,
    "description": "A key of your own to ask the model with, for this request only; it is kept nowhere.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 512},
}
_CURSOR: dict[str, Any] = {
    "description": "There only where more follows: `cursor` of the next page.",
    "schema": {"type": "string"},
}


@cache
def document() -> dict[str, Any]:
    """The whole document."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Provenloop",
            "version": provenloop.__version__,
            "summary": "A governed self-improvement loop for hosted AI agents.",
        },
        "security": [{_BEARER: []}],
        "paths": _paths(),
        "components": {
            "schemas": _schemas(),
            "securitySchemes": {_BEARER: {"type": "http", "scheme": "bearer"}},
        },
    }


def _paths() -> dict[str, Any]:
    paths: dict[str, dict[str, Any]] = {}
    for operation in OPERATIONS:
        paths.setdefault(_plain(operation.path), {})[operation.method.lower()] = _described(operation)
    return paths


def _plain(path: str) -> str:
    """The path without the mark of a variable that takes the rest of it, which OpenAPI does not know."""
    return path.replace("+}", "}")


def _described(operation: Operation) -> dict[str, Any]:
    described: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "tags": [operation.function],
        "parameters": _parameters(operation),
        "responses": _responses(operation),
    }
    if not operation.scopes:
        described["security"] = []
    else:
        described["x-scopes"] = list(operation.scopes)
    if operation.body is not None:
        described["requestBody"] = {
            "required": not operation.body_optional,
            "content": {"application/json": {"schema": _ref(operation.body.__name__)}},
        }
    return described


def _parameters(operation: Operation) -> list[dict[str, Any]]:
    parameters = [
        _parameter(name, "path", schema)
        for name, schema in _properties(PathParameters).items()
        if f"{{{name}}}" in _plain(operation.path)
    ]
    if operation.query is not None:
        parameters += [_parameter(name, "query", schema) for name, schema in _properties(operation.query).items()]
    if operation.method != "GET":
        parameters.append(_IDEMPOTENCY_KEY)
    if operation.takes_model_key:
        parameters.append(_MODEL_KEY)
    return parameters


def _parameter(name: str, place: str, schema: dict[str, Any]) -> dict[str, Any]:
    description = schema.get("description")
    shown = {key: value for key, value in schema.items() if key not in ("title", "description")}
    described = {"name": name, "in": place, "required": place == "path", "schema": shown}
    return {**described, "description": description} if description else described


def _properties(model: type[BaseModel]) -> dict[str, dict[str, Any]]:
    """The schemas of a model's fields, without the null that stands for "not sent": paths and queries hold no null."""
    shown: dict[str, dict[str, Any]] = {}
    for name, schema in model.model_json_schema()["properties"].items():
        kept = {key: value for key, value in schema.items() if not (key == "default" and value is None)}
        members = [member for member in kept.pop("anyOf", []) if member != {"type": "null"}]
        shown[name] = {**kept, **(members[0] if len(members) == 1 else {"anyOf": members} if members else {})}
    return shown


def _responses(operation: Operation) -> dict[str, Any]:
    done = {
        str(status): {"description": "Done.", "content": {operation.media_type: {"schema": _schema(operation, status)}}}
        for status in operation.statuses
    }
    if operation.media_type == JSON_LINES:
        for answer in done.values():
            answer["headers"] = {CURSOR_HEADER: _CURSOR}
    refusal = {PROBLEM_JSON: {"schema": _ref(_PROBLEM)}}
    possible = _REFUSALS if operation.scopes else {}
    refused = {status: {"description": text, "content": refusal} for status, text in possible.items()}
    return {**done, **refused, "default": {"description": "Any other refusal.", "content": refusal}}


def _schema(operation: Operation, status: int) -> dict[str, str]:
    name = operation.accepted if status == HTTPStatus.ACCEPTED and operation.accepted else operation.reply
    return {"type": "object"} if name is None else _ref(name)


def _ref(model: str) -> dict[str, str]:
    return {"$ref": _REF.format(model=model)}


def reply_model(name: str) -> type[WireModel]:
    """The model of a reply that the operation table names."""
    model: type[WireModel] = next(getattr(module, name) for module in _REPLIES if hasattr(module, name))
    return model


def _schemas() -> dict[str, Any]:
    bodies = {operation.body for operation in OPERATIONS if operation.body is not None}
    names = {name for operation in OPERATIONS for name in (operation.reply, operation.accepted)}
    answers = {reply_model(name) for name in names if name is not None}
    models = sorted(bodies | answers | {replies.Problem}, key=lambda model: model.__name__)
    modes = [(model, "validation") for model in models]
    _, definitions = models_json_schema(modes, ref_template=_REF)  # type: ignore[arg-type]
    schemas: dict[str, Any] = definitions["$defs"]
    return schemas

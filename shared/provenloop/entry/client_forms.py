"""``python -m provenloop.entry.client_forms FILE``: writes the forms of requests and replies as the client has them.

The client imports neither pydantic nor the models, so what they say is written down for it as typed dicts. A test holds
the written file against what this makes of the models of today.
"""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Mapping
from keyword import iskeyword
from pathlib import Path
from typing import Any

from pydantic.json_schema import models_json_schema

from provenloop.entry.models.fields import WireModel
from provenloop.entry.openapi import reply_model
from provenloop.entry.operations import OPERATIONS

_REF = "#/{model}"
_WIDTH = 120
_EVENTS_WITH_METHODS = {"Fact", "ToolCall", "Observation"}
_PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
_HEAD = '''"""Forms of requests and replies, as the service reads and answers them.

Written by ``make client-forms``; do not edit. A key that is ``NotRequired`` may be left out, and is left out by the
service where it has nothing to say. ``<Form>Rest`` is what may be left out of a form: methods take it by name.

Long on purpose: one form for each model of the OpenAPI document.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict'''

Schema = Mapping[str, Any]


def written() -> str:
    """The whole module."""
    schemas = _schemas()
    sent = {model.__name__ for model in _sent()}
    event = _type(schemas["EventsRequest"]["properties"]["events"]["items"])
    parts = [_HEAD]
    for name, schema in schemas.items():
        parts.append(_form(name, schema))
        if name in sent | _EVENTS_WITH_METHODS and _is_mixed(schema):
            parts.append(_form(f"{name}Rest", _rest_of(schema)))
    return "\n\n\n".join([*parts, f"Event = {event}\n"])


def _sent() -> set[type[WireModel]]:
    return {model for each in OPERATIONS for model in (each.body, each.query) if model is not None}


def _schemas() -> dict[str, Any]:
    names = {name for each in OPERATIONS for name in (each.reply, each.accepted) if name is not None}
    models = _sent() | {reply_model(name) for name in names}
    ordered = sorted(models, key=lambda model: model.__name__)
    _, told = models_json_schema([(model, "validation") for model in ordered], ref_template=_REF)
    definitions: dict[str, Any] = told["$defs"]
    return definitions


def _is_mixed(schema: Schema) -> bool:
    return 0 < len(schema.get("required", ())) < len(schema["properties"])


def _rest_of(schema: Schema) -> dict[str, Any]:
    properties = {name: value for name, value in schema["properties"].items() if name not in schema["required"]}
    return {**schema, "properties": properties}


def _form(name: str, schema: Schema) -> str:
    required = schema.get("required", ())
    fields = {
        key: _type(value) if key in required else f"NotRequired[{_type(value)}]"
        for key, value in schema["properties"].items()
    }
    if any(iskeyword(key) for key in fields):
        # Keys that are words of Python can only be written this way.
        listed = "".join(f'        "{key}": {_quoted(kind)},\n' for key, kind in fields.items())
        return f'{name} = TypedDict(\n    "{name}",\n    {{\n{listed}    }},\n)'
    body = "\n".join(_field(key, kind) for key, kind in fields.items())
    documented = _documented(str(schema.get("description", name)))
    return f"class {name}(TypedDict):\n{documented}\n{body}".rstrip()


def _documented(text: str) -> str:
    lines = textwrap.wrap(f'"""{" ".join(text.split())}', _WIDTH - 8)
    end = '"""' if len(lines) == 1 else '\n    """'
    return "\n".join(f"    {line}" for line in lines) + f"{end}\n"


def _field(name: str, kind: str) -> str:
    line = f"    {name}: {kind}"
    if len(line) <= _WIDTH:
        return line
    outer, _, rest = kind.partition("[")
    return f"    {name}: {outer}[\n        {rest.removesuffix(']')}\n    ]"


def _quoted(kind: str) -> str:
    # Evaluated at once, unlike annotations: the name may come further down.
    if kind in _PLAIN.values():
        return kind
    return f"'{kind}'" if '"' in kind else f'"{kind}"'


def _type(schema: Schema) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).removeprefix("#/")
    for combined in ("anyOf", "oneOf"):
        if combined in schema:
            return " | ".join(dict.fromkeys(_type(member) for member in schema[combined]))
    choices = [schema["const"]] if "const" in schema else schema.get("enum")
    if choices:
        return f"Literal[{', '.join(json.dumps(choice) for choice in choices)}]"
    return _structured(schema)


def _structured(schema: Schema) -> str:
    kind = schema.get("type")
    if kind == "array":
        return f"list[{_type(schema.get('items', {}))}]"
    if kind == "object":
        values = schema.get("additionalProperties")
        return f"dict[str, {_type(values) if isinstance(values, Mapping) else 'Any'}]"
    return _PLAIN.get(str(kind), "Any")


def main(arguments: list[str]) -> int:
    """Write the module into the file that is named."""
    [file] = arguments
    Path(file).write_text(written(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

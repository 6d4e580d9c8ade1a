"""The tools of MCP as they are told: every operation has its place, and every schema is one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from provenloop.entry.mcp.tools import arguments_of, tools
from provenloop.entry.operations import OPERATIONS, NoTool, Tool

NAMES = {
    "record", "loop_run", "recommendations", "recall", "report_lesson", "session_context", "match_recipe",
    "commit_recipe",
}  # fmt: skip
MEMORY = {"memory": "support"}
SCOPE = {"agent": "support"}
FACT = {"kind": "fact", "subject": "checkout", "relation": "deploy_target", "object": "eu"}


def test_every_operation_is_a_tool_or_says_why_it_is_none() -> None:
    named = {(each.mcp.name, each.mcp.action) for each in OPERATIONS if isinstance(each.mcp, Tool)}
    assert {name for name, _ in named} == set(tools()) == NAMES
    assert {action for name, action in named if name == "recommendations"} == {
        "list", "show", "approve", "reject", "acknowledge", "snooze", "apply", "rollback",
    }  # fmt: skip
    assert all(len(each.mcp.because) > 20 for each in OPERATIONS if isinstance(each.mcp, NoTool))


def test_schemas_have_the_ranges_of_the_models_that_http_reads_with() -> None:
    for known in tools().values():
        properties = known.schema()["properties"]
        for operation in known.operations.values():
            model = operation.body or operation.query
            assert model is not None or operation.name == "show_recommendation"
            for name in model.model_json_schema()["properties"] if model else ():
                assert name in properties
    assert properties_of("recall")["limit"] == {"default": 10, "maximum": 100, "minimum": 1, "type": "integer"}
    assert properties_of("recommendations")["because"]["maxLength"] == 500
    assert tools()["recommendations"].schema()["required"] == ["action", "memory"]


def properties_of(name: str) -> Any:
    return tools()[name].schema()["properties"]


@pytest.mark.parametrize("name", sorted(NAMES))
def test_a_schema_is_json_schema_to_the_strictest_of_its_readers(name: str) -> None:
    """Such refuse words and formats that are not of the draft, and references to nothing."""
    schema = tools()[name].schema()
    Draft202012Validator.check_schema(schema)
    for word, value in words_of(schema):
        assert word in Draft202012Validator.VALIDATORS or word in {"default", "description", "$defs"}
        assert word != "format" or value == "date-time"
        assert word != "$ref" or value.removeprefix("#/$defs/") in schema["$defs"]
    assert tools()[name].described()["inputSchema"] == schema


def words_of(schema: Any) -> Iterator[tuple[str, Any]]:
    """Every word of a schema with what it says, names of properties and definitions left out."""
    if isinstance(schema, list):
        for each in schema:
            yield from words_of(each)
    elif isinstance(schema, dict):
        for word, value in schema.items():
            yield word, value
            if word not in ("default", "const", "enum"):
                yield from words_of(list(value.values()) if word in ("properties", "$defs") else value)


@pytest.mark.parametrize(
    ("name", "arguments", "takes"),
    [
        ("record", {"events": [FACT], "idempotency_key": "a b"}, True),
        ("record", {"events": [FACT], "idempotency_key": "a\nb"}, False),
        ("record", {"events": [FACT], "idempotency_key": "  "}, False),
        ("record", {"events": []}, False),
        ("record", {"events": [{**FACT, "kind": "observation"}]}, False),
        ("recall", {"subject": "s", "limit": 101}, False),
        ("session_context", {"project": "p", "k": 51}, False),
        ("session_context", {"project": "p", "k": 50, "budget": 64}, True),
        ("session_context", {"project": "p", "budget": 63}, False),
        ("recommendations", {"action": "snooze", "id": "a", "because": "b", "until": "2027-01-01T00:00:00Z"}, True),
        ("recommendations", {"action": "arm"}, False),
        ("match_recipe", {"request": "Why?", "scope": SCOPE, "threshold": 1.5}, False),
    ],
)
def test_a_schema_takes_what_the_tool_takes(name: str, arguments: Mapping[str, Any], takes: bool) -> None:
    assert Draft202012Validator(tools()[name].schema()).is_valid({**MEMORY, **arguments}) == takes


def test_where_actions_take_an_argument_for_different_things_each_says_for_which() -> None:
    known = tools()["recommendations"]
    for argument, shown in known.schema()["properties"].items():
        for action, operation in known.operations.items():
            own = arguments_of(operation)[0].get(argument)
            if own is not None:
                assert {**own, "description": ""} == {**shown, "description": ""}
                assert own.get("description", "") in shown.get("description", "")
                assert action is not None


def test_only_tools_that_read_say_that_they_do() -> None:
    said = {name for name, known in tools().items() if known.described().get("annotations") == {"readOnlyHint": True}}
    assert said == {"recall", "session_context"}

"""The OpenAPI document says what the operation table says, and refers to nothing that is not there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from provenloop.domain.errors import error_classes
from provenloop.entry.models.paths import PathParameters
from provenloop.entry.openapi import document
from provenloop.entry.operations import FRESH_SCOPES, OPERATIONS

METHODS = {"get", "post", "put"}


def described() -> dict[str, dict[str, Any]]:
    return {
        operation["operationId"]: {**operation, "path": path, "method": method}
        for path, methods in document()["paths"].items()
        for method, operation in methods.items()
    }


def within(value: object) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for item in value.values():
            yield from within(item)
    elif isinstance(value, list):
        for item in value:
            yield from within(item)


def test_every_operation_is_described_once() -> None:
    shown = {(name, each["method"].upper(), each["path"]) for name, each in described().items()}
    assert shown == {(known.name, known.method, known.path.replace("+}", "}")) for known in OPERATIONS}
    assert sum(len(methods) for methods in document()["paths"].values()) == len(OPERATIONS)


def test_every_reference_leads_somewhere() -> None:
    schemas = document()["components"]["schemas"]
    references = [part["$ref"] for part in within(document()) if isinstance(part.get("$ref"), str)]
    assert references
    assert {reference.rsplit("/", 1)[1] for reference in references} <= set(schemas)


def test_every_place_holder_of_a_path_is_a_parameter_and_the_reverse() -> None:
    for each in described().values():
        named = {parameter["name"] for parameter in each["parameters"] if parameter["in"] == "path"}
        assert named == {part[1:-1] for part in each["path"].split("/") if part.startswith("{")}
        assert named <= set(PathParameters.model_fields)


def test_a_path_or_query_never_offers_null() -> None:
    parameters = [parameter for each in described().values() for parameter in each["parameters"]]
    assert {"type": "null"} not in [part for parameter in parameters for part in within(parameter["schema"])]


def test_every_write_takes_an_idempotency_key() -> None:
    for each in described().values():
        has_key = any(parameter["name"] == "Idempotency-Key" for parameter in each["parameters"])
        assert has_key == (each["method"] != "get")


def test_what_needs_no_token_says_so_and_the_rest_names_its_scopes() -> None:
    for known in OPERATIONS:
        each = described()[known.name]
        assert each.get("x-scopes", []) == list(known.scopes)
        assert ("security" in each) == (not known.scopes)


def test_every_operation_can_end_in_a_problem() -> None:
    for each in described().values():
        assert "application/problem+json" in each["responses"]["default"]["content"]


def test_a_problem_lists_every_code() -> None:
    shown = document()["components"]["schemas"]["Problem"]["properties"]["code"]["enum"]
    assert set(shown) == {cls.code for cls in error_classes()}


def test_requests_refuse_unknown_fields_in_the_document_too() -> None:
    schemas = document()["components"]["schemas"]
    for known in OPERATIONS:
        if known.body is not None:
            assert schemas[known.body.__name__]["additionalProperties"] is False


def test_events_are_told_apart_by_their_kind() -> None:
    events = document()["components"]["schemas"]["EventsRequest"]["properties"]["events"]
    assert events["maxItems"] == 90
    assert set(events["items"]["discriminator"]["mapping"]) == {
        "fact", "tool_call", "observation", "skill", "goal", "event", "supersede",
        "recall_report", "assembly_report",
    }  # fmt: skip


def test_names_and_routes_are_unique() -> None:
    assert len({known.name for known in OPERATIONS}) == len(OPERATIONS)
    assert len({known.route_key for known in OPERATIONS}) == len(OPERATIONS)


def test_decisions_and_administration_read_the_token_afresh() -> None:
    for known in OPERATIONS:
        assert known.is_fresh == any(scope in FRESH_SCOPES for scope in known.scopes)
    assert {known.name for known in OPERATIONS if known.is_fresh} == {
        "acknowledge",
        "act_on_card",
        "apply",
        "approve",
        "approve_and_apply",
        "batch_review",
        "configure",
        "create_memory",
        "delete_memory",
        "export_memory",
        "export_tenant_audit",
        "forget",
        "forget_recipe",
        "list_memories",
        "list_tokens",
        "migrate_cards",
        "mint_token",
        "offer_lesson",
        "reject",
        "request_review",
        "restore_recipe",
        "retire_recipe",
        "revoke_token",
        "roll_back",
        "snooze",
        "wake",
        "show_job",
        "verify_tenant_audit",
    }

"""Routes of the template and operations of the code are the same."""

import importlib
from collections import Counter

from provenloop.entry.operations import MCP_ROUTES, OPERATIONS
from tests.template.reading import DOCUMENT, TEMPLATE, routes, triggers

DEFAULT = ("loop_api", "$default", "$default")


def test_every_route_is_an_operation_of_its_function_and_the_reverse() -> None:
    expected = {(operation.function, operation.method, operation.path) for operation in OPERATIONS}

    assert set(routes()) - {DEFAULT} == expected | set(MCP_ROUTES)


def test_what_no_route_takes_is_answered_by_the_loop_api() -> None:
    assert [route for route in routes() if "$default" in route] == [DEFAULT]


def test_no_route_stands_twice() -> None:
    counted = Counter((method, path) for _, method, path in routes())

    assert [route for route, times in counted.items() if times > 1] == []


def test_every_operation_has_a_handler() -> None:
    for operation in OPERATIONS:
        module = importlib.import_module(f"provenloop.entry.handlers.{operation.function}")
        assert callable(getattr(module, operation.name)), operation.name


def test_all_routes_are_of_the_one_api_whose_stage_needs_no_path() -> None:
    (api,) = TEMPLATE.of_kind("AWS::Serverless::HttpApi")

    assert {properties["ApiId"] for _, properties in triggers("HttpApi")} == {TEMPLATE.ref(api.logical_id)}
    assert api.get("StageName", "$default") == "$default"
    assert DOCUMENT["Outputs"]["ApiUrl"]["Value"]["Fn::Sub"].startswith(f"https://${{{api.logical_id}}}.")

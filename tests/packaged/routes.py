"""Gives a deployed HTTP API the routes of its OpenAPI body, which the emulator does not import."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.packaged.emulator import Emulator

API = "HttpApi"
ANY_METHOD = "x-amazon-apigateway-any-method"
INTEGRATION = "x-amazon-apigateway-integration"

_FUNCTION = re.compile(r"functions/\$\{(\w+)\.Arn\}/invocations")


def import_routes(emulator: Emulator, stack: str) -> str:
    """Create an integration for each function and a route for each path and method.

    Returns:
        the id of the API.
    """
    cloudformation = emulator.client("cloudformation")
    api = emulator.client("apigatewayv2")
    template = cloudformation.get_template(StackName=stack, TemplateStage="Processed")["TemplateBody"]
    resources = (json.loads(template) if isinstance(template, str) else template)["Resources"]
    physical = {
        each["LogicalResourceId"]: each["PhysicalResourceId"]
        for each in cloudformation.describe_stack_resources(StackName=stack)["StackResources"]
    }
    api_id: str = physical[API]
    integrations: dict[str, str] = {}
    for path, methods in resources[API]["Properties"]["Body"]["paths"].items():
        for method, operation in methods.items():
            function = physical[_function(operation)]
            if function not in integrations:
                integrations[function] = _integration(emulator, api, api_id, function)
            api.create_route(
                ApiId=api_id, RouteKey=_route_key(path, method), Target=f"integrations/{integrations[function]}"
            )
    return api_id


def _function(operation: dict[str, Any]) -> str:
    """The logical id of the function behind one operation of the body."""
    found = _FUNCTION.search(operation[INTEGRATION]["uri"]["Fn::Sub"])
    if found is None:
        raise ValueError(f"no function in {operation[INTEGRATION]}")
    return found.group(1)


def _integration(emulator: Emulator, api: Any, api_id: str, function: str) -> str:
    arn = emulator.client("lambda").get_function(FunctionName=function)["Configuration"]["FunctionArn"]
    created = api.create_integration(
        ApiId=api_id, IntegrationType="AWS_PROXY", IntegrationUri=arn, PayloadFormatVersion="2.0"
    )
    return str(created["IntegrationId"])


def _route_key(path: str, method: str) -> str:
    if path.strip("/") == "$default":
        return "$default"
    return f"{'ANY' if method == ANY_METHOD else method.upper()} {path}"

"""Starts ministack with two things added: ``dynamodb:LeadingKeys``, and waits of workflows by ``TimeoutSecondsPath``.

Runs in ministack's own environment: ``python -m tests.packaged.ministack_server``, configured by its variables.

ministack 1.5.33, as it comes, tests the statements of a role on every call, and a transaction item by item as single
actions; but it gives a DynamoDB request no leading keys. A condition on them then sees an absent key, and
``ForAllValues`` is true of an absent key: every partition would be open. Here the keys are added where it gathers the
rest of a request's context, so that a right which the template lacks is missed in these tests as it would be on AWS.
A task whose ``TimeoutSeconds`` is a path into its state's input waits there for a day and more. Here the path is
followed and the number put in its place, so that reviews remind and end as they do on AWS.

Names inside ministack are private: the version is pinned, and a changed one stops here at once.
"""

from __future__ import annotations

import json
from functools import reduce
from importlib.metadata import version
from typing import Any

from ministack.app import main  # type: ignore[import-not-found]
from ministack.core import iam_actions, iam_evaluator  # type: ignore[import-not-found]
from ministack.services import stepfunctions  # type: ignore[import-not-found]

from tests.template.leading_keys import leading_keys

VERSION = "1.5.33"
LEADING_KEYS = "dynamodb:LeadingKeys"

_context_of = iam_actions.dynamodb_service_context
_checks_of = iam_actions.dynamodb_transaction_checks
_enforce = iam_evaluator.enforce
_run_task = stepfunctions._execute_task  # noqa: SLF001 - see above


class _ItemArn(str):
    """The ARN that one member of a transaction is checked on, with that member's own keys."""

    __slots__ = ("keys",)
    keys: list[str]


def _context(body: bytes) -> dict[str, Any]:
    """The context of a call that is no transaction."""
    request = json.loads(body or b"{}")
    keys = leading_keys(request)
    return {**_context_of(body), **({LEADING_KEYS: keys} if keys else {})}


def _checks(iam_action: str, body: bytes, region: str, account_id: str) -> list[tuple[str, str]]:
    """The checks of a transaction, each knowing its own item."""
    checks: list[tuple[str, str]] = []
    for member in json.loads(body or b"{}").get("TransactItems", []):
        single = json.dumps({"TransactItems": [member]}).encode()
        for action, arn in _checks_of(iam_action, single, region, account_id):
            (parameters,) = member.values()
            item_arn = _ItemArn(arn)
            item_arn.keys = leading_keys(parameters)
            checks.append((action, item_arn))
    return checks


def _enforce_with_keys(
    access_key_id: str,
    iam_action: str,
    service: str,
    region: str,
    resource_arn: str = "*",
    service_context: dict[str, Any] | None = None,
) -> Any:
    if isinstance(resource_arn, _ItemArn):
        service_context = {**(service_context or {}), LEADING_KEYS: resource_arn.keys}
    return _enforce(access_key_id, iam_action, service, region, resource_arn, service_context)


def _run_task_in_time(state: dict[str, Any], given: Any, execution: Any, context: Any) -> Any:
    """Run a task whose limit may be a path such as ``$.seconds.first``."""
    path = state.get("TimeoutSecondsPath")
    if path is not None:
        seconds = reduce(lambda found, name: found[name], path.split(".")[1:], given)
        state = {**state, "TimeoutSeconds": seconds}
    return _run_task(state, given, execution, context)


if __name__ == "__main__":
    if version("ministack") != VERSION:
        raise SystemExit(f"written against ministack {VERSION}, found {version('ministack')}")
    iam_actions.dynamodb_service_context = _context
    iam_actions.dynamodb_transaction_checks = _checks
    iam_evaluator.enforce = _enforce_with_keys
    stepfunctions._execute_task = _run_task_in_time  # noqa: SLF001
    main()

"""IAM as data: whether a function's policies, as the template states them, allow an action on some partitions.

Only what the template uses is evaluated (Allow, exact actions, exact resources, ``ForAllValues:StringLike`` on leading
keys); anything else is an error, so that a statement of another form cannot pass unread.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.template.reading import FUNCTIONS, TEMPLATE

if TYPE_CHECKING:
    from collections.abc import Sequence

READS = frozenset({"GetItem", "BatchGetItem", "Query"})
CHANGES = frozenset({"PutItem", "UpdateItem", "DeleteItem", "ConditionCheckItem"})
TABLE_ARN = TEMPLATE.attribute("Table", "Arn")

_MEMBERS = {"Sid", "Effect", "Action", "Resource", "Condition"}
_TEST = "ForAllValues:StringLike"
_KEY = "dynamodb:LeadingKeys"


@dataclass(frozen=True, slots=True)
class Statement:
    """One Allow. ``partitions`` are patterns of leading keys; None where the statement has no condition."""

    actions: frozenset[str]
    resources: frozenset[str]
    partitions: tuple[re.Pattern[str], ...] | None

    def allows(self, action: str, resource: str, keys: Sequence[str]) -> bool:
        """Whether this statement alone allows the action, all keys being tested against it."""
        if action not in self.actions or resource not in self.resources:
            return False
        patterns = self.partitions
        return patterns is None or all(any(pattern.fullmatch(key) for pattern in patterns) for key in keys)


def statements(folder: str) -> tuple[Statement, ...]:
    """The statements of one function's own policies."""
    return tuple(_statement(body) for policy in FUNCTIONS[folder].need("Policies") for body in policy["Statement"])


def allows(folder: str, action: str, keys: Sequence[str], *, index: str | None = None) -> bool:
    """Whether a function may do one DynamoDB action.

    Args:
        folder: the function.
        action: without its prefix, such as ``PutItem``.
        keys: the partition keys that the call names.
        index: the index it reads; None for the table itself.
    """
    resource = TABLE_ARN if index is None else f"{TABLE_ARN}/index/{index}"
    return any(each.allows(f"dynamodb:{action}", resource, keys) for each in statements(folder))


def _statement(body: dict[str, Any]) -> Statement:
    if body["Effect"] != "Allow" or body.keys() - _MEMBERS:
        raise ValueError(f"a statement of a form that is not evaluated: {body}")
    return Statement(frozenset(_listed(body["Action"])), frozenset(_listed(body["Resource"])), _partitions(body))


def _partitions(body: dict[str, Any]) -> tuple[re.Pattern[str], ...] | None:
    condition = body.get("Condition")
    if condition is None:
        return None
    if condition.keys() != {_TEST} or condition[_TEST].keys() != {_KEY}:
        raise ValueError(f"a condition of a form that is not evaluated: {condition}")
    return tuple(re.compile(re.escape(each).replace(r"\*", ".*")) for each in _listed(condition[_TEST][_KEY]))


def _listed(value: Any) -> list[str]:
    return value if isinstance(value, list) else [value]

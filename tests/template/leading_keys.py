"""Which partition keys a DynamoDB request names: the values that ``dynamodb:LeadingKeys`` has when AWS authorises it.

Standard library only, since it also runs inside the emulator's own environment. A request is told apart by its fields,
which are the same on the wire and in boto3: ``Key``, ``Item``, ``RequestItems``, ``KeyConditionExpression``. A
transaction is authorised item by item, as the single actions its members are; ``transaction_parts`` takes it apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

#: Hash keys of the table and of its indexes.
HASH_KEYS = frozenset({"pk", "queue_pk", "wake", "time_pk"})

#: Action of each kind of member of a transaction.
PARTS = {
    "ConditionCheck": "ConditionCheckItem",
    "Put": "PutItem",
    "Update": "UpdateItem",
    "Delete": "DeleteItem",
    "Get": "GetItem",
}

_EQUALS = re.compile(r"([#\w]+)\s*=\s*(:\w+)")


def leading_keys(request: Mapping[str, Any]) -> list[str]:
    """Partition keys that ``request`` names, in its order; none for a request that names none (a scan).

    Args:
        request: parameters of one call or one member of a transaction, with values in DynamoDB's typed form.
    """
    if "RequestItems" in request:
        return [key for part in request["RequestItems"].values() for key in _batch_keys(part)]
    if "KeyConditionExpression" in request:
        return _condition_keys(request)
    item = request.get("Key") or request.get("Item") or {}
    return [item["pk"]["S"]] if "pk" in item else []


def transaction_parts(request: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The members of a transaction, each as its single action and its parameters."""
    for member in request.get("TransactItems", []):
        for name, parameters in member.items():
            yield PARTS[name], parameters


def _batch_keys(part: Any) -> Iterator[str]:
    """Keys of one table in a batch: a read has ``{"Keys": [...]}``, a write a list of puts and deletes."""
    if isinstance(part, Mapping):
        yield from (key["pk"]["S"] for key in part["Keys"])
        return
    for write in part:
        for parameters in write.values():
            yield from leading_keys(parameters)


def _condition_keys(request: Mapping[str, Any]) -> list[str]:
    names = request.get("ExpressionAttributeNames") or {}
    values = request.get("ExpressionAttributeValues") or {}
    return [
        values[placeholder]["S"]
        for name, placeholder in _EQUALS.findall(request["KeyConditionExpression"])
        if names.get(name, name) in HASH_KEYS
    ]

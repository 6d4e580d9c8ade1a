"""Moto's quick answers are the ones it gives when it looks for every member under every name."""

from __future__ import annotations

from typing import Any

import boto3
from moto import mock_aws
from moto.core.serialize import BaseJSONSerializer

from provenloop.entry.local.plain_values import answer_plain_values
from tests.faults.tables import TABLE, make_table

VALUES: dict[str, Any] = {
    "text": {"S": "ä"},
    "empty": {"S": ""},
    "number": {"N": "-1.5"},
    "bytes": {"B": b"\x00\xff"},
    "yes": {"BOOL": True},
    "no": {"BOOL": False},
    "nothing": {"NULL": True},
    "texts": {"SS": ["a", "b"]},
    "numbers": {"NS": ["1", "2"]},
    "blobs": {"BS": [b"a", b"b"]},
    "list": {"L": [{"S": "a"}, {"L": []}, {"M": {}}]},
    "map": {"M": {"inner": {"M": {"one": {"N": "1"}}}, "no": {"BOOL": False}}},
}


def test_every_type_of_value_is_answered_as_it_was_written() -> None:
    with mock_aws():
        client: Any = boto3.client("dynamodb", region_name="us-east-1")
        make_table(client)
        key = {"pk": {"S": "p"}, "sk": {"S": "s"}}
        client.put_item(TableName=TABLE, Item={**key, **VALUES})
        item = client.get_item(TableName=TABLE, Key=key, ConsistentRead=True)["Item"]
        [found] = client.scan(TableName=TABLE)["Items"]
        old = client.put_item(TableName=TABLE, Item=key, ReturnValues="ALL_OLD")["Attributes"]
    for answered in (item, found, old):
        assert {name: _ordered(value) for name, value in answered.items()} == {**key, **VALUES}


def _ordered(value: dict[str, Any]) -> dict[str, Any]:
    return {kind: sorted(part) if kind in ("SS", "NS", "BS") else part for kind, part in value.items()}


def test_asking_for_it_again_changes_nothing() -> None:
    answer_plain_values()
    once = vars(BaseJSONSerializer)["_serialize_type_structure"]
    answer_plain_values()
    assert vars(BaseJSONSerializer)["_serialize_type_structure"] is once

"""Moto without its detours refuses, finds and answers what it does with them, the second time as the first."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws
from moto.core import responses
from moto.dynamodb.comparisons import ConditionExpressionParser
from moto.dynamodb.models.dynamo_type import DynamoType, LimitedSizeDict

from provenloop.entry.local.cheap_emulator import make_emulator_cheap
from provenloop.entry.local.read_once import validate_definitions_once
from tests.faults.tables import TABLE, make_table

KEY = {"pk": {"S": "p"}, "sk": {"S": "s"}}


@pytest.fixture
def client() -> Iterator[Any]:
    """A client of an empty table."""
    with mock_aws():
        client: Any = boto3.client("dynamodb", region_name="us-east-1")
        make_table(client)
        yield client


def _refusal(client: Any, **update: Any) -> str:
    """The code with which an update of the item under KEY is refused, empty when it is carried out."""
    try:
        client.update_item(TableName=TABLE, Key=KEY, **update)
    except ClientError as error:
        return str(error.response["Error"]["Code"])
    return ""


@pytest.mark.parametrize("kind", ["S", "N", "B", "BOOL"])
def test_a_condition_asked_twice_is_held_against_the_values_of_each_time(client: Any, kind: str) -> None:
    present: Any = {"S": "7", "N": "7", "B": b"7", "BOOL": True}[kind]
    other: Any = {"S": "8", "N": "8", "B": b"8", "BOOL": False}[kind]
    client.put_item(TableName=TABLE, Item={**KEY, "n": {kind: present}})
    update: dict[str, Any] = {"UpdateExpression": "SET m = :v", "ConditionExpression": "n = :v"}
    asked = [present, other, present, other]
    refused = [_refusal(client, **update, ExpressionAttributeValues={":v": {kind: value}}) for value in asked]
    assert refused == ["", "ConditionalCheckFailedException"] * 2


def test_a_condition_asked_twice_is_held_against_the_names_of_each_time(client: Any) -> None:
    client.put_item(TableName=TABLE, Item={**KEY, "here": {"N": "1"}})
    update = {"UpdateExpression": "SET #o = :v", "ConditionExpression": "attribute_exists(#n)"}
    values = {":v": {"N": "1"}}
    asked = ["here", "gone", "here", "gone"]
    refused = [
        _refusal(client, **update, ExpressionAttributeValues=values, ExpressionAttributeNames={"#n": name, "#o": "o"})
        for name in asked
    ]
    assert refused == ["", "ConditionalCheckFailedException"] * 2


def test_a_name_that_no_expression_uses_is_refused_every_time(client: Any) -> None:
    put = {"TableName": TABLE, "Item": KEY, "ConditionExpression": "attribute_not_exists(#n)"}
    client.put_item(**put, ExpressionAttributeNames={"#n": "other"})
    for _ in range(2):
        with pytest.raises(ClientError, match="unused in expressions"):
            client.put_item(**put, ExpressionAttributeNames={"#n": "other", "#unused": "x"})


def test_a_condition_that_makes_no_sense_is_refused_every_time(client: Any) -> None:
    for _ in range(2):
        with pytest.raises(ValueError, match="Bad function expression"):
            client.put_item(TableName=TABLE, Item=KEY, ConditionExpression="attribute_not_exists(pk")


def test_an_item_that_grows_attribute_by_attribute_ends_at_the_limit(client: Any) -> None:
    client.put_item(TableName=TABLE, Item=KEY)
    steps = [
        _refusal(
            client,
            UpdateExpression="SET #n = :v",
            ExpressionAttributeNames={"#n": f"part{n}"},
            ExpressionAttributeValues={":v": {"S": "x" * 90_000}},
        )
        for n in range(5)
    ]
    assert steps == ["", "", "", "", "ValidationException"]


def test_an_item_whose_attribute_is_replaced_again_and_again_is_no_larger_for_it(client: Any) -> None:
    for letter in "abcdefgh":
        client.put_item(TableName=TABLE, Item={**KEY, "text": {"S": letter * 60_000}})
        update = {"UpdateExpression": "SET #n = :v", "ExpressionAttributeNames": {"#n": "other"}}
        assert _refusal(client, **update, ExpressionAttributeValues={":v": {"S": letter * 60_000}}) == ""


def test_a_put_of_many_attributes_is_refused_when_all_together_are_too_large(client: Any) -> None:
    parts = {f"part{n}": {"S": "x" * 1_000} for n in range(500)}
    with pytest.raises(ClientError, match="Item size"):
        client.put_item(TableName=TABLE, Item={**KEY, **parts})
    assert "Item" not in client.get_item(TableName=TABLE, Key=KEY)


def test_texts_and_numbers_that_look_alike_are_not_equal_and_order_by_their_kind(client: Any) -> None:
    for sort in ("10", "9", "ä", "a", "Z"):
        client.put_item(TableName=TABLE, Item={"pk": {"S": "p"}, "sk": {"S": sort}, "n": {"N": "10.0"}})
    query: dict[str, Any] = {"TableName": TABLE, "KeyConditionExpression": "pk = :p"}
    found = client.query(**query, ExpressionAttributeValues={":p": {"S": "p"}})["Items"]
    assert [item["sk"]["S"] for item in found] == ["10", "9", "Z", "a", "ä"]
    kept = [
        client.query(**query, FilterExpression="n = :n", ExpressionAttributeValues={":p": {"S": "p"}, ":n": n})["Count"]
        for n in ({"N": "10"}, {"S": "10.0"})
    ]
    assert kept == [5, 0]


def test_a_state_machine_that_is_none_is_refused_every_time() -> None:
    machine = {"name": "m", "roleArn": "arn:aws:iam::123456789012:role/m"}
    good = {"StartAt": "End", "States": {"End": {"Type": "Succeed"}}}
    with mock_aws(config={"stepfunctions": {"execute_state_machine": True}}):
        validate_definitions_once()
        states: Any = boto3.client("stepfunctions", region_name="us-east-1")
        for definition in (good, {"StartAt": "End"}) * 2:
            if definition is good:
                arn = states.create_state_machine(definition=json.dumps(good), **machine)["stateMachineArn"]
                states.delete_state_machine(stateMachineArn=arn)
            else:
                with pytest.raises(ClientError, match=r"No .* definition for Program"):
                    states.create_state_machine(definition=json.dumps(definition), **machine)


def test_making_it_cheap_again_changes_nothing() -> None:
    def parts() -> list[Any]:
        return [
            vars(responses)["method_names_from_class"],
            ConditionExpressionParser.parse,
            DynamoType.__eq__,
            LimitedSizeDict.__setitem__,
        ]

    make_emulator_cheap()
    once = parts()
    make_emulator_cheap()
    assert parts() == once

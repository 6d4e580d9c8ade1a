"""What the emulator enforces, so that the other tests of this folder can rely on it.

Found with ministack 1.5.33: a role's statements are tested on every call (action and resource), a transaction item by
item as its single actions. Leading keys are added by ``ministack_server``.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.packaged.emulator import Emulator

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

TABLE = "enforcement"
GRAIN = {"pk": {"S": "T#acme#M#demo#GRAIN"}, "sk": {"S": "a"}}
AUDIT = {"pk": {"S": "T#acme#M#demo#AUDIT"}, "sk": {"S": "a"}}
CHANGE = {"UpdateExpression": "SET n = :one", "ExpressionAttributeValues": {":one": {"N": "1"}}}
ABSENT = {"ConditionExpression": "attribute_not_exists(zzz)"}


@pytest.fixture
def table(emulator: Emulator) -> Iterator[str]:
    """ARN of an empty table with the keys of ours."""
    dynamodb = emulator.client("dynamodb")
    created = dynamodb.create_table(
        TableName=TABLE,
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk")],
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
        BillingMode="PAY_PER_REQUEST",
    )
    yield created["TableDescription"]["TableArn"]
    dynamodb.delete_table(TableName=TABLE)


@pytest.fixture
def acting(emulator: Emulator, table: str) -> Callable[..., Any]:
    """A DynamoDB client in a role that may do some actions on some partitions of the table."""
    iam, sts = emulator.client("iam"), emulator.client("sts")

    def client(actions: list[str], partitions: list[str]) -> Any:
        name = f"role-{'-'.join(actions)}"[:60]
        trust = {"Effect": "Allow", "Principal": {"AWS": "*"}, "Action": "sts:AssumeRole"}
        role = iam.create_role(RoleName=name, AssumeRolePolicyDocument=_policy(trust))["Role"]["Arn"]
        statement = {
            "Effect": "Allow",
            "Action": [f"dynamodb:{action}" for action in actions],
            "Resource": table,
            "Condition": {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": partitions}},
        }
        iam.put_role_policy(RoleName=name, PolicyName="rights", PolicyDocument=_policy(statement))
        session = sts.assume_role(RoleArn=role, RoleSessionName="test")["Credentials"]
        iam_keys = {
            "aws_access_key_id": session["AccessKeyId"],
            "aws_secret_access_key": session["SecretAccessKey"],
            "aws_session_token": session["SessionToken"],
        }
        return emulator.client("dynamodb", iam_keys)

    return client


def test_a_role_reaches_its_own_partitions_and_no_others(acting: Callable[..., Any]) -> None:
    role = acting(["PutItem", "GetItem", "Query", "BatchGetItem"], ["T#*#M#*#GRAIN"])
    role.put_item(TableName=TABLE, Item=GRAIN)
    role.query(TableName=TABLE, **_query("T#acme#M#demo#GRAIN"))
    role.batch_get_item(RequestItems={TABLE: {"Keys": [GRAIN]}})

    _refused(lambda: role.put_item(TableName=TABLE, Item=AUDIT), "PutItem")
    _refused(lambda: role.get_item(TableName=TABLE, Key=AUDIT), "GetItem")
    _refused(lambda: role.query(TableName=TABLE, **_query("T#acme#M#demo#AUDIT")), "Query")
    _refused(lambda: role.batch_get_item(RequestItems={TABLE: {"Keys": [GRAIN, AUDIT]}}), "BatchGetItem")
    _refused(lambda: role.delete_item(TableName=TABLE, Key=GRAIN), "DeleteItem")


def test_each_member_of_a_transaction_needs_its_single_action_on_its_own_partition(acting: Callable[..., Any]) -> None:
    role = acting(["PutItem", "ConditionCheckItem"], ["T#*#M#*#GRAIN"])
    put = {"Put": {"TableName": TABLE, "Item": GRAIN}}
    check = {"ConditionCheck": {"TableName": TABLE, "Key": {**GRAIN, "sk": {"S": "b"}}, **ABSENT}}
    role.transact_write_items(TransactItems=[put, check])

    foreign = {"Put": {"TableName": TABLE, "Item": AUDIT}}
    update = {"Update": {"TableName": TABLE, "Key": {**GRAIN, "sk": {"S": "c"}}, **CHANGE}}
    _refused(lambda: role.transact_write_items(TransactItems=[put, foreign]), "PutItem")
    _refused(lambda: role.transact_write_items(TransactItems=[put, update]), "UpdateItem")


def test_a_check_inside_a_transaction_is_a_right_of_its_own(acting: Callable[..., Any]) -> None:
    role = acting(["PutItem", "GetItem", "UpdateItem"], ["T#*#M#*#GRAIN"])
    check = {"ConditionCheck": {"TableName": TABLE, "Key": GRAIN, **ABSENT}}

    _refused(lambda: role.transact_write_items(TransactItems=[check]), "ConditionCheckItem")


def _policy(statement: dict[str, Any]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


def _query(partition: str) -> dict[str, Any]:
    return {"KeyConditionExpression": "pk = :pk", "ExpressionAttributeValues": {":pk": {"S": partition}}}


def _refused(call: Callable[[], Any], action: str) -> None:
    with pytest.raises(ClientError) as refusal:
        call()
    assert refusal.value.response["Error"]["Code"] == "AccessDeniedException"
    assert f"dynamodb:{action}" in str(refusal.value)

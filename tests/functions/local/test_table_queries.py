"""The emulated table, made quick, answers queries as DynamoDB does."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import boto3
import pytest
from moto import mock_aws

from provenloop.entry.local.table_queries import look_at_one_partition

ATTRIBUTES = {"pk": "S", "sk": "S", "wake": "S", "wake_at": "N"}
SCHEMAS = {None: ("pk", "sk"), "due": ("wake", "wake_at")}


def _key(hash_key: str, range_key: str) -> list[dict[str, str]]:
    return [{"AttributeName": hash_key, "KeyType": "HASH"}, {"AttributeName": range_key, "KeyType": "RANGE"}]


@pytest.fixture(scope="module")
def table() -> Iterator[Any]:
    """A table with an index, whose items were put in no order; some are not in the index."""
    with mock_aws():
        look_at_one_partition()
        table = boto3.resource("dynamodb", region_name="us-east-1").create_table(
            TableName="loop",
            BillingMode="PAY_PER_REQUEST",
            KeySchema=_key(*SCHEMAS[None]),
            AttributeDefinitions=[{"AttributeName": n, "AttributeType": kind} for n, kind in ATTRIBUTES.items()],
            GlobalSecondaryIndexes=[
                {"IndexName": "due", "KeySchema": _key(*SCHEMAS["due"]), "Projection": {"ProjectionType": "ALL"}}
            ],
        )
        for n in range(60):
            place = n * 37 % 60
            indexed = {"wake": f"w{n % 2}", "wake_at": n * 7 % 10} if n % 5 else {}
            table.put_item(Item={"pk": f"p{place % 3}", "sk": f"s{place:02}", "n": n, **indexed})
        yield table


def _pages(table: Any, **query: Any) -> list[list[dict[str, Any]]]:
    pages = []
    while True:
        page = table.query(**query)
        pages.append(page["Items"])
        if "LastEvaluatedKey" not in page:
            return pages
        query["ExclusiveStartKey"] = page["LastEvaluatedKey"]


def _asked(index: str | None, value: str, **more: Any) -> dict[str, Any]:
    name = SCHEMAS[index][0]
    query = {"KeyConditionExpression": f"{name} = :v", "ExpressionAttributeValues": {":v": value}, **more}
    return query if index is None else {**query, "IndexName": index}


@pytest.mark.parametrize("limit", [None, 1, 7])
@pytest.mark.parametrize("is_forward", [True, False])
@pytest.mark.parametrize(("index", "value"), [(None, "p1"), (None, "p9"), ("due", "w1"), ("due", "w9")])
def test_a_query_answers_its_partition_in_order_page_by_page(
    table: Any, index: str | None, value: str, is_forward: bool, limit: int | None
) -> None:
    more: dict[str, Any] = {"ScanIndexForward": is_forward, **({} if limit is None else {"Limit": limit})}
    pages = _pages(table, **_asked(index, value, **more))
    found = [item for page in pages for item in page]
    hash_key, range_key = SCHEMAS[index]
    expected = [item for item in table.scan()["Items"] if item.get(hash_key) == value]
    assert sorted(item["n"] for item in found) == sorted(item["n"] for item in expected)
    assert all(a[range_key] <= b[range_key] if is_forward else a[range_key] >= b[range_key] for a, b in pairwise(found))
    assert limit is None or all(len(page) <= limit for page in pages)


def test_a_query_by_prefix_finds_that_part_of_the_partition(table: Any) -> None:
    answer = table.query(
        KeyConditionExpression="pk = :v AND begins_with(sk, :s)",
        ExpressionAttributeValues={":v": "p0", ":s": "s1"},
        ConsistentRead=True,
    )
    assert [item["sk"] for item in answer["Items"]] == ["s12", "s15", "s18"]


def test_a_scan_still_sees_every_item(table: Any) -> None:
    assert len(table.scan()["Items"]) == 60

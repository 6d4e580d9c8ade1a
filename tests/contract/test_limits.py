"""Limits that emulators let pass are enforced before a request leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from provenloop.adapters.dynamodb.limits import (
    ITEM_BYTES,
    BatchTooLargeError,
    ItemTooLargeError,
    KeyTooLongError,
    LimitGuard,
    TransactionTooLargeError,
    check_item,
)
from provenloop.adapters.dynamodb.meter import Meter
from provenloop.domain.errors import InternalError, TooLargeError
from tests.faults import FaultLayer, take_snapshot
from tests.faults.tables import TABLE

if TYPE_CHECKING:
    from collections.abc import Callable


def item(sk: str, filler: int = 0) -> dict[str, Any]:
    extra: dict[str, Any] = {"f": {"B": b"x" * filler}} if filler else {}
    return {"pk": {"S": "p"}, "sk": {"S": sk}, **extra}


OVERHEAD = len("pkpskaf")


def puts(count: int, filler: int = 0) -> list[dict[str, Any]]:
    return [{"Put": {"TableName": TABLE, "Item": item(f"{n:03}", filler)}} for n in range(count)]


def test_an_item_of_400_kb_is_the_largest() -> None:
    check_item(item("a", ITEM_BYTES - OVERHEAD))
    with pytest.raises(ItemTooLargeError, match="at most 409600 bytes"):
        check_item(item("a", ITEM_BYTES - OVERHEAD + 1))


@pytest.mark.parametrize(("name", "longest"), [("pk", 2048), ("sk", 1024)])
def test_keys_have_their_own_limits_in_bytes(name: str, longest: int) -> None:
    check_item({**item("a"), name: {"S": "k" * longest}})
    for text in ("k" * (longest + 1), "é" * (longest // 2 + 1), ""):
        with pytest.raises(KeyTooLongError, match=f"{name} must have 1 to {longest} bytes"):
            check_item({**item("a"), name: {"S": text}})


def test_a_guarded_client_sends_nothing_over_a_limit(client: Any) -> None:
    LimitGuard(client)
    layer = FaultLayer(client)
    long_key = {"pk": {"S": "p"}, "sk": {"S": "k" * 1025}}
    grown = {"UpdateExpression": "SET f = :f", "ExpressionAttributeValues": {":f": {"B": b"x" * ITEM_BYTES}}}
    writes = [{"PutRequest": {"Item": item(str(n))}} for n in range(26)]
    refused: list[tuple[type[Exception], Callable[[], Any]]] = [
        (ItemTooLargeError, lambda: client.put_item(TableName=TABLE, Item=item("a", ITEM_BYTES))),
        (ItemTooLargeError, lambda: client.update_item(TableName=TABLE, Key=item("a"), **grown)),
        (ItemTooLargeError, lambda: client.transact_write_items(TransactItems=puts(1, ITEM_BYTES))),
        (KeyTooLongError, lambda: client.get_item(TableName=TABLE, Key=long_key)),
        (KeyTooLongError, lambda: client.delete_item(TableName=TABLE, Key=long_key)),
        (TransactionTooLargeError, lambda: client.transact_write_items(TransactItems=puts(101))),
        (TransactionTooLargeError, lambda: client.transact_write_items(TransactItems=puts(60, 75_000))),
        (BatchTooLargeError, lambda: client.batch_write_item(RequestItems={TABLE: writes})),
        (BatchTooLargeError, lambda: client.batch_get_item(RequestItems={TABLE: {"Keys": [item("a")] * 101}})),
        (
            ItemTooLargeError,
            lambda: client.batch_write_item(RequestItems={TABLE: [{"PutRequest": {"Item": item("a", ITEM_BYTES)}}]}),
        ),
    ]
    for error, call in refused:
        with pytest.raises(error):
            call()

    assert layer.calls == []
    assert take_snapshot(client, TABLE) == {}
    assert issubclass(TransactionTooLargeError, TooLargeError)
    assert issubclass(BatchTooLargeError, InternalError)


def test_requests_at_the_limits_pass(client: Any) -> None:
    guard = LimitGuard(client)
    client.transact_write_items(TransactItems=puts(100))
    client.batch_write_item(RequestItems={TABLE: [{"PutRequest": {"Item": item(str(n))}} for n in range(25)]})
    client.batch_get_item(RequestItems={TABLE: {"Keys": [item(f"{n:03}") for n in range(100)]}})
    client.query(TableName=TABLE, KeyConditionExpression="pk = :p", ExpressionAttributeValues={":p": {"S": "p"}})
    guard.remove()
    client.batch_write_item(RequestItems={TABLE: [{"PutRequest": {"Item": item(str(n))}} for n in range(26)]})


def test_an_update_that_grows_an_item_over_the_limit_is_seen_where_the_item_is_known(client: Any) -> None:
    meter = Meter(client)
    LimitGuard(client, shapes=meter.shapes)
    with meter.measure():
        client.put_item(TableName=TABLE, Item=item("a", 300_000))
    grow = {"UpdateExpression": "SET g = :g", "ExpressionAttributeValues": {":g": {"B": b"x" * 200_000}}}
    with pytest.raises(ItemTooLargeError):
        client.update_item(TableName=TABLE, Key=item("a"), **grow)
    shrink = {"UpdateExpression": "SET f = :g", "ExpressionAttributeValues": {":g": {"B": b"x" * 50_000}}}
    client.update_item(TableName=TABLE, Key=item("a"), **shrink)

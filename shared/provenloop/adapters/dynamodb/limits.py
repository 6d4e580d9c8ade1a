"""Limits of DynamoDB, checked before a request leaves, since emulators let most of them pass.

Sizes are those of ``units``; what an update makes of an item this process has not seen is its key and the values
written. The checks take the attribute values that a client sends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from provenloop.adapters.dynamodb.shapes import Shapes, key_of
from provenloop.adapters.dynamodb.units import TABLE_KEY, Item, item_size, value_size
from provenloop.domain.errors import InternalError, TooLargeError

ITEM_BYTES = 400 * 1024
TRANSACTION_ITEMS = 100
TRANSACTION_BYTES = 4 * 1024 * 1024
BATCH_WRITE_ITEMS = 25
BATCH_GET_ITEMS = 100
PARTITION_KEY_BYTES = 2048
SORT_KEY_BYTES = 1024
#: A query or scan reads this much and gives the rest on further pages.
PAGE_BYTES = 1024 * 1024


class ItemTooLargeError(TooLargeError):
    """An item would be over 400 KB."""


class TransactionTooLargeError(TooLargeError):
    """A transaction would be over 100 items or 4 MB."""


class KeyTooLongError(TooLargeError):
    """A key attribute is empty, or over 2,048 (partition) or 1,024 bytes (sort)."""


class BatchTooLargeError(InternalError):
    """A batch request over 25 writes or 100 reads: whoever made it should have split it."""


def check_item(item: Item) -> None:
    """Refuse a whole item that DynamoDB would not store.

    Raises:
        ItemTooLargeError: it is over 400 KB.
        KeyTooLongError: its key is.
    """
    check_key(item)
    _check_size(item_size(item))


def check_key(key: Item) -> None:
    """Refuse a key, alone or as part of an item.

    Raises:
        KeyTooLongError: an attribute of it is empty or too long.
    """
    for name, longest in zip(TABLE_KEY, (PARTITION_KEY_BYTES, SORT_KEY_BYTES), strict=True):
        if name in key and not 0 < value_size(key[name]) <= longest:
            raise KeyTooLongError(f"{name} must have 1 to {longest} bytes")


def check_transaction(sizes: Sequence[int]) -> None:
    """Refuse a transaction of items of these sizes.

    Raises:
        TransactionTooLargeError: there are over 100, or they are over 4 MB together.
    """
    if len(sizes) > TRANSACTION_ITEMS:
        raise TransactionTooLargeError(f"a transaction holds at most {TRANSACTION_ITEMS} items, this one {len(sizes)}")
    if sum(sizes) > TRANSACTION_BYTES:
        raise TransactionTooLargeError(f"a transaction holds at most {TRANSACTION_BYTES} bytes")


def check_batch(entries: Mapping[str, Sequence[Any]], most: int) -> None:
    """Refuse a batch request with more than ``most`` entries over all tables.

    Raises:
        BatchTooLargeError: it has.
    """
    count = sum(map(len, entries.values()))
    if count > most:
        raise BatchTooLargeError(f"a batch holds at most {most} entries, this one {count}")


class LimitGuard:
    """Checks every request of some clients, and refuses it with an error of ours before it is sent.

    Args:
        clients: botocore DynamoDB clients.
        shapes: sizes of items seen (a ``Meter`` keeps them), so that updates that grow an item are seen too.
    """

    def __init__(self, *clients: Any, shapes: Shapes | None = None) -> None:
        self._shapes = shapes or Shapes()
        self._clients = clients
        for client in clients:
            client.meta.events.register_last("before-parameter-build.dynamodb", self._check)

    def remove(self) -> None:
        """Stop checking."""
        for client in self._clients:
            client.meta.events.unregister("before-parameter-build.dynamodb", self._check)

    def _check(self, params: Mapping[str, Any], model: Any, **_: Any) -> None:
        if model.name == "TransactWriteItems":
            self._check_transaction(params["TransactItems"])
        elif model.name == "BatchWriteItem":
            self._check_batch_write(params["RequestItems"])
        elif model.name == "BatchGetItem":
            check_batch({table: wanted["Keys"] for table, wanted in params["RequestItems"].items()}, BATCH_GET_ITEMS)
        elif "Item" in params or "Key" in params:
            _check_size(self._size(params))

    def _check_transaction(self, actions: Sequence[Mapping[str, Any]]) -> None:
        sizes = [self._size(body) for action in actions for body in action.values()]
        check_transaction(sizes)
        for size in sizes:
            _check_size(size)

    def _check_batch_write(self, tables: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
        check_batch(tables, BATCH_WRITE_ITEMS)
        for table, requests in tables.items():
            for request in requests:
                for body in request.values():
                    _check_size(self._size({"TableName": table, **body}))

    def _size(self, body: Mapping[str, Any]) -> int:
        """Bytes the item will have; its key is checked on the way."""
        if "Item" in body:
            check_key(body["Item"])
            return item_size(body["Item"])
        check_key(body["Key"])
        before = self._shapes.get(key_of(body["TableName"], body["Key"]))
        if "UpdateExpression" in body:
            return self._shapes.updated(before, body).after.size
        return before.size if before else item_size(body["Key"])


def _check_size(size: int) -> None:
    if size > ITEM_BYTES:
        raise ItemTooLargeError(f"an item holds at most {ITEM_BYTES} bytes")

"""Batch requests of any length, and queries over all their pages.

AWS may do only a part of a batch and hand the rest back. The rest is sent again after a wait that doubles, a bounded
number of times; waits carry no jitter, so that tests can count them, and ``sleep`` may add it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

from provenloop.adapters.dynamodb.limits import BATCH_GET_ITEMS, BATCH_WRITE_ITEMS
from provenloop.adapters.dynamodb.units import Item
from provenloop.domain.errors import UnavailableError

FIRST_WAIT_S = 0.05
LONGEST_WAIT_S = 1.0
TRIES = 6

Sleep = Callable[[float], None]


def batch_get(
    client: Any, table: str, keys: Sequence[Item], *, sleep: Sleep, consistent: bool = True, tries: int = TRIES
) -> list[dict[str, Any]]:
    """Those of the items that are there, in no particular order; 100 keys a request.

    Args:
        client: a botocore DynamoDB client.
        table: name of the table.
        keys: distinct keys as attribute values.
        sleep: waits that many seconds.
        consistent: strongly consistent.
        tries: requests made for the same keys at most.

    Raises:
        UnavailableError: some keys were never answered.
    """
    found: list[dict[str, Any]] = []

    def get(wanted: Sequence[Item]) -> Sequence[Item]:
        request = {table: {"Keys": wanted, "ConsistentRead": consistent}}
        reply = client.batch_get_item(RequestItems=request)
        found.extend(reply["Responses"].get(table, ()))
        left: Sequence[Item] = reply.get("UnprocessedKeys", {}).get(table, {}).get("Keys", ())
        return left

    _all_of(keys, BATCH_GET_ITEMS, get, sleep, tries)
    return found


def batch_write(client: Any, table: str, requests: Sequence[Item], *, sleep: Sleep, tries: int = TRIES) -> None:
    """Do these ``PutRequest`` and ``DeleteRequest`` entries, 25 a request; not atomic, and without conditions.

    Raises:
        UnavailableError: some were never done; others are.
    """

    def write(wanted: Sequence[Item]) -> Sequence[Item]:
        reply = client.batch_write_item(RequestItems={table: wanted})
        left: Sequence[Item] = reply.get("UnprocessedItems", {}).get(table, ())
        return left

    _all_of(requests, BATCH_WRITE_ITEMS, write, sleep, tries)


def query_items(client: Any, *, most: int | None = None, **params: Any) -> Iterator[dict[str, Any]]:
    """Items of a query in order, its pages read as they are needed; at most ``most`` of them."""
    return islice(_pages(client, params), most)


def _pages(client: Any, params: dict[str, Any]) -> Iterator[dict[str, Any]]:
    start: dict[str, Any] = {}
    while True:
        reply = client.query(**params, **start)
        yield from reply["Items"]
        if "LastEvaluatedKey" not in reply:
            return
        start = {"ExclusiveStartKey": reply["LastEvaluatedKey"]}


def _all_of(
    entries: Sequence[Item], size: int, send: Callable[[Sequence[Item]], Sequence[Item]], sleep: Sleep, tries: int
) -> None:
    for first in range(0, len(entries), size):
        left = send(entries[first : first + size])
        for attempt in range(tries - 1):
            if not left:
                break
            sleep(min(FIRST_WAIT_S * 2**attempt, LONGEST_WAIT_S))
            left = send(left)
        if left:
            raise UnavailableError("the store answers only in part; try again")

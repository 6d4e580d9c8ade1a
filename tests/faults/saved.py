"""A table that is put back to a moment before: cheaper than preparing it anew for each of many faults."""

from __future__ import annotations

from typing import Any

from tests.faults.calls import KEY_NAMES, Key
from tests.faults.hooks import unobserved

#: Items as DynamoDB writes them, by (pk, sk). Two of them compare like snapshots.
RawItems = dict[Key, dict[str, Any]]

_WRITTEN_AT_ONCE = 25


def raw_items(client: Any, table: str) -> RawItems:
    """All items of a small table, behind the back of every hook of this package."""
    with unobserved():
        pages = client.get_paginator("scan").paginate(TableName=table, ConsistentRead=True)
        items = [item for page in pages for item in page["Items"]]
    return {_key(item): item for item in items}


class SavedTable:
    """A table as it was when this was made, or as it was when it held ``items``."""

    def __init__(self, client: Any, table: str, items: RawItems | None = None) -> None:
        self.items = raw_items(client, table) if items is None else items
        self._client = client
        self._table = table

    def restore(self, now: RawItems | None = None) -> None:
        """Put every item back, and remove those that came since; ``now`` is what the table holds, if that is known."""
        found = raw_items(self._client, self._table) if now is None else now
        puts = [{"PutRequest": {"Item": item}} for key, item in self.items.items() if found.get(key) != item]
        gone = [{"DeleteRequest": {"Key": _key_part(item)}} for key, item in found.items() if key not in self.items]
        requests = [*gone, *puts]
        with unobserved():
            for start in range(0, len(requests), _WRITTEN_AT_ONCE):
                self._client.batch_write_item(RequestItems={self._table: requests[start : start + _WRITTEN_AT_ONCE]})


def _key_part(item: dict[str, Any]) -> dict[str, Any]:
    return {name: item[name] for name in KEY_NAMES}


def _key(item: dict[str, Any]) -> Key:
    return tuple(item[name]["S"] for name in KEY_NAMES)

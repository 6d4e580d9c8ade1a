"""The cost of one answered call, from its parameters and its reply."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from provenloop.adapters.dynamodb.shapes import ABSENT, Change, ItemKey, Shape, Shapes, key_of
from provenloop.adapters.dynamodb.units import TABLE_KEY, Item, item_size, read_units, write_units

_ABSENCE = re.compile(r"attribute_not_exists\s*\(\s*(#?\w+)\s*\)")

#: Refusals that are billed like the write they refuse.
_BILLED_REFUSALS = frozenset({"ConditionalCheckFailedException", "TransactionCanceledException"})

Params = Mapping[str, Any]


@dataclass(slots=True)
class Cost:
    """Units and bytes of one call, or of many; ``exact`` unless some size was estimated."""

    reads: float = 0.0
    writes: int = 0
    bytes_read: int = 0
    bytes_written: int = 0
    exact: bool = True

    def add(self, other: Cost) -> None:
        """Add another cost to this one."""
        self.reads += other.reads
        self.writes += other.writes
        self.bytes_read += other.bytes_read
        self.bytes_written += other.bytes_written
        self.exact = self.exact and other.exact

    def read(self, size: int, *, consistent: bool, transactional: bool = False, exact: bool = True) -> None:
        """Add the read of one item, or of one query page."""
        self.reads += read_units(size, consistent=consistent, transactional=transactional)
        self.bytes_read += size
        self.exact = self.exact and exact

    def write(self, change: Change, *, transactional: bool = False) -> None:
        """Add the write of one item and of its index entries."""
        self.writes += write_units(change.billed, transactional=transactional)
        self.writes += 2 * change.index_units if transactional else change.index_units
        self.bytes_written += change.billed
        self.exact = self.exact and change.exact


class Costing:
    """Works out costs, and keeps ``shapes`` up to date with what the calls show and do."""

    def __init__(self, shapes: Shapes) -> None:
        self._shapes = shapes
        self._by_operation = {
            "GetItem": self._get,
            "BatchGetItem": self._batch_get,
            "TransactGetItems": self._transact_get,
            "Query": self._query,
            "Scan": self._query,
            "PutItem": self._single_write,
            "UpdateItem": self._single_write,
            "DeleteItem": self._single_write,
            "BatchWriteItem": self._batch_write,
            "TransactWriteItems": self._transact_write,
        }

    def of(self, operation: str, params: Params, reply: Mapping[str, Any]) -> Cost:
        """The cost of one call; nothing for one that was throttled or invalid, or is not about items."""
        cost = Cost()
        refused = "Error" in reply
        if operation in self._by_operation and (not refused or reply["Error"].get("Code") in _BILLED_REFUSALS):
            self._by_operation[operation](cost, params, reply)
        return cost

    # reads

    def _get(self, cost: Cost, params: Params, reply: Mapping[str, Any]) -> None:
        self._one(cost, params, reply.get("Item"), consistent=params.get("ConsistentRead", False))

    def _transact_get(self, cost: Cost, params: Params, reply: Mapping[str, Any]) -> None:
        for action, response in zip(params["TransactItems"], reply.get("Responses", ()), strict=False):
            self._one(cost, action["Get"], response.get("Item"), consistent=True, transactional=True)

    def _one(
        self, cost: Cost, get: Params, item: Item | None, *, consistent: bool, transactional: bool = False
    ) -> None:
        key = key_of(get["TableName"], get["Key"])
        if "ProjectionExpression" not in get:
            self._shapes.put(key, self._shapes.shape_of(item) if item else ABSENT)
        known = self._shapes.get(key)
        size = known.size if known is not None else item_size(item or {})
        cost.read(size, consistent=consistent, transactional=transactional, exact=known is not None)

    def _batch_get(self, cost: Cost, params: Params, reply: Mapping[str, Any]) -> None:
        for table, wanted in params["RequestItems"].items():
            found = reply["Responses"].get(table, [])
            left = reply.get("UnprocessedKeys", {}).get(table, {}).get("Keys", [])
            consistent = wanted.get("ConsistentRead", False)
            whole = "ProjectionExpression" not in wanted
            for item in found:
                size = self._seen(table, item).size if whole else item_size(item)
                cost.read(size, consistent=consistent, exact=whole)
            for _ in range(len(wanted["Keys"]) - len(left) - len(found)):
                cost.read(0, consistent=consistent)

    def _query(self, cost: Cost, params: Params, reply: Mapping[str, Any]) -> None:
        items: Sequence[Item] = reply.get("Items", ())
        partial = "ProjectionExpression" in params or "AttributesToGet" in params
        whole = not partial and "IndexName" not in params
        size, exact = 0, not partial
        for item in items:
            size += self._seen(params["TableName"], item).size if whole else self._size(params, item)
        scanned, count = reply.get("ScannedCount", len(items)), len(items)
        if scanned != count:
            size = size * scanned // max(count, 1)
            exact = False
        cost.read(size, consistent=params.get("ConsistentRead", False), exact=exact)

    def _size(self, params: Params, item: Item) -> int:
        """Bytes of an item of which only a part came back, or of an index entry."""
        size = item_size(item)
        if "IndexName" in params or not item.keys() >= set(TABLE_KEY):
            return size
        known = self._shapes.get(key_of(params["TableName"], item))
        return known.size if known else size

    def _seen(self, table: str, item: Item) -> Shape:
        shape = self._shapes.shape_of(item)
        self._shapes.put(key_of(table, item), shape)
        return shape

    # writes

    def _single_write(self, cost: Cost, params: Params, reply: Mapping[str, Any]) -> None:
        done = "Error" not in reply
        key, change = self._change(params, reply.get("Item"), reply.get("Attributes"), done=done)
        cost.write(change)
        if done:
            self._shapes.put(key, change.after)

    def _batch_write(self, cost: Cost, params: Params, reply: Mapping[str, Any]) -> None:
        for table, requests in params["RequestItems"].items():
            left = reply.get("UnprocessedItems", {}).get(table, [])
            for request in requests:
                if request not in left:
                    [body] = request.values()
                    key, change = self._change({"TableName": table, **body}, done=True)
                    cost.write(change)
                    self._shapes.put(key, change.after)

    def _transact_write(self, cost: Cost, params: Params, reply: Mapping[str, Any]) -> None:
        reasons = reply.get("CancellationReasons", [])
        done = "Error" not in reply
        after = []
        for place, action in enumerate(params["TransactItems"]):
            [(verb, body)] = action.items()
            stored = reasons[place].get("Item") if place < len(reasons) else None
            if verb == "ConditionCheck":
                cost.write(self._checked(body, stored), transactional=True)
            else:
                key, change = self._change(body, stored, done=done)
                cost.write(change, transactional=True)
                after.append((key, change.after))
        if not done:
            cost.exact = False  # AWS does not publish what a cancelled transaction is billed
            return
        for key, shape in after:
            self._shapes.put(key, shape)

    def _checked(self, body: Params, stored: Item | None) -> Change:
        key = key_of(body["TableName"], body["Key"])
        if stored:
            self._shapes.put(key, self._shapes.shape_of(stored))
        known = self._shapes.get(key)
        size = known.size if known is not None else item_size(body["Key"])
        return Change(known or ABSENT, size, 0, known is not None)

    def _change(
        self, body: Params, stored: Item | None = None, returned: Item | None = None, *, done: bool
    ) -> tuple[ItemKey, Change]:
        """What one write does or would have done.

        ``stored`` is the item AWS showed with a refusal, ``returned`` the attributes it gave for ``ReturnValues``.
        """
        key = key_of(body["TableName"], body.get("Key") or body["Item"])
        returns = body.get("ReturnValues")
        old = stored or (returned if returns == "ALL_OLD" else None)
        if old:
            self._shapes.put(key, self._shapes.shape_of(old))
        before = self._shapes.get(key)
        if "Item" in body:
            change = self._shapes.replaced(ABSENT if done and _asks_absence(body) else before, body["Item"])
        elif "UpdateExpression" in body:
            shown = returned if returns in ("ALL_NEW", "UPDATED_NEW") else None
            change = self._shapes.updated(before, body, shown)
        else:
            change = self._shapes.removed(before, body["Key"])
        return key, change


def _asks_absence(body: Params) -> bool:
    names = body.get("ExpressionAttributeNames", {})
    return any(names.get(name, name) in TABLE_KEY for name in _asked_absent(body.get("ConditionExpression", "")))


@lru_cache(maxsize=256)
def _asked_absent(condition: str) -> tuple[str, ...]:
    return tuple(_ABSENCE.findall(condition))

"""Cheap keys in moto: texts are compared as they stand, and an item's size is not summed anew for each attribute.

Moto 5 looks through six types before it compares two keys, which a query does for each item it passes. For each
attribute it writes it sums the size of all attributes before, to see whether the item has become too large. Texts are
compared directly here, and an item that stays far below the limit is not summed. What is compared, and which items are
too large, stays the same.
"""

from __future__ import annotations

from typing import Any

_TEXT = "S"
#: Bytes below which an item is certainly small enough: a quarter of moto's limit.
_SMALL = 100_000


def compare_plainly() -> None:
    """Make moto's DynamoDB compare texts as they stand and sum only large items. Doing it again changes nothing."""
    from moto.dynamodb.models import dynamo_type

    value: Any = dynamo_type.DynamoType
    if hasattr(value, "compares_plainly"):
        return
    _compare_texts(value)
    _sum_large_items(dynamo_type)
    value.compares_plainly = True


def _compare_texts(value: Any) -> None:
    equal, less, hashed = value.__eq__, value.__lt__, value.__hash__

    def is_equal(self: Any, other: Any) -> Any:
        return self.value == other.value if self.type == other.type == _TEXT else equal(self, other)

    def is_less(self: Any, other: Any) -> Any:
        return self.value < other.value if self.type == other.type == _TEXT else less(self, other)

    def hash_of(self: Any) -> int:
        return hash((_TEXT, self.value)) if self.type == _TEXT else hashed(self)

    value.__eq__, value.__lt__, value.__hash__ = is_equal, is_less, hash_of


def _sum_large_items(module: Any) -> None:
    value, attributes, bytesize = module.DynamoType, module.LimitedSizeDict, module.bytesize
    checked = attributes.__setitem__

    def size_of(part: Any) -> int:
        return int(part.size() if type(part) is value else bytesize(str(part)))

    def set_item(self: Any, key: str, part: Any) -> None:
        # What was replaced or removed still counts, so that this is never too little.
        at_most = getattr(self, "at_most", None)
        if at_most is None:
            at_most = sum(bytesize(name) + size_of(present) for name, present in self.items())
        self.at_most = at_most + bytesize(key) + size_of(part)
        if self.at_most < _SMALL:
            dict.__setitem__(self, key, part)
        else:
            checked(self, key, part)

    attributes.__setitem__ = set_item

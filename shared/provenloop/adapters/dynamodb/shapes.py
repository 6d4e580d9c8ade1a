"""What a process remembers of the items it has seen: sizes, and where they stand in the indexes. Never their content.

Bounded: the items seen longest ago are forgotten first. Another process may have changed an item since; what is
remembered serves to estimate costs and limits, never to decide.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from provenloop.adapters.dynamodb.units import (
    TABLE_KEY,
    IndexSpec,
    Item,
    attribute_sizes,
    entry_size,
    index_write_units,
)
from provenloop.adapters.dynamodb.updates import described, effect_of, effect_shown

#: Table, partition key, sort key.
ItemKey = tuple[Any, ...]


class Shape(NamedTuple):
    """One item: bytes of each attribute with its name, a digest of each index key attribute's value, bytes in all.

    An item that is known to be absent has no sizes.
    """

    sizes: Mapping[str, int]
    marks: Mapping[str, int]
    size: int


ABSENT = Shape({}, {}, 0)


class Change(NamedTuple):
    """An item before and after a write, as far as known: ``billed`` bytes are those of the larger one."""

    after: Shape
    billed: int
    index_units: int
    exact: bool


class Shapes:
    """Remembers shapes by key.

    Args:
        indexes: the table's global secondary indexes.
        capacity: how many items are remembered.
    """

    def __init__(self, indexes: Iterable[IndexSpec] = (), capacity: int = 4096) -> None:
        self._indexes = tuple(indexes)
        self._marked = tuple({name for index in self._indexes for name in index.key})
        self._capacity = capacity
        self._seen: OrderedDict[ItemKey, Shape] = OrderedDict()

    def get(self, key: ItemKey) -> Shape | None:
        """What is remembered of an item; None if it was never seen."""
        return self._seen.get(key)

    def put(self, key: ItemKey, shape: Shape) -> None:
        """Remember an item as it is now."""
        self._seen[key] = shape
        self._seen.move_to_end(key)
        if len(self._seen) > self._capacity:
            self._seen.popitem(last=False)

    def shape_of(self, item: Item) -> Shape:
        """The shape of a whole item."""
        sizes = attribute_sizes(item)
        return Shape(sizes, self._marks(item), sum(sizes.values()))

    def replaced(self, before: Shape | None, item: Item) -> Change:
        """A put of a whole item over what was there."""
        after = self.shape_of(item)
        known = before or ABSENT
        return Change(after, max(known.size, after.size), self._index_units(known, after, None), before is not None)

    def removed(self, before: Shape | None, key: Item) -> Change:
        """A delete of what was there."""
        known = before or self.shape_of(key)
        return Change(ABSENT, known.size, self._index_units(known, ABSENT, None), before is not None)

    def updated(self, before: Shape | None, params: Mapping[str, Any], shown: Item | None = None) -> Change:
        """An update of what was there; the item starts as its key if it was absent.

        ``shown`` are the attributes AWS returned of the item after the update (``ALL_NEW`` or ``UPDATED_NEW``).
        """
        known = before or ABSENT
        if shown and params.get("ReturnValues") == "ALL_NEW":
            effect = effect_shown(*described(params)[:2], shown)
        else:
            effect = effect_of(*described(params), known.sizes or attribute_sizes(params["Key"]))
            if shown:
                effect = effect.corrected(shown)
        marks = {name: mark for name, mark in known.marks.items() if name in effect.sizes}
        after = Shape(effect.sizes, marks | self._marks(effect.values), sum(effect.sizes.values()))
        units = self._index_units(known, after, effect.written)
        return Change(after, max(known.size, after.size + effect.extra), units, before is not None and effect.exact)

    def _marks(self, item: Item) -> dict[str, int]:
        return {name: hash(next(iter(item[name].values()))) for name in self._marked if name in item}

    def _index_units(self, before: Shape, after: Shape, written: Collection[str] | None) -> int:
        """Write units of all indexes; ``written`` names the attributes touched (``None``: all)."""
        if not before.marks and not after.marks:
            return 0
        return sum(_units_of(index, before, after, written) for index in self._indexes)


def key_of(table: str, item: Item) -> ItemKey:
    """The key under which an item, given whole or by its key, is remembered."""
    partition, sort = TABLE_KEY
    return (table, *item[partition].values(), *item[sort].values())


def _units_of(index: IndexSpec, before: Shape, after: Shape, written: Collection[str] | None) -> int:
    moved = any(before.marks.get(name) != after.marks.get(name) for name in index.key)
    changed = written is None or index.carries is None or any(name in written for name in index.carries)
    sizes = entry_size(before.sizes, index), entry_size(after.sizes, index)
    return index_write_units(*sizes, moved=moved, changed=changed and index.carries != ())

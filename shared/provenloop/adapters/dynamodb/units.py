"""Sizes of items and the capacity units of one operation, by AWS's published rules.

Emulators report units wrongly, so budgets are checked against these functions. Items are the low-level attribute
values a client sends and receives (``{"pk": {"S": "..."}}``). Sizes are bytes; 1 KB is 1,024 of them.

* A read unit is a strongly consistent read of up to 4 KB; eventually consistent reads cost half, transactional ones
  double. Every item read by key is rounded up by itself, the items of a query together.
* A write unit is a write of up to 1 KB, of the larger of the item before and after; transactional ones cost double.
* An index is written when its entry comes, goes or changes; a changed index key is both. AWS does not publish whether
  a transaction doubles this too; it is doubled here, so a budget can only be over-estimated.

A number's size is an approximation of AWS's own: a byte for two significant digits, and one more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

READ_UNIT_BYTES = 4096
WRITE_UNIT_BYTES = 1024

#: Bytes a list or map takes besides its elements, and each of its elements besides itself.
DOCUMENT_OVERHEAD = 3
ELEMENT_OVERHEAD = 1

#: One attribute value as the client sends it: its type and its content, for example ``{"S": "text"}``.
AttributeValue = Mapping[str, Any]
Item = Mapping[str, AttributeValue]


def text_size(text: str) -> int:
    """Bytes of a text as stored."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


#: Bytes of an attribute name; there are few of them.
name_size = lru_cache(maxsize=1024)(text_size)


def number_size(number: str) -> int:
    """Bytes of a number given as its decimal text; zeros at both ends count nothing."""
    if number.isdigit():  # nearly all of ours
        return (len(number.strip("0")) + 1) // 2 + 1
    mantissa = number.upper().partition("E")[0]
    return (len(mantissa.lstrip("+-").replace(".", "").strip("0")) + 1) // 2 + 1


def value_size(value: AttributeValue) -> int:
    """Bytes of one attribute value without its name."""
    kind, content = next(iter(value.items()))
    if kind == "S":
        return len(content) if content.isascii() else text_size(content)
    if kind == "N":
        return number_size(content)
    if kind == "M":
        return DOCUMENT_OVERHEAD + item_size(content) + ELEMENT_OVERHEAD * len(content)
    if kind == "L":
        return DOCUMENT_OVERHEAD + sum(value_size(part) + ELEMENT_OVERHEAD for part in content)
    return _plain_size(kind, content)


def _plain_size(kind: str, content: Any) -> int:
    if kind == "B":
        return len(content)
    if kind == "SS":
        return sum(map(text_size, content))
    if kind == "NS":
        return sum(map(number_size, content))
    if kind == "BS":
        return sum(map(len, content))
    return 1  # BOOL, NULL


def attribute_sizes(item: Item) -> dict[str, int]:
    """Bytes of each attribute, name included."""
    return {name: name_size(name) + value_size(value) for name, value in item.items()}


def item_size(item: Item) -> int:
    """Bytes of a whole item, the names of its attributes included."""
    size = 0
    for name, value in item.items():
        size += name_size(name) + value_size(value)
    return size


def read_units(size: int, *, consistent: bool = False, transactional: bool = False) -> float:
    """Read units of one item read by key, or of all items of one query page together.

    Args:
        size: bytes read; 0 for an item or a result that is not there, which costs as much as the smallest.
        consistent: strongly consistent.
        transactional: part of a ``TransactGetItems``.
    """
    blocks = max(-(-size // READ_UNIT_BYTES), 1)
    if transactional:
        return 2.0 * blocks
    return float(blocks) if consistent else blocks / 2


def query_units(sizes: Iterable[int], *, consistent: bool = False) -> float:
    """Read units of one page of a query that evaluated items of these sizes (index entries, if it read an index)."""
    return read_units(sum(sizes), consistent=consistent)


def write_units(size: int, *, transactional: bool = False) -> int:
    """Write units of one item.

    Args:
        size: bytes of the larger of the item before and after; a refused condition costs the same.
        transactional: part of a ``TransactWriteItems``, as a write or as a condition check.
    """
    blocks = max(-(-size // WRITE_UNIT_BYTES), 1)
    return 2 * blocks if transactional else blocks


@dataclass(frozen=True, slots=True)
class IndexSpec:
    """A global secondary index: the attributes of its key, and those it carries besides (``None``: all)."""

    name: str
    key: tuple[str, ...]
    carries: tuple[str, ...] | None = ()


#: Table key attributes, which every index entry carries.
TABLE_KEY = ("pk", "sk")


def entry_size(sizes: Mapping[str, int], index: IndexSpec) -> int:
    """Bytes of the index entry of an item with these attribute sizes; 0 if it has none, since the index is sparse."""
    for name in index.key:
        if name not in sizes:
            return 0
    if index.carries is None:
        return sum(sizes.values())
    return sum(sizes.get(name, 0) for name in _entry_names(index))


@lru_cache(maxsize=64)
def _entry_names(index: IndexSpec) -> frozenset[str]:
    return frozenset((*TABLE_KEY, *index.key, *(index.carries or ())))


def index_write_units(before: int, after: int, *, moved: bool, changed: bool) -> int:
    """Write units of an index for one write of the table.

    Args:
        before: bytes of the entry before, 0 if there was none.
        after: bytes of the entry after, 0 if there is none.
        moved: whether the index key changed, so that the old entry goes and a new one comes.
        changed: whether anything the entry carries changed.
    """
    if before and after and not moved:
        return write_units(max(before, after)) if changed else 0
    return (write_units(before) if before else 0) + (write_units(after) if after else 0)

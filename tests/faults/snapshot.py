"""A whole table at one moment, and two of them compared item by item."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from boto3.dynamodb.types import Binary, TypeDeserializer

from tests.faults.calls import KEY_NAMES
from tests.faults.hooks import unobserved

if TYPE_CHECKING:
    from collections.abc import Iterator

Snapshot = dict[tuple[Any, ...], dict[str, Any]]
Ignore = Callable[[tuple[Any, ...], str], bool]

_MISSING = object()


def take_snapshot(client: Any, table: str) -> Snapshot:
    """All items by (pk, sk), as Python values, read behind the back of every hook of this package."""
    read = TypeDeserializer().deserialize
    with unobserved():
        pages = client.get_paginator("scan").paginate(TableName=table, ConsistentRead=True)
        items = [{name: _plain(read(value)) for name, value in raw.items()} for page in pages for raw in page["Items"]]
    return {tuple(item[name] for name in KEY_NAMES): item for item in items}


def changes(before: Snapshot, after: Snapshot, *, ignore: Ignore | None = None) -> list[str]:
    """One line for each item that came or went and each attribute that differs, in key order.

    ``ignore(key, attribute)`` leaves an attribute out of the comparison.
    """
    skip = ignore or (lambda *_: False)
    return [line for key in sorted(before.keys() | after.keys()) for line in _of_item(key, before, after, skip)]


def assert_unchanged(before: Snapshot, after: Snapshot, *, ignore: Ignore | None = None) -> None:
    """Fail with the list of changes unless there are none."""
    found = changes(before, after, ignore=ignore)
    if found:
        raise AssertionError("the table changed:\n" + "\n".join(found))


def _of_item(key: tuple[Any, ...], before: Snapshot, after: Snapshot, skip: Ignore) -> Iterator[str]:
    name = " / ".join(map(str, key))
    if key not in after:
        yield f"- {name}  {_short(before[key])}"
    elif key not in before:
        yield f"+ {name}  {_short(after[key])}"
    else:
        old, new = before[key], after[key]
        for attribute in sorted(old.keys() | new.keys()):
            was, now = old.get(attribute, _MISSING), new.get(attribute, _MISSING)
            if was != now and not skip(key, attribute):
                yield f"~ {name}  {attribute}: {_short(was)} -> {_short(now)}"


def _short(value: Any) -> str:
    if isinstance(value, dict):
        value = {name: part for name, part in value.items() if name not in KEY_NAMES}
    text = "(none)" if value is _MISSING else repr(value)
    return text if len(text) <= 160 else f"{text[:157]}..."


def _plain(value: Any) -> Any:
    if isinstance(value, Binary):
        return value.__bytes__()
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_plain(part) for part in value]
    return value

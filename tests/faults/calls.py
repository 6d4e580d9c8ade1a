"""What one AWS call was about: operation, table, index, keys touched, and which process made it.

A process is whoever would die together: the test itself (``main``) or one actor of an ``Interleaving``.
"""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: Names of the key attributes of the one table.
KEY_NAMES = ("pk", "sk")

Key = tuple[Any, ...]

process_name: ContextVar[str] = ContextVar("process_name", default="main")

_WRITES = frozenset({"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"})


@dataclass(frozen=True, slots=True)
class Call:
    """One call as the fault layer saw it; ``n`` counts from 1."""

    n: int
    operation: str
    table: str | None
    index: str | None
    keys: tuple[Key, ...]
    process: str
    params: Mapping[str, Any] = field(repr=False, compare=False)

    @property
    def writes(self) -> bool:
        """Whether the call could change a table."""
        return self.operation in _WRITES

    def __str__(self) -> str:
        what = ", ".join("/".join(map(str, key)) for key in self.keys) or self.index or self.table or ""
        return f"{self.n} {self.process}: {self.operation} {what}".rstrip()


def describe(n: int, operation: str, params: Mapping[str, Any]) -> Call:
    """The call of the present process with these parameters."""
    parts = list(_parts(operation, params))
    tables = {table for table, _, _ in parts}
    return Call(
        n=n,
        operation=operation,
        table=params.get("TableName") or (tables.pop() if len(tables) == 1 else None),
        index=params.get("IndexName"),
        keys=tuple(key for _, key, _ in parts),
        process=process_name.get(),
        params=params,
    )


def written_keys(operation: str, params: Mapping[str, Any]) -> list[tuple[str, Key]]:
    """Table and key of each item the call would change."""
    return [(table, key) for table, key, writes in _parts(operation, params) if writes]


def _parts(operation: str, params: Mapping[str, Any]) -> Iterator[tuple[str, Key, bool]]:
    if operation == "BatchGetItem":
        for table, wanted in params["RequestItems"].items():
            yield from ((table, _key_of(key), False) for key in wanted["Keys"])
    elif operation == "BatchWriteItem":
        for table, requests in params["RequestItems"].items():
            yield from ((table, _key_in(next(iter(request.values()))), True) for request in requests)
    elif operation in ("TransactWriteItems", "TransactGetItems"):
        for action in params["TransactItems"]:
            [(verb, body)] = action.items()
            yield body["TableName"], _key_in(body), verb in ("Put", "Update", "Delete")
    elif "Key" in params or "Item" in params:
        yield params["TableName"], _key_in(params), operation in _WRITES


def _key_in(body: Mapping[str, Any]) -> Key:
    return _key_of(body["Key"] if "Key" in body else body["Item"])


def _key_of(item: Mapping[str, Mapping[str, Any]]) -> Key:
    return tuple(next(iter(item[name].values())) for name in KEY_NAMES if name in item)

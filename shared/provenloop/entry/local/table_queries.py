"""Cheap queries in moto: a query looks at its own partition, in the order the partition needs, and not at the table.

For each query moto 5 sorts every item of the table and then keeps those of one partition, which it sorts again. So the
first sort decides nothing, and of a table without an index nothing outside the partition does. What a query answers is
not touched.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

#: What the query that is running may look at, None when none is.
_in_reach: ContextVar[Callable[[Any], list[Any]] | None] = ContextVar("items_in_reach", default=None)


def _partition(hash_key: Any) -> Callable[[Any], list[Any]]:
    return lambda table: list(table.items.get(hash_key, {}).values())


def _everything(table: Any) -> list[Any]:
    return [item for rows in table.items.values() for item in rows.values()]


def look_at_one_partition() -> None:
    """Make moto's DynamoDB query only what can be in the answer. Doing it again changes nothing."""
    from moto.dynamodb.models.table import Table

    table_class: Any = Table
    if hasattr(table_class, "looks_at_one_partition"):
        return
    query, all_items = table_class.query, table_class.all_items
    signature = inspect.signature(query)

    def quick_query(self: Any, hash_key: Any, *args: Any, **named: Any) -> Any:
        given = signature.bind(self, hash_key, *args, **named)
        reach = _everything if given.arguments.get("index_name") else _partition(hash_key)
        token = _in_reach.set(None if self.range_key_attr is None else reach)
        try:
            return query(*given.args, **given.kwargs)
        finally:
            _in_reach.reset(token)

    def items_in_reach(self: Any) -> Any:
        reach = _in_reach.get()
        return all_items(self) if reach is None else reach(self)

    table_class.query, table_class.all_items = quick_query, items_in_reach
    table_class.looks_at_one_partition = True

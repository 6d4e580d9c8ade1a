"""Global secondary indexes that lag behind their table, entry by entry.

A second table, the mirror, holds each item as it was when its index entry was last brought up to date, and queries of
an index are sent there. So a late entry is stale in every way a real one is: a new item is missing, a deleted one is
still listed, a changed one stands under its old key, and conditions, filters, order and pages are the engine's own.
"""

from __future__ import annotations

import json
from typing import Any, ClassVar

from tests.faults.calls import KEY_NAMES, Key, written_keys
from tests.faults.hooks import ClientHooks, Exchange, Reply, unobserved


class LateIndex(ClientHooks):
    """From its making on, writes to the table reach its indexes late.

    Args:
        clients: the clients that write and query; the first is also used to keep the mirror.
        table: name of the table.
        lag: an entry catches up after this many further calls of the clients; ``None``: only by ``release()``.
    """

    #: A write whose reply another hook then loses is still a write.
    after_first: ClassVar[bool] = True

    def __init__(self, *clients: Any, table: str, lag: int | None = None) -> None:
        self._table = table
        self._mirror = f"{table}.late"
        self._lag = lag
        self._calls = 0
        #: Key -> number of the call that wrote the item last.
        self._late: dict[Key, int] = {}
        super().__init__(*clients)
        with unobserved():
            self._make_mirror()

    @property
    def late(self) -> tuple[Key, ...]:
        """Keys of the items whose index entries are behind, oldest write first."""
        return tuple(self._late)

    def release(self, *keys: Key) -> None:
        """Bring the index entries of these items (none given: of all) up to date."""
        with unobserved():
            for key in keys or self.late:
                self._catch_up(key)

    def remove(self) -> None:
        """Take the handlers off and drop the mirror: the indexes are in time again."""
        super().remove()
        with unobserved():
            if self._mirror in self.clients[0].list_tables()["TableNames"]:
                self.clients[0].delete_table(TableName=self._mirror)

    def before_call(self, exchange: Exchange) -> Reply | None:
        """Send queries of an index to the mirror."""
        self._calls += 1
        if exchange.params.get("TableName") == self._table and "IndexName" in exchange.params:
            self._release_due()
            body = json.loads(exchange.request["body"])
            exchange.request["body"] = json.dumps({**body, "TableName": self._mirror}).encode()
        return None

    def after_call(self, exchange: Exchange) -> None:
        """Note what was written."""
        if exchange.succeeded:
            for table, key in written_keys(exchange.operation, exchange.params):
                if table == self._table:
                    self._late.pop(key, None)
                    self._late[key] = self._calls

    def _release_due(self) -> None:
        if self._lag is not None:
            due = [key for key, since in self._late.items() if self._calls - since > self._lag]
            with unobserved():
                for key in due:
                    self._catch_up(key)

    def _catch_up(self, plain: Key) -> None:
        del self._late[plain]
        key = {name: {"S": value} for name, value in zip(KEY_NAMES, plain, strict=True)}
        client = self.clients[0]
        item = client.get_item(TableName=self._table, Key=key, ConsistentRead=True).get("Item")
        if item is None:
            client.delete_item(TableName=self._mirror, Key=key)
        else:
            client.put_item(TableName=self._mirror, Item=item)

    def _make_mirror(self) -> None:
        client = self.clients[0]
        found = client.describe_table(TableName=self._table)["Table"]
        client.create_table(
            TableName=self._mirror,
            KeySchema=found["KeySchema"],
            AttributeDefinitions=found["AttributeDefinitions"],
            BillingMode="PAY_PER_REQUEST",
            GlobalSecondaryIndexes=[
                {part: index[part] for part in ("IndexName", "KeySchema", "Projection")}
                for index in found["GlobalSecondaryIndexes"]
            ],
        )
        for page in client.get_paginator("scan").paginate(TableName=self._table, ConsistentRead=True):
            for item in page["Items"]:
                client.put_item(TableName=self._mirror, Item=item)

"""A small table with the keys and indexes that template.yaml gives the real one."""

from __future__ import annotations

from typing import Any

from provenloop.entry.local.cheap_emulator import make_emulator_cheap
from provenloop.entry.local.resources import Index, tables
from tests.template.reading import TEMPLATE

TABLE = "loop"
(_REAL,) = tables(TEMPLATE)


def make_table(client: Any, name: str = TABLE) -> None:
    """Create the table, empty."""
    make_emulator_cheap()
    client.create_table(
        TableName=name,
        KeySchema=_key(_REAL.hash_key, _REAL.range_key),
        AttributeDefinitions=[{"AttributeName": n, "AttributeType": kind} for n, kind in _REAL.attributes.items()],
        BillingMode="PAY_PER_REQUEST",
        GlobalSecondaryIndexes=[_index(index) for index in _REAL.indexes],
    )


def item(sk: str, **attributes: str) -> dict[str, Any]:
    """An item of the one partition that tests of faults use, with attributes that are texts."""
    return {"pk": {"S": "p"}, "sk": {"S": sk}, **{name: {"S": value} for name, value in attributes.items()}}


def put(client: Any, sk: str, **attributes: str) -> Any:
    """Put such an item; what the client answers."""
    return client.put_item(TableName=TABLE, Item=item(sk, **attributes))


def _index(index: Index) -> dict[str, Any]:
    projection: dict[str, Any] = {"ProjectionType": index.projection}
    if index.included:
        projection["NonKeyAttributes"] = list(index.included)
    return {
        "IndexName": index.name,
        "KeySchema": _key(index.hash_key, index.range_key),
        "Projection": projection,
    }


def _key(partition: str, sort: str | None) -> list[dict[str, str]]:
    schema = [{"AttributeName": partition, "KeyType": "HASH"}]
    return schema if sort is None else [*schema, {"AttributeName": sort, "KeyType": "RANGE"}]

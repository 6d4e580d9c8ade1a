"""A small table with the keys and indexes of the real one, for tests of what lies below the adapters."""

from __future__ import annotations

from typing import Any

TABLE = "loop"

_TYPES = {"pk": "S", "sk": "S", "queue_pk": "S", "queue_sk": "S", "wake": "S", "wake_at": "N"}


def make_table(client: Any, name: str = TABLE) -> None:
    """Create the table with the indexes ``queue`` (carries ``row``) and ``due`` (keys only)."""
    client.create_table(
        TableName=name,
        KeySchema=_key("pk", "sk"),
        AttributeDefinitions=[{"AttributeName": n, "AttributeType": t} for n, t in _TYPES.items()],
        BillingMode="PAY_PER_REQUEST",
        GlobalSecondaryIndexes=[
            {
                "IndexName": "queue",
                "KeySchema": _key("queue_pk", "queue_sk"),
                "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["row"]},
            },
            {
                "IndexName": "due",
                "KeySchema": _key("wake", "wake_at"),
                "Projection": {"ProjectionType": "KEYS_ONLY"},
            },
        ],
    )


def _key(partition: str, sort: str) -> list[dict[str, str]]:
    return [{"AttributeName": partition, "KeyType": "HASH"}, {"AttributeName": sort, "KeyType": "RANGE"}]

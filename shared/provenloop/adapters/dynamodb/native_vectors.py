"""Vectors in the vector index that DynamoDB keeps itself, for scopes with more than some 20,000 recipes.

The index has the attribute ``vector``, the hash ``vector_pk`` (one scope and space), keys only, and cosine distance.
It follows the table like other indexes do: what was put is found a little later.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from provenloop.adapters.dynamodb import keys, packing, table
from provenloop.adapters.dynamodb.faults import OVERLOADS
from provenloop.adapters.dynamodb.keys import Key, partition
from provenloop.adapters.dynamodb.packed_vectors import AT_ONCE
from provenloop.adapters.dynamodb.reading import as_entity
from provenloop.domain.errors import InternalError, UnavailableError
from provenloop.domain.names import MemoryId
from provenloop.domain.recipe_vectors import VectorItem
from provenloop.services.ports import Put, Remove, Write
from provenloop.services.recipe_ports import Near, Vector


class NativeVectorIndex:
    """Implements ``services.recipe_ports.VectorIndex`` on an index of the table that the process is bound to.

    Args:
        table_name: the table.
        index_name: its vector index.
    """

    def __init__(self, table_name: str, index_name: str) -> None:
        self._table = table_name
        self._index = index_name

    def putting(
        self,
        memory: MemoryId,  # noqa: ARG002  (the port's: whoever commits the writes says so once more)
        scope_key: str,
        space: str,
        vectors: Mapping[str, Vector],
    ) -> Sequence[Write]:
        """See ``VectorIndex``."""
        if not 0 < len(vectors) <= AT_ONCE:
            raise ValueError(f"1 to {AT_ONCE} vectors at once")
        return [Put(VectorItem(scope_key, space, name, packing.packed([vector]))) for name, vector in vectors.items()]

    def removing(self, memory: MemoryId, scope_key: str, spaces: Collection[str], name: str) -> Sequence[Write]:
        """See ``VectorIndex``."""
        found = (_item(memory, scope_key, space, name) for space in spaces)
        return [Remove(item, expected=item.rev) for item in found if item is not None]

    def query(self, memory: MemoryId, scope_key: str, space: str, vector: Vector, k: int) -> tuple[Near, ...]:
        """See ``VectorIndex``."""
        if k < 1:
            return ()
        try:
            client: Any = table.connection().client
            answer = client.search_vectors(
                TableName=self._table,
                IndexName=self._index,
                SearchVector=[{"N": f"{value:.7g}"} for value in vector],
                SearchConditionExpression="vector_pk = :scope",
                ExpressionAttributeValues={":scope": {"S": keys.vector_partition(memory, scope_key, space)}},
                ProjectionExpression="sk",
                TopK=k,
            )
        except ClientError as error:
            raise _translated(error) from error
        except BotoCoreError as error:
            raise UnavailableError("the vector index does not answer; try again") from error
        prefix = keys.vector_items(scope_key, space)
        return tuple(sorted((_near(result, prefix) for result in answer["SearchResults"]), key=_by_nearness))

    def tidy(self, memory: MemoryId, scope_key: str, space: str, now: int) -> None:
        """See ``VectorIndex``; the store tidies its own index."""


def _item(memory: MemoryId, scope_key: str, space: str, name: str) -> VectorItem | None:
    row = table.get(Key(partition(memory, "RECIPE"), keys.vector_item(scope_key, space, name)))
    return None if row is None else as_entity(row, VectorItem)


def _near(result: Mapping[str, Any], prefix: str) -> Near:
    """Cosine distance is 0 where vectors are the same and 2 where they are opposite."""
    return Near(result["Item"]["sk"]["S"].removeprefix(prefix), 1 - result["Score"])


def _translated(error: ClientError) -> UnavailableError | InternalError:
    if error.response["Error"]["Code"] in OVERLOADS:
        return UnavailableError("the vector index does not answer; try again")
    return InternalError("the vector index refused a search")


def _by_nearness(near: Near) -> tuple[float, str]:
    return -near.similarity, near.name

"""DynamoDB's ``SearchVectors`` in this process: exact cosine over the items of an emulated table."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tests.faults import unobserved
from tests.faults.canned import answer
from tests.faults.hooks import ClientHooks, Exchange
from tests.faults.tables import TABLE

if TYPE_CHECKING:
    from tests.faults.hooks import Reply


class SearchVectors(ClientHooks):
    """Answers the one call that the emulator does not know; botocore has checked the request before.

    ``searches`` are the parameters it was called with.
    """

    def __init__(self, client: Any) -> None:
        super().__init__(client)
        self.client = client
        self.searches: list[dict[str, Any]] = []

    def before_call(self, exchange: Exchange) -> Reply | None:
        if exchange.operation != "SearchVectors":
            return None
        self.searches.append(exchange.params)
        asked = exchange.params
        assert asked["SearchConditionExpression"] == "vector_pk = :scope"
        scope = asked["ExpressionAttributeValues"][":scope"]
        wanted = _numbers(asked["SearchVector"])
        with unobserved():
            items = self.client.scan(TableName=TABLE, ConsistentRead=True)["Items"]
        found: list[dict[str, Any]] = [
            {"Item": {"sk": item["sk"]}, "Score": 1 - _cosine(wanted, _numbers(item["vector"]["L"]))}
            for item in items
            if item.get("vector_pk") == scope
        ]
        found.sort(key=lambda each: each["Score"])
        return answer({"SearchResults": found[: asked["TopK"]]})


def _numbers(values: list[dict[str, str]]) -> list[float]:
    return [float(value["N"]) for value in values]


def _cosine(left: list[float], right: list[float]) -> float:
    return sum(map(float.__mul__, left, right)) / (math.hypot(*left) * math.hypot(*right))

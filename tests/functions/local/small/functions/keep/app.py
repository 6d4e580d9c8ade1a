"""Writes a thing twice: through a client and through a model, both made once for the life of the process."""

from __future__ import annotations

import os
from functools import cache
from typing import Any

import boto3
from pynamodb.attributes import UnicodeAttribute
from pynamodb.models import Model


class Thing(Model):
    """A thing."""

    class Meta:
        """Where things are."""

        table_name = os.environ["TABLE"]
        region = os.environ["AWS_REGION"]

    pk = UnicodeAttribute(hash_key=True)
    sk = UnicodeAttribute(range_key=True)


@cache
def _dynamodb() -> Any:
    return boto3.client("dynamodb")


def lambda_handler(event: dict[str, Any], _: Any) -> dict[str, Any]:
    """PUT /kept/{id}."""
    name = event["pathParameters"]["id"]
    item = {"pk": {"S": name}, "sk": {"S": "client"}}
    _dynamodb().put_item(TableName=os.environ["TABLE"], Item=item)
    Thing(name, "model").save()
    return {"statusCode": 201}

"""Keeps the messages it gets as items; fails those that ask for it."""

from __future__ import annotations

import json
import os
from functools import cache
from typing import Any

import boto3


@cache
def _dynamodb() -> Any:
    return boto3.client("dynamodb")


def lambda_handler(event: dict[str, Any], _: Any) -> Any:
    """A body of ``fail`` reports itself, ``raise`` fails the invocation, ``{"answer": ...}`` is answered as it is."""
    failures = []
    for record in event["Records"]:
        body = record["body"]
        texts = {"pk": body, "sk": record["attributes"]["ApproximateReceiveCount"], "row": json.dumps(record)}
        item = {name: {"S": text} for name, text in texts.items()}
        _dynamodb().put_item(TableName=os.environ["TABLE"], Item=item)
        if body.startswith("raise"):
            raise RuntimeError(body)
        if body.startswith('{"answer":'):
            return json.loads(body)["answer"]
        if body.startswith("fail"):
            failures.append({"itemIdentifier": record["messageId"]})
    return {"batchItemFailures": failures}

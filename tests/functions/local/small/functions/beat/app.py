"""Sends one piece of work at each beat, and fails while its colour is red."""

from __future__ import annotations

import json
import os
from functools import cache
from typing import Any

import boto3


@cache
def _sqs() -> Any:
    return boto3.client("sqs")


def lambda_handler(event: dict[str, Any], _: Any) -> None:
    """One scheduled event."""
    if os.environ["COLOUR"] == "red hot":
        raise RuntimeError("too hot")
    _sqs().send_message(QueueUrl=os.environ["WORK"], MessageBody=json.dumps(event), MessageGroupId="beat")

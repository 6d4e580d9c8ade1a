"""Answers with what it was asked to answer, else with what it was given."""

from __future__ import annotations

import json
import os
from typing import Any


def lambda_handler(event: dict[str, Any], context: Any) -> Any:
    """The header ``x-answer`` holds the answer as JSON; ``x-raise`` the text of an error."""
    headers = event.get("headers", {})
    if "x-raise" in headers:
        raise ValueError(headers["x-raise"])
    if "x-exit" in headers:
        raise SystemExit(3)
    if "x-large" in headers:
        return {"statusCode": 200, "body": "x" * int(headers["x-large"])}
    if "x-answer" in headers:
        return json.loads(headers["x-answer"])
    told = {
        "event": event,
        "environment": dict(os.environ),
        "context": {
            "request_id": context.aws_request_id,
            "name": context.function_name,
            "arn": context.invoked_function_arn,
            "memory": context.memory_limit_in_mb,
            "remaining_ms": context.get_remaining_time_in_millis(),
        },
    }
    return {"statusCode": 200, "headers": {"content-type": "application/json"}, "body": json.dumps(told)}

"""Distilling: a model makes recipes of runs that went well, one message of the queue at a time."""

from typing import Any

from provenloop.entry.handlers.distil import run_queued


def lambda_handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """A batch of messages."""
    return run_queued(event, context)

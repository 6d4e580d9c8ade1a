"""Inbound: events of agents that come by the bus, one message of the queue at a time."""

from typing import Any

from provenloop.entry.handlers.inbound import run_queued


def lambda_handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """A batch of messages."""
    return run_queued(event, context)

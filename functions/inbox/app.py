"""Inbox: files of events, read line by line in stretches, with a report beside each."""

from typing import Any

from provenloop.entry.handlers.inbox import run_queued


def lambda_handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """A batch of messages."""
    return run_queued(event, context)

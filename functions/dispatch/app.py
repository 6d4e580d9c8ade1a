"""Dispatch: at each tick of the schedule, asks for a pass over every memory that is due and publishes what waits."""

from typing import Any

from provenloop.entry.handlers.dispatch import tick


def lambda_handler(event: dict[str, Any], context: object) -> dict[str, int]:
    """One EventBridge event."""
    return tick(str(event.get("id", "")))

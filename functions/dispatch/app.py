"""Dispatch: at each tick of the schedule, asks for a pass over every memory that is due."""

from typing import Any

from provenloop.entry.handlers.dispatch import tick


def lambda_handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """One EventBridge event."""
    return {"sent": tick(str(event.get("id", "")))}

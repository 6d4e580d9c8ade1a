"""Anchor: once a day, puts one root over all audit chains of each tenant where nobody can change it."""

from typing import Any

from provenloop.entry.handlers.anchor import anchor


def lambda_handler(event: dict[str, Any], context: object) -> dict[str, int]:
    """One EventBridge event."""
    return anchor(str(event.get("id", "")))

"""Approval: the tasks of the review workflow, and what the bus proposes for review. Changes no recommendation."""

from typing import Any

from provenloop.entry.handlers.approval import review_from_bus, run_task


def lambda_handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """A task of the workflow, or an event of the bus."""
    if "detail-type" in event:
        return review_from_bus(event)
    return run_task(event, context)

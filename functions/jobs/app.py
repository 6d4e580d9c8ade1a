"""Jobs: what is too large for one request, carried out from a queue, and looked up over HTTP."""

from typing import Any

from provenloop.entry.handlers.jobs import run_queued
from provenloop.entry.http import build_app

_answer = build_app("jobs")


def lambda_handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """A batch of messages, or one HTTP request."""
    if "Records" in event:
        return run_queued(event, context)
    return _answer(event, context)

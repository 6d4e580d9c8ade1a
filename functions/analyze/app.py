"""Analyze: passes, asked for over HTTP or by messages of the pass queue."""

from typing import Any

from provenloop.entry.handlers.analyze import run_queued
from provenloop.entry.http import build_app

_answer = build_app("analyze")


def lambda_handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """A batch of messages, or one HTTP request."""
    if "Records" in event:
        return run_queued(event, context)
    return _answer(event, context)

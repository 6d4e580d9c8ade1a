"""Apply: the only function through which a decision reaches grains."""

from typing import Any

from provenloop.entry.handlers.approval import run_apply
from provenloop.entry.http import build_app

_answer = build_app("apply")


def lambda_handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """The task of the review workflow that applies, or one HTTP request."""
    if "task" in event:
        return run_apply(event, context)
    return _answer(event, context)

"""Errors as problem details (RFC 9457), and the one table from error class to HTTP status.

Invariants: every refusal has this form, with a stable code; an error of ours that is nobody's fault but ours (status
500) shows no detail; a message of AWS or of a library never gets here, since only messages of ``LoopError`` are shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from provenloop.domain import errors
from provenloop.domain.errors import InternalError, LoopError
from provenloop.entry.reply import Reply, json_text

PROBLEM_JSON = "application/problem+json"
RETRY_AFTER_S = 1

#: The nearest class in an error's ancestry decides.
STATUS_OF: Mapping[type[LoopError], int] = {
    errors.InvalidInputError: 400,
    errors.UnauthenticatedError: 401,
    errors.ForbiddenError: 403,
    errors.NotFoundError: 404,
    errors.ConflictError: 409,
    errors.TooLargeError: 413,
    errors.ThrottledError: 429,
    errors.UnavailableError: 503,
    LoopError: 500,
}


def status_of(error: type[LoopError]) -> int:
    """The HTTP status of an error class."""
    return next(STATUS_OF[cls] for cls in error.__mro__ if cls in STATUS_OF)


def problem_reply(error: LoopError) -> Reply:
    """The answer to a request that ended in this error."""
    status = status_of(type(error))
    return Reply(status, json_text(_document(error, status)), PROBLEM_JSON, _headers(status))


def unexpected_reply() -> Reply:
    """The answer where something else than an error of ours came up: nothing about it is told."""
    return problem_reply(InternalError(""))


def _document(error: LoopError, status: int) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "code": error.code,
    }
    if status == HTTPStatus.INTERNAL_SERVER_ERROR:
        return shown
    shown["detail"] = error.message
    if error.field is not None:
        shown["field"] = error.field
    return shown


def _headers(status: int) -> dict[str, str]:
    if status == HTTPStatus.UNAUTHORIZED:
        return {"www-authenticate": 'Bearer realm="provenloop"'}
    if status in (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE):
        return {"retry-after": str(RETRY_AFTER_S)}
    return {}

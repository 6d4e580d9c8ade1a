"""Messages of a queue, each worked on by itself: what fails comes again, then goes to the dead letters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from provenloop.domain.canonical import StrictJsonError, parse_strict
from provenloop.domain.errors import InvalidInputError, LoopError
from provenloop.entry.telemetry import log_error, log_outcome
from provenloop.entry.wiring import wiring

#: As deep as a request may be, inside an envelope of ours.
_MAX_DEPTH = 34


class Message(NamedTuple):
    """A message's id, its body as a JSON object, and the instant it is worked on (epoch ms)."""

    id: str
    body: Mapping[str, Any]
    now: int


class Done(NamedTuple):
    """What became of a message, and what the log tells beside it."""

    outcome: str
    about: Mapping[str, Any]


def each_message(event: Mapping[str, Any], operation: str, run: Callable[[Message], Done]) -> dict[str, Any]:
    """Work on each message of an SQS event.

    Returns:
        the partial batch answer: ids of the messages that must come again.
    """
    failed = [str(record["messageId"]) for record in event["Records"] if not _ran(record, operation, run)]
    return {"batchItemFailures": [{"itemIdentifier": message_id} for message_id in failed]}


def _ran(record: Mapping[str, Any], operation: str, run: Callable[[Message], Done]) -> bool:
    message_id = str(record["messageId"])
    try:
        done = run(Message(message_id, _body_of(record), wiring().now()))
    except LoopError as error:
        log_error(operation, error, detail=error.message, correlation_id=message_id, code=error.code, field=error.field)
        return False
    except Exception as error:  # noqa: BLE001 - one message's fault must not send back the whole batch
        log_error(operation, error, correlation_id=message_id)
        return False
    log_outcome(operation, done.outcome, correlation_id=message_id, **done.about)
    return True


def _body_of(record: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        body = parse_strict(str(record["body"]).encode("utf-8", "surrogatepass"), max_depth=_MAX_DEPTH)
    except StrictJsonError as error:
        raise InvalidInputError(error.reason, field=error.path or "body") from error
    if not isinstance(body, dict):
        raise InvalidInputError("must be a JSON object", field="body")
    return body

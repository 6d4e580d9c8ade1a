"""AWS errors to ours: the one place where an error code of DynamoDB is looked at.

A failed condition is for the caller to judge. Throttling, conflicts between transactions, timeouts and server errors
are outside reasons that trying again may cure. What breaks a limit can never succeed. Everything else is a fault of
ours. No message of AWS leaves this module.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from botocore.exceptions import ConnectionError as NoConnectionError
from botocore.exceptions import HTTPClientError, IncompleteReadError
from pynamodb.exceptions import CancellationReason, PynamoDBException, TransactWriteError

from provenloop.domain.errors import BusyError, InternalError, LoopError, TooLargeError, UnavailableError

T = TypeVar("T")

CONDITION_FAILED = "ConditionalCheckFailedException"
TRANSACTION_CANCELED = "TransactionCanceledException"
REASON_CONDITION_FAILED = "ConditionalCheckFailed"
#: Reasons and codes that name a passing collision or overload of the store.
COLLISIONS = frozenset({"TransactionConflict", "TransactionConflictException", "TransactionInProgressException"})
OVERLOADS = frozenset(
    {
        "ProvisionedThroughputExceeded",
        "ProvisionedThroughputExceededException",
        "ThrottlingError",
        "ThrottlingException",
        "Throttling",
        "RequestLimitExceeded",
        "LimitExceededException",
        "InternalServerError",
        "InternalFailure",
        "ServiceUnavailable",
        "ServiceUnavailableException",
        "ReplicatedWriteConflictException",
    }
)
OVER_LIMIT = frozenset(
    {"ItemCollectionSizeLimitExceeded", "ItemCollectionSizeLimitExceededException", "ValidationError"}
)
#: No answer, or half of one: whether the store did what was asked is not known.
NO_ANSWER = (HTTPClientError, NoConnectionError, IncompleteReadError)
FIRST_SERVER_ERROR = 500


def code_of(error: PynamoDBException) -> str | None:
    """The store's error code; None where there was no answer (pynamodb's own property fails on such errors)."""
    response = getattr(error.cause, "response", None) or {}
    code: str | None = response.get("Error", {}).get("Code")
    return code


def is_condition_failure(error: PynamoDBException) -> bool:
    """Whether a single write was refused by its condition."""
    return code_of(error) == CONDITION_FAILED


def failed_conditions(error: TransactWriteError) -> Sequence[tuple[int, CancellationReason]]:
    """The writes of a transaction whose conditions did not hold, by their place in it."""
    return [
        (index, reason)
        for index, reason in enumerate(error.cancellation_reasons)
        if reason is not None and reason.code == REASON_CONDITION_FAILED
    ]


def is_collision(error: PynamoDBException) -> bool:
    """Whether another transaction held one of the items: the same request may succeed at once."""
    codes = {code_of(error)}
    if isinstance(error, TransactWriteError):
        codes |= {reason.code for reason in error.cancellation_reasons if reason is not None}
    return bool(codes & COLLISIONS)


def translated(error: PynamoDBException) -> LoopError:
    """The error of ours that stands for one of the store."""
    code = code_of(error)
    codes = {code} if code != TRANSACTION_CANCELED else set()
    if isinstance(error, TransactWriteError):
        codes |= {reason.code for reason in error.cancellation_reasons if reason is not None}
    if codes & COLLISIONS:
        return BusyError("other writers keep changing the same items; try again")
    if codes & OVER_LIMIT:
        return TooLargeError("the change is over a limit of the store")
    if codes & OVERLOADS or isinstance(error.cause, NO_ANSWER) or _status_of(error) >= FIRST_SERVER_ERROR:
        return UnavailableError("the store did not answer in time; try again")
    return InternalError("the store refused the request")


def _status_of(error: PynamoDBException) -> int:
    """The HTTP status, 0 where there was no answer. pynamodb drops it from its own error, which it raises from
    botocore's.
    """
    for cause in (error.cause, getattr(error.cause, "__cause__", None)):
        response = getattr(cause, "response", None) or {}
        status = response.get("ResponseMetadata", {}).get("HTTPStatusCode")
        if status is not None:
            return int(status)
    return 0


def translating(call: Callable[[], T]) -> T:
    """The result of ``call``, with the store's errors turned into ours.

    Raises:
        LoopError: see :func:`translated`.
    """
    try:
        return call()
    except PynamoDBException as error:
        raise translated(error) from error

"""Replies in AWS's words, made without AWS.

botocore turns a parsed reply with a status of 300 or more into the ``ClientError`` subclass of its error code; fields
of the modelled error (``CancellationReasons``) stand beside ``Error``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from botocore.awsrequest import AWSResponse
from botocore.exceptions import ClientError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.faults.hooks import Reply

_MESSAGES = {
    "ThrottlingException": "Throughput exceeds the current capacity of your table or index.",
    "ProvisionedThroughputExceededException": "The level of configured provisioned throughput was exceeded.",
    "InternalServerError": "Internal server error",
    "TransactionConflictException": "Transaction is ongoing for the item",
    "IdempotentParameterMismatchException": "The client token was used with other parameters.",
}


def answer(parsed: Mapping[str, Any]) -> Reply:
    """A successful reply with this content."""
    return _reply(200, parsed)


def refusal(code: str, **modelled: Any) -> Reply:
    """A refusal with an error code and the fields AWS's model gives that error."""
    text = modelled.get("Message", _MESSAGES.get(code, code))
    return _reply(400, {**_error(code, text), **modelled})


def failure(code: str = "InternalServerError", status: int = 500) -> Reply:
    """A failure of AWS itself."""
    return _reply(status, _error(code, _MESSAGES.get(code, code)))


def failure_of(operation: str) -> ClientError:
    """The same as the client tells it."""
    _, parsed = failure()
    return ClientError(parsed, operation)  # type: ignore[arg-type]


def cancelled(codes: list[str]) -> Reply:
    """A transaction cancelled for these reasons, one code an item, ``None`` where the item was fine."""
    return refusal(
        "TransactionCanceledException",
        Message=f"Transaction cancelled, please refer cancellation reasons for specific reasons [{', '.join(codes)}]",
        CancellationReasons=[_reason(code) for code in codes],
    )


def conflict_of(params: Mapping[str, Any], item: int) -> Reply:
    """The refusal of a write that meets another transaction, in a transaction on its item number ``item``."""
    if "TransactItems" not in params:
        return refusal("TransactionConflictException")
    codes = ["None"] * len(params["TransactItems"])
    codes[min(item, len(codes) - 1)] = "TransactionConflict"
    return cancelled(codes)


def _error(code: str, text: str) -> dict[str, Any]:
    return {"Error": {"Code": code, "Message": text}, "message": text}


def _reason(code: str) -> dict[str, Any]:
    return {"Code": code} if code == "None" else {"Code": code, "Message": _MESSAGES["TransactionConflictException"]}


def _reply(status: int, parsed: Mapping[str, Any]) -> Reply:
    headers: Any = {}
    meta = {"HTTPStatusCode": status, "HTTPHeaders": headers, "RequestId": "0" * 26, "RetryAttempts": 0}
    return AWSResponse("", status, headers, None), {**parsed, "ResponseMetadata": meta}

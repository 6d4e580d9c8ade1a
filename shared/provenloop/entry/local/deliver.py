"""Messages of a queue as batches for a function, the way Lambda's event source mapping hands them over.

Invariants: a message is deleted only where the function did it; where it reports failed items, exactly those stay, and
a report that names nothing sensible fails the whole batch; what stays is hidden until the queue's visibility timeout
has passed, and the queue itself moves it to its dead-letter queue.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from provenloop.entry.local.account import REGION
from provenloop.entry.local.functions import Functions
from provenloop.entry.local.resources import Queue
from provenloop.entry.local.triggers import QueueSource

#: SQS gives at most so many at once, whatever the batch size.
_RECEIVE_LIMIT = 10

Message = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class BatchOutcome:
    """How many messages were done, how many come again, and whether the invocation itself failed."""

    done: int
    retrying: int
    function_failed: bool


def receive_batch(sqs: Any, queue: Queue, batch_size: int) -> list[Message]:
    """Up to ``batch_size`` visible messages, as the SQS client gives them."""
    batch: list[Message] = []
    while len(batch) < batch_size:
        answer = sqs.receive_message(
            QueueUrl=queue.url,
            MaxNumberOfMessages=min(_RECEIVE_LIMIT, batch_size - len(batch)),
            MessageSystemAttributeNames=["All"],
            MessageAttributeNames=["All"],
            WaitTimeSeconds=0,
        )
        messages = answer.get("Messages", [])
        if not messages:
            break
        batch.extend(messages)
    return batch


def deliver_batch(
    sqs: Any, queue: Queue, source: QueueSource, functions: Functions, messages: Sequence[Message]
) -> BatchOutcome:
    """Invoke the function with the messages and delete those it did."""
    outcome = functions.invoke(source.function, {"Records": [queue_record(each, queue.arn) for each in messages]})
    ids = frozenset(message["MessageId"] for message in messages)
    failed = _failed_ids(outcome.payload, ids, source) if not outcome.failed else ids
    for message in messages:
        if message["MessageId"] not in failed:
            sqs.delete_message(QueueUrl=queue.url, ReceiptHandle=message["ReceiptHandle"])
    return BatchOutcome(done=len(ids - failed), retrying=len(failed), function_failed=outcome.failed)


def queue_record(message: Message, queue_arn: str) -> dict[str, Any]:
    """A received message as a record of the event."""
    return {
        "messageId": message["MessageId"],
        "receiptHandle": message["ReceiptHandle"],
        "body": message["Body"],
        "attributes": message.get("Attributes", {}),
        "messageAttributes": {
            name: _message_attribute(value) for name, value in message.get("MessageAttributes", {}).items()
        },
        "md5OfBody": message["MD5OfBody"],
        "eventSource": "aws:sqs",
        "eventSourceARN": queue_arn,
        "awsRegion": REGION,
    }


def _message_attribute(value: Mapping[str, Any]) -> dict[str, Any]:
    spelled = {f"{name[0].lower()}{name[1:]}": each for name, each in value.items()}
    return {"stringListValues": [], "binaryListValues": [], **spelled}


def _failed_ids(answer: Any, ids: frozenset[str], source: QueueSource) -> frozenset[str]:
    """The messages that an answer says failed: all of them where it cannot be understood."""
    if not source.reports_item_failures or not answer:
        return frozenset()
    if not isinstance(answer, Mapping):
        return ids
    failures = answer.get("batchItemFailures") or []
    if not isinstance(failures, list):
        return ids
    named = [failure.get("itemIdentifier") if isinstance(failure, Mapping) else None for failure in failures]
    known = frozenset(each for each in named if isinstance(each, str) and each in ids)
    return known if len(known) == len(set(map(str, named))) else ids

"""The pass queue on SQS: one group a memory, one message for each time it was asked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import botocore.session
import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from moto import mock_aws

from provenloop.adapters.sqs import SqsPassQueue
from provenloop.domain.errors import UnavailableError
from provenloop.domain.names import MemoryId

MEMORY = MemoryId("t" * 64, "m" * 64)
NOW = 1_800_000_000_000


@pytest.fixture
def sqs() -> Iterator[Any]:
    with mock_aws():
        yield botocore.session.get_session().create_client("sqs")


@pytest.fixture
def url(sqs: Any) -> str:
    created: str = sqs.create_queue(QueueName="pass.fifo", Attributes={"FifoQueue": "true"})["QueueUrl"]
    return created


def received(sqs: Any, url: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    while messages := sqs.receive_message(QueueUrl=url, AttributeNames=["All"]).get("Messages", []):
        for message in messages:
            sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
            found.append(message)
    return found


def test_a_message_names_tenant_and_memory_even_where_both_are_as_long_as_can_be(sqs: Any, url: str) -> None:
    SqsPassQueue(url).send(MEMORY, NOW)
    (message,) = received(sqs, url)
    assert json.loads(message["Body"]) == {"tenant": "t" * 64, "memory": "m" * 64}


def test_each_memory_is_a_group_of_its_own(sqs: Any, url: str) -> None:
    queue = SqsPassQueue(url)
    for memory in (MemoryId("a", "b"), MemoryId("a", "c"), MemoryId("c", "b"), MemoryId("a", "b")):
        queue.send(memory, NOW + len(memory.name))
    queue.send(MemoryId("a", "b"), NOW + 1000)
    groups = [message["Attributes"]["MessageGroupId"] for message in received(sqs, url)]
    assert len(groups) == 4
    assert len(set(groups)) == 3


def test_names_that_run_together_are_still_two_groups(sqs: Any, url: str) -> None:
    queue = SqsPassQueue(url)
    queue.send(MemoryId("a", "b.c"), NOW)
    queue.send(MemoryId("a.b", "c"), NOW)
    assert len({message["Attributes"]["MessageGroupId"] for message in received(sqs, url)}) == 2


def test_a_send_that_is_tried_again_is_one_message_and_a_later_one_another(sqs: Any, url: str) -> None:
    queue = SqsPassQueue(url)
    for at in (NOW, NOW, NOW + 300_000):
        queue.send(MEMORY, at)
    assert len(received(sqs, url)) == 2


@pytest.mark.parametrize(
    "error",
    [
        ClientError(
            {"Error": {"Code": "AWS.SimpleQueueService.NonExistentQueue", "Message": "no such"}}, "SendMessage"
        ),
        EndpointConnectionError(endpoint_url="https://sqs"),
    ],
    ids=["refused", "unreachable"],
)
def test_a_queue_that_does_not_take_it_is_an_outside_reason(error: Exception) -> None:
    class Refusing:
        def send_message(self, **_: object) -> None:
            raise error

    with pytest.raises(UnavailableError) as caught:
        SqsPassQueue("https://sqs/queue", client=Refusing()).send(MEMORY, NOW)
    assert "sqs" not in caught.value.message.lower()

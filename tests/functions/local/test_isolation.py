"""What a stack leaves behind in its process: nothing."""

from __future__ import annotations

import os
from pathlib import Path

import boto3
import moto

from provenloop.entry.local.stack import LocalStack

SMALL = Path(__file__).parent / "small"


def test_a_stopped_stack_leaves_other_users_of_the_emulator_alone() -> None:
    with LocalStack(SMALL) as stack:
        assert stack.items() == {"Things": []}
    for _ in range(2):
        with moto.mock_aws():
            client = boto3.client("sqs", region_name="us-east-1")
            assert "QueueUrls" not in client.list_queues()
            client.create_queue(QueueName="left-behind")


def test_a_stopped_stack_leaves_the_environment_as_it_was() -> None:
    before = dict(os.environ)  # noqa: TID251 - the environment itself is what is tested
    with LocalStack(SMALL) as stack:
        stack.request("GET", "/x")
        stack.tick()
    assert dict(os.environ) == before  # noqa: TID251

"""The queues: of passes (FIFO, one group a memory, so that passes over one memory never run side by side), of jobs,
and of files of the inbox that are to be read on.

A group's and a message's id are digests: tenant and memory names together may be longer than SQS allows.
"""

from __future__ import annotations

import json
from typing import Any

import botocore.session
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from provenloop.domain.canonical import canonical_json, sha256_hex
from provenloop.domain.errors import UnavailableError
from provenloop.domain.inbox import Drop, Progress
from provenloop.domain.names import MemoryId

_CONFIG = Config(connect_timeout=3, read_timeout=8, retries={"mode": "standard", "total_max_attempts": 3})


class SqsPassQueue:
    """Implements ``services.dispatch_port.PassQueue`` on one SQS FIFO queue."""

    def __init__(self, queue_url: str, *, client: Any = None) -> None:
        self._url = queue_url
        self._client: Any = client or _new_client()

    def send(self, memory: MemoryId, now: int) -> None:
        """Ask for one pass; the same memory at the same instant is one message, however often it is sent.

        Raises:
            UnavailableError: the queue did not take it.
        """
        group = sha256_hex(canonical_json([memory.tenant, memory.name]))
        _send(
            self._client,
            QueueUrl=self._url,
            MessageBody=json.dumps({"tenant": memory.tenant, "memory": memory.name}),
            MessageGroupId=group,
            MessageDeduplicationId=sha256_hex(canonical_json([group, now])),
        )


class SqsJobQueue:
    """Implements ``services.job_port.JobQueue`` on one standard SQS queue."""

    def __init__(self, queue_url: str, *, client: Any = None) -> None:
        self._url = queue_url
        self._client: Any = client or _new_client()

    def send(self, memory: MemoryId, job_id: str, delay_s: int) -> None:
        """See ``JobQueue``."""
        body = json.dumps({"tenant": memory.tenant, "memory": memory.name, "job": job_id})
        _send(self._client, QueueUrl=self._url, MessageBody=body, DelaySeconds=delay_s)


class SqsInboxQueue:
    """Implements ``services.inbox_port.InboxQueue`` on one standard SQS queue."""

    def __init__(self, queue_url: str, *, client: Any = None) -> None:
        self._url = queue_url
        self._client: Any = client or _new_client()

    def send(self, drop: Drop, progress: Progress, delay_s: int) -> None:
        """See ``InboxQueue``."""
        body = json.dumps({"drop": drop._asdict(), "progress": progress.as_plain()})
        _send(self._client, QueueUrl=self._url, MessageBody=body, DelaySeconds=delay_s)


def _new_client() -> Any:
    return botocore.session.get_session().create_client("sqs", config=_CONFIG)


def _send(client: Any, **message: Any) -> None:
    try:
        client.send_message(**message)
    except (ClientError, BotoCoreError) as error:
        raise UnavailableError("the queue did not take the message; try again") from error

"""What a test of the review workflow looks at: executions, the states they have entered, notices."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from threading import Event
from time import monotonic
from typing import Any

from provenloop.adapters.dynamodb.store import DynamoStore
from provenloop.domain.names import MemoryId
from tests.functions.api import Api
from tests.functions.requests import ADMIN, MEMORY


@dataclass
class Desk:
    """A stack in which a recommendation can be reviewed, and what is heard of it."""

    api: Api
    rec_id: str

    @property
    def path(self) -> dict[str, str]:
        return {**MEMORY, "id": self.rec_id}

    def request(self) -> str:
        execution: str = self.api.done("request_review", self.path)["execution"]
        return execution

    def decide(self, name: str, token: str = ADMIN, **more: Any) -> dict[str, Any]:
        answer: dict[str, Any] = self.api.done(name, self.path, {"because": "agreed", **more}, token=token)
        return answer

    @property
    def status(self) -> str:
        return str(self.api.done("show_recommendation", self.path)["status"])

    @property
    def reviews(self) -> int:
        return int(self.api.done("show_recommendation", self.path)["reviews"])

    def states(self, execution: str) -> list[str]:
        """The states that an execution has entered, in order."""
        history = self.workflows.get_execution_history(executionArn=self._arn(execution))["events"]
        return [each["stateEnteredEventDetails"]["name"] for each in history if "stateEnteredEventDetails" in each]

    def waits_in(self, execution: str, state: str) -> None:
        """Wait until an execution has given out the token of a state."""
        eventually(lambda: self.states(execution)[-1:] == [state] and self._token() is not None)

    def ended(self, execution: str) -> tuple[str, Any]:
        """Wait for the end of an execution; its status and output."""
        eventually(lambda: self.described(execution)["status"] != "RUNNING")
        described = self.described(execution)
        return described["status"], json.loads(described.get("output", "null"))

    def notices(self) -> list[str]:
        """First lines of the notices that went out since this was last asked."""
        sqs = self.api.stack.aws.client("sqs")
        url = sqs.get_queue_url(QueueName="reviewers")["QueueUrl"]
        messages = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", [])
        for message in messages:
            sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
        return [json.loads(message["Body"])["Message"].splitlines()[0] for message in messages]

    def _token(self) -> str | None:
        store = DynamoStore("provenloop-local-Table", "us-east-1", pause=lambda _attempt: None)
        waits = store.waits(MemoryId("default", MEMORY["memory"]), self.rec_id)
        return waits[-1].token if waits else None

    @property
    def workflows(self) -> Any:
        return self.api.stack.aws.client("stepfunctions")

    def _arn(self, execution: str) -> str:
        [machine] = self.workflows.list_state_machines()["stateMachines"]
        return f"{machine['stateMachineArn'].replace(':stateMachine:', ':execution:')}:{execution}"

    def described(self, execution: str) -> Any:
        return self.workflows.describe_execution(executionArn=self._arn(execution))


def eventually(look: Callable[[], bool], within_s: float = 20) -> None:
    """Wait for another thread to get there."""
    until, pause = monotonic() + within_s, Event()
    while not look():
        assert monotonic() < until, "it took too long"
        pause.wait(0.02)

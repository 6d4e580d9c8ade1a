"""The review workflow on Step Functions."""

from __future__ import annotations

import json
from typing import Any

import botocore.session
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from provenloop.domain.errors import UnavailableError
from provenloop.domain.names import MemoryId

_CONFIG = Config(connect_timeout=2, read_timeout=5, retries={"mode": "standard", "total_max_attempts": 3})
#: Nobody waits for that token, nor ever will: the wait is over.
_NOBODY_WAITS = frozenset({"TaskTimedOut", "TaskDoesNotExist", "InvalidToken"})
#: An execution of that name ran before. A repeated start with one input is no error of its own.
_RAN_BEFORE = "ExecutionAlreadyExists"


class StepFunctionsReviews:
    """Implements ``services.review_port.ReviewWorkflow`` on one state machine."""

    def __init__(self, state_machine_arn: str, *, client: Any = None) -> None:
        self._arn = state_machine_arn
        self._client: Any = client or botocore.session.get_session().create_client("stepfunctions", config=_CONFIG)

    def start(self, memory: MemoryId, recommendation: str, execution: str) -> None:
        """See ``ReviewWorkflow``."""
        given = {"memory": memory.name, "recommendation": recommendation, "tenant": memory.tenant}
        try:
            self._client.start_execution(
                stateMachineArn=self._arn, name=execution, input=json.dumps(given, sort_keys=True)
            )
        except ClientError as error:
            if error.response["Error"]["Code"] != _RAN_BEFORE:
                raise UnavailableError("the review could not be started; ask for it again") from error
        except BotoCoreError as error:
            raise UnavailableError("the review could not be started; ask for it again") from error

    def tell(self, token: str, outcome: str, *, then_apply: bool = False) -> bool:
        """See ``ReviewWorkflow``."""
        answer = json.dumps({"outcome": outcome, "then_apply": then_apply})
        try:
            self._client.send_task_success(taskToken=token, output=answer)
        except ClientError as error:
            return error.response["Error"]["Code"] in _NOBODY_WAITS
        except BotoCoreError:
            return False
        return True

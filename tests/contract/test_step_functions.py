"""The review workflow and notices as AWS takes them: what is an error of ours, what is over, what is tried again."""

from __future__ import annotations

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError, ConnectTimeoutError

from provenloop.adapters.notice import SnsNotices
from provenloop.adapters.step_functions import StepFunctionsReviews
from provenloop.domain.errors import UnavailableError
from provenloop.domain.names import MemoryId
from provenloop.services.review_port import Notice

MEMORY = MemoryId("acme", "demo")
REC = "a" * 26
NOTICE = Notice("review", MEMORY, REC, "loop.tool_failure/1", "high", 7, 1_800_000_000_000)


class Client:
    """An AWS client that answers every call, or fails it."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.asked: list[dict[str, Any]] = []
        self._failure = failure

    def _answer(self, **asked: Any) -> dict[str, Any]:
        self.asked.append(asked)
        if self._failure is not None:
            raise self._failure
        return {}

    start_execution = send_task_success = publish = _answer


def refusal(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": "from outside"}}, "Operation")


LOST = ConnectTimeoutError(endpoint_url="https://states")


def reviews(client: Client) -> StepFunctionsReviews:
    return StepFunctionsReviews("arn:of-the-machine", client=client)


def test_an_execution_is_started_under_its_name_with_one_input_for_one_review() -> None:
    client = Client()
    for _ in range(2):
        reviews(client).start(MEMORY, REC, f"{REC}-1")
    first, second = client.asked
    assert first == second
    assert (first["name"], first["stateMachineArn"]) == (f"{REC}-1", "arn:of-the-machine")
    assert json.loads(first["input"]) == {"tenant": "acme", "memory": "demo", "recommendation": REC}


def test_an_execution_that_ran_before_is_no_error() -> None:
    reviews(Client(refusal("ExecutionAlreadyExists"))).start(MEMORY, REC, f"{REC}-1")


@pytest.mark.parametrize("failure", [refusal("ThrottlingException"), refusal("StateMachineDoesNotExist"), LOST])
def test_an_execution_that_cannot_be_started_is_told_without_the_words_of_aws(failure: Exception) -> None:
    with pytest.raises(UnavailableError) as raised:
        reviews(Client(failure)).start(MEMORY, REC, f"{REC}-1")
    assert "outside" not in raised.value.message


@pytest.mark.parametrize(
    ("failure", "is_over"),
    [
        (None, True),
        (refusal("TaskTimedOut"), True),
        (refusal("TaskDoesNotExist"), True),
        (refusal("InvalidToken"), True),
        (refusal("ThrottlingException"), False),
        (refusal("AccessDeniedException"), False),
        (LOST, False),
    ],
)
def test_a_wait_is_over_once_it_was_told_or_nobody_waits_any_more(failure: Exception | None, is_over: bool) -> None:
    client = Client(failure)
    assert reviews(client).tell("token", "approved", then_apply=True) is is_over
    [asked] = client.asked
    assert json.loads(asked["output"]) == {"outcome": "approved", "then_apply": True}


def test_a_notice_leads_to_the_console_and_says_where_and_how_grave() -> None:
    client = Client()
    assert SnsNotices("arn:of-the-topic", "https://console.example/console", client=client).send(NOTICE)
    [asked] = client.asked
    lines = asked["Message"].splitlines()
    assert lines[-1] == f"https://console.example/console#/memories/demo/recommendations/{REC}"
    assert {"severity: high", f"recommendation: {REC}", "memory: demo (tenant acme)"} <= set(lines)
    assert asked["Subject"] == "Provenloop: Review wanted (high)"
    # SNS takes subjects of less than 100 characters.
    assert len(asked["Subject"]) < 100


def test_without_an_address_of_the_console_a_notice_holds_no_link() -> None:
    client = Client()
    assert SnsNotices("arn:of-the-topic", None, client=client).send(NOTICE)
    assert "http" not in client.asked[0]["Message"]


@pytest.mark.parametrize("failure", [refusal("Throttled"), LOST])
def test_a_notice_that_was_not_taken_fails_nobody(failure: Exception) -> None:
    assert not SnsNotices("arn:of-the-topic", None, client=Client(failure)).send(NOTICE)

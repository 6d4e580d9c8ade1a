"""The definition of the review workflow as data: every state leads on, ends in time, and names errors that exist."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from pynamodb.exceptions import PynamoDBException

from provenloop.adapters.dynamodb import faults
from provenloop.domain.errors import LoopError, error_classes
from provenloop.entry.local.workflows import state_machines
from provenloop.entry.models.tasks import TaskRequest
from tests.template.reading import FUNCTIONS, ROOT, TEMPLATE

RAW = (ROOT / "functions" / "approval" / "review_approval.asl.json").read_text()
DEFINITION: dict[str, Any] = json.loads(RAW)
STATES: dict[str, dict[str, Any]] = DEFINITION["States"]
TASKS = {name: state for name, state in STATES.items() if state["Type"] == "Task"}
[MACHINE] = TEMPLATE.of_kind("AWS::Serverless::StateMachine")
#: Errors that Step Functions itself, Lambda, and the runtime around a function report.
OF_AWS = {
    "States.ALL", "States.Timeout", "Lambda.ServiceException", "Lambda.AWSLambdaException", "Lambda.SdkClientException",
    "Lambda.ClientExecutionTimeoutException", "Lambda.TooManyRequestsException", "Sandbox.Timedout",
}  # fmt: skip
OURS = {cls.__name__: cls for cls in error_classes()}

each_task = pytest.mark.parametrize("name", sorted(TASKS))


def onward(state: dict[str, Any]) -> Iterator[str]:
    """Where a state may lead."""
    yield from (each[key] for each in (state,) for key in ("Next", "Default") if key in each)
    for branch in (*state.get("Choices", ()), *state.get("Catch", ())):
        yield branch["Next"]


def reached(start: str) -> set[str]:
    found: set[str] = set()
    waiting = [start]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(onward(STATES[name]))
    return found


def named(state: dict[str, Any]) -> set[str]:
    return {error for each in (*state.get("Retry", ()), *state.get("Catch", ())) for error in each["ErrorEquals"]}


def test_every_state_is_reached_and_nothing_leads_to_a_state_that_is_not_there() -> None:
    assert reached(DEFINITION["StartAt"]) == set(STATES)


@pytest.mark.parametrize("name", sorted(STATES))
def test_from_every_state_the_workflow_can_end_and_nothing_stands_without_an_exit(name: str) -> None:
    ends = {each for each, state in STATES.items() if state["Type"] in ("Succeed", "Fail")}
    assert reached(name) & ends
    assert (name in ends) != bool(list(onward(STATES[name])))


@each_task
def test_every_task_ends_in_time_is_repeated_and_catches_whatever_is_left(name: str) -> None:
    task = TASKS[name]
    assert ("TimeoutSeconds" in task) != ("TimeoutSecondsPath" in task)
    assert all(each["MaxAttempts"] >= 3 and each["IntervalSeconds"] >= 1 for each in task["Retry"])
    assert task["Catch"][-1]["ErrorEquals"] == ["States.ALL"]
    assert all(each["ResultPath"] == "$.error" for each in task["Catch"])


def test_a_task_waits_as_long_as_the_template_says_and_any_other_longer_than_its_function_may_run() -> None:
    longest = max(FUNCTIONS[folder].need("Timeout") for folder in ("approval", "apply"))
    for task in TASKS.values():
        if task["Resource"].endswith(".waitForTaskToken"):
            assert task["TimeoutSecondsPath"].startswith("$.seconds.")
            assert task["Parameters"]["Payload"]["token.$"] == "$$.Task.Token"
            assert "States.Timeout" in task["Catch"][0]["ErrorEquals"]
            assert "States.Timeout" not in {error for each in task["Retry"] for error in each["ErrorEquals"]}
        else:
            assert task["TimeoutSeconds"] > longest
            assert "token.$" not in task["Parameters"]["Payload"]


def test_every_error_that_is_named_is_one_of_aws_or_the_name_of_a_class_of_ours() -> None:
    assert {error for state in TASKS.values() for error in named(state)} <= OF_AWS | set(OURS)


def test_what_is_repeated_is_exactly_what_may_succeed_when_it_is_sent_again() -> None:
    # Step Functions knows no subclasses: a class is repeated by its own name or not at all. Neither a model nor an
    # issuer is asked here.
    expected = {name for name, cls in OURS.items() if cls.retryable} - {
        "ModelUnavailableError",
        "IssuerUnavailableError",
    }
    for task in TASKS.values():
        assert {error for each in task["Retry"] for error in each["ErrorEquals"]} & set(OURS) == expected


@pytest.mark.parametrize("code", sorted(faults.OVERLOADS | faults.COLLISIONS))
def test_a_store_that_throttles_is_told_by_a_name_that_is_repeated(code: str) -> None:
    error = PynamoDBException("put failed", cause=_client_error(code))
    raised: LoopError = faults.translated(error)
    assert type(raised).__name__ in {error for each in TASKS["Apply"]["Retry"] for error in each["ErrorEquals"]}


def test_every_task_of_the_definition_is_one_that_its_function_takes_and_the_reverse() -> None:
    taken = set(TaskRequest.model_fields["task"].annotation.__args__)  # type: ignore[union-attr]
    assert {task["Parameters"]["Payload"]["task"] for task in TASKS.values()} == taken
    for name, task in TASKS.items():
        wanted = "${ApplyFunctionArn}" if name == "Apply" else "${ApprovalFunctionArn}"
        assert task["Parameters"]["FunctionName"] == wanted
        given = {key.removesuffix(".$") for key in task["Parameters"]["Payload"]}
        assert given <= set(TaskRequest.model_fields)


def test_whatever_is_refused_when_applying_is_left_to_somebody_else() -> None:
    assert TASKS["Apply"]["Catch"][-1]["Next"] == "WaitApply"


def test_the_template_fills_in_every_place_of_the_definition_and_no_other() -> None:
    given = MACHINE.get("DefinitionSubstitutions")
    assert {name for name in given if f"${{{name}}}" in RAW} == set(given)
    [machine] = state_machines(TEMPLATE)
    assert "${" not in machine.definition
    seconds = json.loads(machine.definition)["States"]["Prepare"]["Parameters"]["seconds"]
    assert seconds == {
        "first.$": "States.StringToJson('172800')",
        "second.$": "States.StringToJson('432000')",
        "apply.$": "States.StringToJson('7776000')",
    }


def test_the_workflow_is_a_standard_one_in_json_path_and_may_call_two_functions_and_nothing_else() -> None:
    assert (MACHINE.get("Type"), DEFINITION["QueryLanguage"]) == ("STANDARD", "JSONPath")
    [policy] = MACHINE.get("Policies")
    [statement] = policy["Statement"]
    assert statement["Action"] == "lambda:InvokeFunction"
    functions = [TEMPLATE.attribute(f"{name}Function", "Arn") for name in ("Approval", "Apply")]
    assert (statement["Effect"], statement["Resource"]) == ("Allow", functions)


def test_functions_know_the_workflow_by_the_name_that_it_has() -> None:
    for function in FUNCTIONS.values():
        variables = function.need("Environment")["Variables"]
        assert variables["PROVENLOOP_REVIEW_WORKFLOW"] == TEMPLATE.ref("ReviewApproval")


def test_without_an_address_nobody_is_subscribed_to_notices() -> None:
    assert TEMPLATE.of_kind("AWS::SNS::Subscription") == ()


def _client_error(code: str) -> Exception:
    error = Exception(code)
    error.response = {"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": 400}}  # type: ignore[attr-defined]
    return error

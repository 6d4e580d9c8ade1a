"""Functions that ask other functions, over the real client against a server that stands for Lambda."""

from __future__ import annotations

import json
from collections.abc import Iterator
from time import monotonic
from typing import Any

import pytest

from provenloop.adapters.functions import LambdaFunctions
from provenloop.domain.errors import InternalError, LoopError, UnavailableError
from tests.contract.lambda_service import LambdaService, lambda_service

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

EVENT = {"routeKey": "POST /x", "body": "\u00e9"}


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[LambdaService]:
    with lambda_service(monkeypatch) as made:
        yield made


def ask(at_most_s: float = 5) -> Any:
    return LambdaFunctions({"lessons": "stack-lessons"}).ask("lessons", EVENT, at_most_s=at_most_s)


def refused(kind: type[LoopError], at_most_s: float = 5) -> str:
    with pytest.raises(kind) as caught:
        ask(at_most_s)
    return caught.value.message


def test_a_function_is_asked_by_its_name_and_its_answer_is_told(service: LambdaService) -> None:
    service.body = b'{"statusCode": 200}'
    assert ask() == {"statusCode": 200}
    [(path, headers, sent)] = service.seen
    assert path == "/2015-03-31/functions/stack-lessons/invocations"
    assert headers.get("x-amz-invocation-type", "RequestResponse") == "RequestResponse"
    assert json.loads(sent) == EVENT


def test_a_function_that_fails_is_a_fault_of_ours_whatever_it_says(service: LambdaService) -> None:
    service.headers = {"X-Amz-Function-Error": "Unhandled"}
    service.body = b'{"errorMessage": "boom"}'
    assert refused(InternalError) == "the function lessons failed"


@pytest.mark.parametrize(
    ("status", "error"),
    [(403, "AccessDeniedException"), (404, "ResourceNotFoundException"), (429, "TooManyRequestsException"),
     (500, "ServiceException"), (502, "EFSIOException")],
)  # fmt: skip
def test_a_function_that_cannot_be_invoked_is_not_asked_again(service: LambdaService, status: int, error: str) -> None:
    service.status, service.headers = status, {"x-amzn-errortype": error}
    assert refused(UnavailableError) == "this cannot be done at the moment"
    assert len(service.seen) == 1


def test_a_function_that_takes_too_long_is_not_waited_for_and_may_have_done_it(service: LambdaService) -> None:
    service.waits_s = 30
    begun = monotonic()
    assert refused(UnavailableError, 0.2) == "no answer came in time; it may have been done all the same"
    assert monotonic() - begun < 10
    assert len(service.seen) == 1


def test_an_answer_that_breaks_off_is_no_answer(service: LambdaService) -> None:
    service.headers = {"content-length": "100"}
    assert refused(UnavailableError) == "this cannot be done at the moment"


def test_where_there_is_no_service_nothing_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_LAMBDA", "http://127.0.0.1:1")
    assert refused(UnavailableError) == "this cannot be done at the moment"

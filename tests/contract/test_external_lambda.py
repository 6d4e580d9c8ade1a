"""External analyzers that are Lambda functions, over the real client against a server that stands for Lambda."""

from __future__ import annotations

import json
from collections.abc import Iterator
from time import monotonic

import pytest

from provenloop.adapters.external_lambda import LambdaAnalyzer
from provenloop.services.external_port import ExternalFailure
from tests.contract.lambda_service import LambdaService, lambda_service

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

ARN = "arn:aws:lambda:eu-central-1:123456789012:function:finder:live"
BODY = b'{"loop_analyzer":1,"op":"probe"}'


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[LambdaService]:
    with lambda_service(monkeypatch) as made:
        yield made


def ask(timeout_ms: int = 5_000, max_bytes: int = 1_000) -> bytes | ExternalFailure:
    return LambdaAnalyzer(ARN).ask(BODY, timeout_ms=timeout_ms, max_bytes=max_bytes)


def test_the_question_is_the_event_and_what_the_function_returns_is_the_answer(service: LambdaService) -> None:
    service.body = b'{"id": "ext.finder/1"}'
    assert ask() == b'{"id": "ext.finder/1"}'
    [(path, headers, sent)] = service.seen
    assert path == f"/2015-03-31/functions/{ARN}/invocations"
    assert headers["x-amz-invocation-type"] == "RequestResponse"
    assert "eu-central-1/lambda" in headers["authorization"]
    assert sent == BODY


def test_a_function_that_fails_is_a_failure_whatever_it_says(service: LambdaService) -> None:
    service.headers = {"X-Amz-Function-Error": "Unhandled"}
    service.body = json.dumps({"errorMessage": "boom", "findings": []}).encode()
    assert ask() == ExternalFailure("failed")


@pytest.mark.parametrize(
    ("status", "error"),
    [(403, "AccessDeniedException"), (404, "ResourceNotFoundException"), (429, "TooManyRequestsException"),
     (500, "ServiceException"), (502, "EFSIOException")],
)  # fmt: skip
def test_a_function_that_cannot_be_invoked_is_not_reached_and_not_tried_again(
    service: LambdaService, status: int, error: str
) -> None:
    service.status, service.headers = status, {"x-amzn-errortype": error}
    assert ask() == ExternalFailure("unreachable")
    assert len(service.seen) == 1


def test_an_answer_may_be_as_large_as_it_is_said_and_no_larger(service: LambdaService) -> None:
    service.body = b"x" * 1_000
    assert ask() == b"x" * 1_000
    service.body = b"x" * 1_001
    assert ask() == ExternalFailure("too_large")


def test_an_answer_that_breaks_off_is_a_failure(service: LambdaService) -> None:
    service.headers = {"content-length": "100"}
    assert ask() == ExternalFailure("failed")


def test_a_function_that_takes_too_long_is_not_waited_for(service: LambdaService) -> None:
    service.waits_s = 30
    begun = monotonic()
    assert ask(timeout_ms=300) == ExternalFailure("timeout")
    assert monotonic() - begun < 10
    assert len(service.seen) == 1


def test_where_there_is_no_service_nothing_is_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_LAMBDA", "http://127.0.0.1:1")
    assert ask() == ExternalFailure("unreachable")

"""Requests through the gateway: the events functions get, and what their answers become."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from provenloop.entry.local.functions import Invocation
from provenloop.entry.local.gateway import PAYLOAD_LIMIT_BYTES, TIMEOUT_S, Gateway, HttpResponse
from provenloop.entry.local.http_event import HttpRequest
from provenloop.entry.local.routing import Router
from provenloop.entry.local.stack import LocalStack
from provenloop.entry.local.triggers import Route

NOW_MS = 1_767_225_600_000


def _event(response: HttpResponse) -> dict[str, Any]:
    event: dict[str, Any] = response.json()["event"]
    return event


def _asked_to_answer(stack: LocalStack, answer: Any) -> HttpResponse:
    return stack.request("POST", "/echo", {"x-answer": json.dumps(answer)})


def test_a_request_becomes_an_event_of_payload_format_2(small: LocalStack) -> None:
    headers = {"Host": "localhost", "User-Agent": "test", "X-Colour": "red", "content-type": "application/json"}
    assert _event(small.request("POST", "/echo?a=1&b=x%20y", headers, b'{"n": 1}')) == {
        "version": "2.0",
        "routeKey": "POST /echo",
        "rawPath": "/echo",
        "rawQueryString": "a=1&b=x%20y",
        "headers": {
            "host": "localhost",
            "user-agent": "test",
            "x-colour": "red",
            "content-type": "application/json",
            "x-forwarded-for": "127.0.0.1",
            "x-forwarded-port": "443",
            "x-forwarded-proto": "https",
        },
        "queryStringParameters": {"a": "1", "b": "x y"},
        "requestContext": {
            "accountId": "123456789012",
            "apiId": "local",
            "domainName": "localhost",
            "domainPrefix": "localhost",
            "http": {
                "method": "POST",
                "path": "/echo",
                "protocol": "HTTP/1.1",
                "sourceIp": "127.0.0.1",
                "userAgent": "test",
            },
            "requestId": "local-00000001",
            "routeKey": "POST /echo",
            "stage": "$default",
            "time": "01/Jan/2026:00:00:00 +0000",
            "timeEpoch": NOW_MS,
        },
        "body": '{"n": 1}',
        "isBase64Encoded": False,
    }


def test_where_there_is_nothing_to_say_the_key_is_absent(small: LocalStack) -> None:
    event = _event(small.request("GET", "/anything"))
    assert not {"body", "cookies", "queryStringParameters", "pathParameters"} & event.keys()
    assert (event["rawQueryString"], event["routeKey"]) == ("", "$default")


def test_paths_are_decoded_and_variables_too(small: LocalStack) -> None:
    event = _event(small.request("GET", "/things/caf%C3%A9%20x"))
    assert event["pathParameters"] == {"id": "café x"}
    assert event["rawPath"] == event["requestContext"]["http"]["path"] == "/things/café x"


def test_repeated_headers_and_parameters_are_joined_and_cookies_stand_apart(small: LocalStack) -> None:
    headers = (("X-A", "1"), ("x-a", "2"), ("Cookie", "a=1; b=2"), ("cookie", "c=3"), ("X-Forwarded-For", "10.0.0.9"))
    event = _event(small.gateway.handle(HttpRequest("GET", "/x", "q=1&q=2&empty=", headers)))
    assert event["headers"]["x-a"] == "1,2"
    assert event["headers"]["x-forwarded-for"] == "10.0.0.9, 127.0.0.1"
    assert "cookie" not in event["headers"]
    assert event["cookies"] == ["a=1", "b=2", "c=3"]
    assert event["queryStringParameters"] == {"q": "1,2", "empty": ""}


@pytest.mark.parametrize(
    ("headers", "body", "is_base64"),
    [
        ({"content-type": "application/json; charset=utf-8"}, '{"é": 1}'.encode(), False),
        ({"content-type": "application/problem+json"}, b"{}", False),
        ({"content-type": "text/csv"}, b"a,b", False),
        ({}, b"plain", False),
        ({"content-type": "application/octet-stream"}, b"plain", True),
        ({"content-type": "application/x-www-form-urlencoded"}, b"a=1", True),
        ({"content-type": "application/json"}, b"\xff\xfe", True),
        ({"content-type": "application/json", "content-encoding": "gzip"}, b"{}", True),
    ],
)
def test_a_body_that_is_no_text_travels_in_base64(
    small: LocalStack, headers: dict[str, str], body: bytes, is_base64: bool
) -> None:
    event = _event(small.request("POST", "/echo", headers, body))
    assert event["isBase64Encoded"] is is_base64
    assert (base64.b64decode(event["body"]) if is_base64 else event["body"].encode()) == body


@pytest.mark.parametrize(
    ("answer", "status", "headers", "body"),
    [
        ({"statusCode": 201}, 201, {"content-type": "text/plain; charset=utf-8"}, b""),
        ({"statusCode": "204", "headers": {"X-A": 1, "X-B": True}}, 204, {"X-A": "1", "X-B": "true"}, b""),
        ({"statusCode": 200, "body": "é", "headers": {"X-A": "b"}}, 200, {"X-A": "b"}, "é".encode()),
        ({"statusCode": 200, "headers": {"Content-Type": "text/x"}}, 200, {"Content-Type": "text/x"}, b""),
        ({"statusCode": 200, "body": "/w==", "isBase64Encoded": True}, 200, {}, b"\xff"),
        ({"statusCode": 200, "cookies": ["a=1"], "body": None}, 200, {"set-cookie": "a=1"}, b""),
        ({"statusCode": 200, "headers": {"Content-Length": "99"}, "body": "x"}, 200, {}, b"x"),
        ("hello", 200, {"content-type": "application/json"}, b"hello"),
        ({"a": 1}, 200, {"content-type": "application/json"}, b'{"a": 1}'),
        ([1], 200, {"content-type": "application/json"}, b"[1]"),
        (None, 200, {"content-type": "application/json"}, b"null"),
    ],
)  # fmt: skip
def test_answers_become_responses(
    small: LocalStack, answer: Any, status: int, headers: dict[str, str], body: bytes
) -> None:
    response = _asked_to_answer(small, answer)
    assert (response.status, response.body) == (status, body)
    assert headers.items() <= dict(response.headers).items()
    assert response.header("content-length") is None


@pytest.mark.parametrize(
    "answer",
    [
        {"statusCode": "many"},
        {"statusCode": True},
        {"statusCode": 99},
        {"statusCode": 200, "body": {"a": 1}},
        {"statusCode": 200, "body": "not base64!", "isBase64Encoded": True},
        {"statusCode": 200, "body": "\ud800"},
        {"statusCode": 200, "headers": ["x"]},
        {"statusCode": 200, "headers": {"x": "a\r\nset-cookie: b"}},
        {"statusCode": 200, "headers": {"x": {"y": 1}}},
        {"statusCode": 200, "headers": {"x": "\u2603"}},
        {"statusCode": 200, "cookies": "a=1"},
    ],
)
def test_a_malformed_answer_is_a_500_that_tells_nothing(small: LocalStack, answer: Any) -> None:
    response = _asked_to_answer(small, answer)
    assert (response.status, response.json()) == (500, {"message": "Internal Server Error"})


@pytest.mark.parametrize("headers", [{"x-raise": "secret text"}, {"x-exit": "1"}])
def test_a_function_that_fails_is_a_500_that_tells_nothing(small: LocalStack, headers: dict[str, str]) -> None:
    response = small.request("POST", "/echo", headers)
    assert (response.status, response.json()) == (500, {"message": "Internal Server Error"})


def test_an_answer_over_6_mb_is_a_500(small: LocalStack) -> None:
    assert small.request("POST", "/echo", {"x-large": "6200000"}).status == 200
    assert small.request("POST", "/echo", {"x-large": "6291556"}).status == 500


def test_a_request_over_10_mb_or_over_6_mb_as_an_event_is_a_413(small: LocalStack) -> None:
    for size in (PAYLOAD_LIMIT_BYTES + 1, 6_291_456):
        response = small.request("POST", "/echo", {"x-answer": "1"}, b"x" * size)
        assert (response.status, response.json()) == (413, {"message": "Request Entity Too Large"})
    assert small.request("POST", "/echo", {"x-answer": "1"}, b"x" * 6_000_000).status == 200


@pytest.mark.parametrize(("elapsed_s", "status"), [(TIMEOUT_S, 200), (TIMEOUT_S + 0.1, 503)])
def test_an_answer_after_30_seconds_comes_too_late(elapsed_s: float, status: int) -> None:
    outcome = Invocation({"statusCode": 200}, failed=False, elapsed_s=elapsed_s, request_id="r")
    gateway = Gateway(Router([Route("F", "ANY", "$default")]), lambda *_: outcome, lambda: NOW_MS)
    assert gateway.handle(HttpRequest("GET", "/")).status == status


def test_without_a_route_the_gateway_itself_says_404() -> None:
    gateway = Gateway(Router([]), lambda *_: pytest.fail("nothing to invoke"), lambda: NOW_MS)
    response = gateway.handle(HttpRequest("GET", "/"))
    assert (response.status, response.json()) == (404, {"message": "Not Found"})


def test_every_response_carries_the_gateways_request_id(small: LocalStack) -> None:
    ids = [small.request("GET", "/x").header("APIGW-RequestId") for _ in range(2)]
    assert ids == ["local-00000001", "local-00000002"]


def test_the_http_client_reaches_the_gateway_without_a_socket(small: LocalStack) -> None:
    with small.client_as("a-token") as client:
        answer = client.post("/echo", params={"q": "a b"}, json={"n": 1})
    event = answer.json()["event"]
    assert event["headers"]["authorization"] == "Bearer a-token"
    assert event["queryStringParameters"] == {"q": "a b"}
    assert event["body"] == '{"n":1}'
    assert "authorization" not in small.client.get("/x").json()["event"]["headers"]


def test_the_http_client_keeps_an_encoded_path_as_it_is(small: LocalStack) -> None:
    assert small.client.get("/things/a%2Fb").json()["event"]["pathParameters"] == {"id": "a/b"}


def test_a_mapping_is_sent_as_json(small: LocalStack) -> None:
    event = _event(small.request("POST", "/echo", body={"n": [1]}))
    assert (event["body"], event["headers"]["content-type"]) == ('{"n": [1]}', "application/json")
    own = _event(small.request("POST", "/echo", {"Content-Type": "application/x+json", "Host": "a.test"}, [1]))
    assert (own["headers"]["content-type"], own["headers"]["host"]) == ("application/x+json", "a.test")

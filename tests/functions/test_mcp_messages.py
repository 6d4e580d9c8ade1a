"""The MCP endpoint message by message: what is one, at which version, and how what is none is refused."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from aws_lambda_powertools.logging import Logger

from provenloop.entry import telemetry
from tests.functions.api import Api
from tests.functions.mcp_messages import META, error_of, message, post
from tests.functions.requests import ADMIN, MEMORY


@pytest.mark.parametrize("token", [None, "not-a-token"])
def test_nobody_without_a_token_is_told_anything(api: Api, token: str | None) -> None:
    answer = post(api, message("initialize"), token)
    assert api.refused(answer) == (401, "PVL-E025")
    assert answer.header("www-authenticate") == 'Bearer realm="provenloop"'


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("{", (400, -32700)),
        ('{"jsonrpc":"2.0","jsonrpc":"2.0"}', (400, -32700)),
        ("", (400, -32700)),
        ([message("ping")], (400, -32600)),
        ("5", (400, -32600)),
        ({"id": 1, "method": "ping"}, (400, -32600)),
        ({"jsonrpc": "2.0", "id": None, "method": "ping"}, (400, -32600)),
        ({"jsonrpc": "2.0", "id": True, "method": "ping"}, (400, -32600)),
        ({"jsonrpc": "2.0", "id": 1, "result": {}}, (400, -32600)),
        ({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}, (400, -32602)),
        (message("prompts/list"), (200, -32601)),
        (message("tools/call", name="arm"), (200, -32602)),
        (message("tools/call", name=["recall"]), (200, -32602)),
        (message("tools/call", name="recall", arguments=[]), (200, -32602)),
        (message("tools/list", cursor="more"), (200, -32602)),
        ('"' + "x" * 1_114_112 + '"', (413, -32600)),
        ('{"a":' * 65 + "1" + "}" * 65, (400, -32700)),
        ({"jsonrpc": "2.0", "id": 1.0, "method": "ping"}, (400, -32600)),
        ('{"jsonrpc":"2.0","id":' + "9" * 39 + ',"method":"ping"}', (400, -32700)),
    ],
)
def test_what_is_no_message_of_the_protocol_is_an_error_of_the_protocol(
    api: Api, body: Any, expected: tuple[int, int]
) -> None:
    assert error_of(post(api, body)) == expected


def test_a_body_that_is_not_declared_as_json_is_no_request(api: Api) -> None:
    assert error_of(post(api, message("ping"), content_type="text/plain")) == (400, -32600)


@pytest.mark.parametrize(
    ("sent", "headers", "expected"),
    [
        (message("tools/list"), {"mcp_protocol_version": "2024-11-05"}, (400, -32022)),
        (message("tools/list"), {"mcp_protocol_version": "2026-07-28"}, (400, -32602)),
        (message("tools/list", _meta=META), {"mcp_method": "tools/list"}, (400, -32020)),
        (message("tools/list", _meta=META), {"mcp_protocol_version": "2026-07-28"}, (400, -32020)),
        (
            message("tools/call", name="recall", _meta=META),
            {"mcp_protocol_version": "2026-07-28", "mcp_method": "tools/call", "mcp_name": "record"},
            (400, -32020),
        ),
        (
            message("ping", _meta=META),
            {"mcp_protocol_version": "2026-07-28", "mcp_method": "ping"},
            (404, -32601),
        ),
        (
            message("tools/list", _meta={**META, "io.modelcontextprotocol/protocolVersion": "2027-01-01"}),
            {"mcp_protocol_version": "2027-01-01", "mcp_method": "tools/list"},
            (400, -32022),
        ),
    ],
)
def test_a_request_that_contradicts_itself_or_speaks_another_version_is_refused(
    api: Api, sent: Any, headers: dict[str, str], expected: tuple[int, int]
) -> None:
    answer = post(api, sent, **headers)
    assert error_of(answer) == expected
    assert answer.json()["id"] == 7
    if expected[1] == -32022:
        assert answer.json()["error"]["data"]["supported"] == ["2026-07-28", "2025-11-25", "2025-06-18"]


@pytest.mark.parametrize(
    ("asked", "offered"),
    [("2025-06-18", "2025-06-18"), ("2025-11-25", "2025-11-25"), ("2024-11-05", "2025-11-25"), (5, "2025-11-25")],
)
def test_a_handshake_ends_at_a_version_that_is_served(api: Api, asked: Any, offered: str) -> None:
    result = post(api, message("initialize", protocolVersion=asked)).json()["result"]
    assert (result["protocolVersion"], result["capabilities"]) == (offered, {"tools": {}})


def test_a_notification_is_taken_and_not_answered(api: Api) -> None:
    answer = post(api, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert (answer.status, answer.body) == (202, b"")


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_there_is_no_stream_to_listen_to_and_no_session_to_end(api: Api, method: str) -> None:
    answer = api.stack.request(method, "/mcp", {"authorization": f"Bearer {ADMIN}"})
    assert (answer.status, answer.header("allow")) == (405, "POST")


@pytest.mark.parametrize("method", ["POST", "GET", "DELETE"])
@pytest.mark.parametrize(
    "origin", ["https://elsewhere.test", "https://localhost.test", "https://localhost:1", "null", ""]
)
def test_a_page_of_another_origin_is_refused_before_anything_else(api: Api, method: str, origin: str) -> None:
    """The rule of MCP against names that a page makes point to this address; programs send no origin."""
    answer = api.stack.request(method, "/mcp", {"origin": origin}, message("ping") if method == "POST" else None)
    assert error_of(answer) == (403, -32600)


@pytest.mark.parametrize("origin", ["https://localhost", "http://LOCALHOST"])
def test_a_page_of_the_address_itself_is_answered(api: Api, origin: str) -> None:
    assert post(api, message("ping"), origin=origin).json()["result"] == {}


@pytest.mark.parametrize("accept", ["text/event-stream", "text/html, application/xml", "application/json;q=0", ""])
def test_nothing_is_done_for_a_caller_that_takes_no_json(api: Api, accept: str) -> None:
    assert error_of(post(api, message("ping"), accept=accept)) == (406, -32600)


@pytest.mark.parametrize(
    "accept", ["application/json, text/event-stream", "*/*", "text/html, APPLICATION/*;q=0.5", "application/json; q=1"]
)
def test_whoever_takes_json_is_answered(api: Api, accept: str) -> None:
    assert post(api, message("ping"), accept=accept).json()["result"] == {}


def test_null_is_as_good_as_nothing_where_an_object_may_stand(api: Api) -> None:
    ping = post(api, {"jsonrpc": "2.0", "id": 7, "method": "ping", "params": None})
    assert ping.json() == {"jsonrpc": "2.0", "id": 7, "result": {}}
    called = post(api, message("tools/call", name="recall", arguments=None)).json()["result"]
    assert called["structuredContent"]["field"] == "memory"


@pytest.mark.parametrize("request_id", [0, -5, "", "é", 2**70])
def test_an_answer_has_the_id_of_its_request(api: Api, request_id: Any) -> None:
    assert post(api, {"jsonrpc": "2.0", "id": request_id, "method": "ping"}).json()["id"] == request_id


@pytest.mark.parametrize("method", ["server/discover", "tools/list", "tools/call"])
def test_every_answer_of_the_newest_version_says_who_answers(api: Api, method: str) -> None:
    name = {"name": "recall"} if method == "tools/call" else {}
    headers = {"mcp_protocol_version": "2026-07-28", "mcp_method": method, "mcp_name": "=?base64?cmVjYWxs?="}
    result = post(api, message(method, **name, _meta=META), **headers).json()["result"]
    assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "provenloop"
    assert result["resultType"] == "complete"


@pytest.mark.parametrize(
    "name", ["=?base64?cmVjYWxt?=", "=?base64?cmVjYWxs", "=?base64?/w==?=", "=?base64?cmVjYWx?=", ""]
)
def test_a_name_in_a_header_is_the_name_in_the_message(api: Api, name: str) -> None:
    headers = {"mcp_protocol_version": "2026-07-28", "mcp_method": "tools/call", "mcp_name": name}
    sent = message("tools/call", name="recall", _meta=META)
    assert error_of(post(api, sent, **headers)) == (400, -32020)


def test_a_line_of_the_log_tells_no_word_of_what_was_sent(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    api.done("create_memory")
    written = StringIO()
    monkeypatch.setattr(telemetry, "_logger", Logger(service="mcp-messages", stream=written, location=None))
    secret = "correct horse battery"
    post(api, message("tools/call", name="recall", arguments={**MEMORY, "subject": secret, secret: 1}))
    post(api, message(secret), mcp_session_id=secret)
    post(api, '{"' + secret)
    post(api, message("ping"), token=secret.replace(" ", "-"))
    lines = [json.loads(line) for line in written.getvalue().splitlines()]
    told = [line for line in lines if line["operation"] == "mcp"]
    assert [(line["status"], line.get("code")) for line in told] == [
        (200, None),
        (200, "-32601"),
        (400, "-32700"),
        (401, "PVL-E025"),
    ]
    assert "correct" not in written.getvalue()

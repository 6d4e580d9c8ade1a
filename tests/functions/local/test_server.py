"""The stack behind a real port on this machine."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import httpx
import pytest

from provenloop.entry.local.gateway import PAYLOAD_LIMIT_BYTES
from provenloop.entry.local.server import LocalServer
from provenloop.entry.local.stack import LocalStack

NOW_MS = 1_767_225_600_000

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


@pytest.fixture
def server(small: LocalStack) -> Iterator[LocalServer]:
    """The small system on a free port."""
    with LocalServer(small, 0, quiet=True) as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
def client(server: LocalServer) -> Iterator[httpx.Client]:
    """A client of the server."""
    with httpx.Client(base_url=server.url, trust_env=False) as made:
        yield made


def _raw(server: LocalServer, text: str) -> bytes:
    """What the server sends until it closes the connection."""
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=10) as connection:
        connection.sendall(text.replace("\n", "\r\n").encode())
        connection.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: connection.recv(65_536), b""))


def test_requests_over_http_reach_the_functions(client: httpx.Client) -> None:
    answer = client.post("/echo?a=1", json={"n": 1}, headers={"x-a": "b"})
    event = answer.json()["event"]
    assert (event["routeKey"], event["rawQueryString"], event["body"]) == ("POST /echo", "a=1", '{"n":1}')
    assert (event["headers"]["x-a"], event["requestContext"]["http"]["sourceIp"]) == ("b", "127.0.0.1")
    assert answer.headers["content-type"] == "application/json"


def test_one_connection_carries_many_requests(server: LocalServer) -> None:
    head = f"GET /x HTTP/1.1\nHost: {server.url[7:]}\n"
    answers = _raw(server, f"{head}\n{head}Connection: close\n\n")
    assert answers.count(b"HTTP/1.1 200 OK") == 2


def test_it_listens_on_this_machine_only(server: LocalServer) -> None:
    assert server.server_address[0] == "127.0.0.1"


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1", "127.0.0.1:1", ""])
def test_a_request_for_another_host_is_refused(client: httpx.Client, host: str) -> None:
    for path in ("/x", "/_local/clock"):
        assert client.get(path, headers={"host": host}).status_code == 403


@pytest.mark.parametrize("origin", ["http://evil.example", "https://127.0.0.1:8787", "null"])
def test_a_request_from_another_origin_is_refused(client: httpx.Client, origin: str) -> None:
    assert client.post("/_local/tick", headers={"origin": origin}).status_code == 403


def test_requests_by_its_own_names_and_from_its_own_pages_are_served(server: LocalServer, client: httpx.Client) -> None:
    for name in ("127.0.0.1", "localhost", "LOCALHOST"):
        own = f"{name}:{server.server_port}"
        assert client.get("/x", headers={"host": own, "origin": f"http://{own}"}).status_code == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ("Content-Length: many\n", 400),
        ("Content-Length: -1\n", 400),
        ("Content-Length: 1\nContent-Length: 2\n", 400),
        ("Transfer-Encoding: chunked\n", 411),
        ("Host: other\n", 403),
    ],
)
def test_a_body_of_unclear_length_or_a_second_host_ends_the_connection(
    server: LocalServer, headers: str, status: int
) -> None:
    answer = _raw(server, f"POST /echo HTTP/1.1\nHost: {server.url[7:]}\n{headers}\n").lower()
    assert answer.startswith(f"http/1.1 {status} ".encode())
    assert b"connection: close" in answer


def test_a_request_without_a_host_or_with_a_foreign_target_is_refused(server: LocalServer) -> None:
    assert _raw(server, "GET /x HTTP/1.1\n\n").startswith(b"HTTP/1.1 403 ")
    target = _raw(server, f"GET http://evil.example/x HTTP/1.1\nHost: {server.url[7:]}\n\n")
    assert target.startswith(b"HTTP/1.1 400 ")


def test_a_body_over_the_limit_is_a_413_and_the_server_goes_on(client: httpx.Client) -> None:
    assert client.post("/echo", content=b"x" * (PAYLOAD_LIMIT_BYTES + 1)).status_code == 413
    assert client.get("/x").status_code == 200


def test_a_head_request_and_an_empty_answer_have_no_body(server: LocalServer, client: httpx.Client) -> None:
    assert client.head("/x").content == b""
    answer = _raw(server, f'POST /echo HTTP/1.1\nHost: {server.url[7:]}\nx-answer: {{"statusCode": 204}}\n\n')
    assert answer.startswith(b"HTTP/1.1 204 ")
    assert b"content-length" not in answer.lower()


def test_a_failing_function_is_a_500(client: httpx.Client) -> None:
    assert client.get("/x", headers={"x-raise": "no"}).json() == {"message": "Internal Server Error"}


def test_the_clock_can_be_read_set_back_and_let_go(client: httpx.Client, small: LocalStack) -> None:
    assert client.get("/_local/clock").json() == {"now": NOW_MS, "text": "2026-01-01T00:00:00.000Z", "set": True}
    assert client.post("/_local/clock", json={"now": "2025-01-01T01:00:00+01:00"}).json()["now"] == 1_735_689_600_000
    assert client.get("/x").json()["environment"]["PROVENLOOP_NOW"] == "1735689600000"
    assert client.post("/_local/clock", json={"now": NOW_MS}).json()["text"] == "2026-01-01T00:00:00.000Z"
    assert client.post("/_local/clock", json={"now": None}).json()["set"] is False
    assert small.now_ms() > NOW_MS


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"{}", b'{"now": "yesterday"}', b'{"now": true}', b'{"now": 1}', b'{"now": null, "x": 1}'],
)
def test_garbage_does_not_set_the_clock(client: httpx.Client, small: LocalStack, body: bytes) -> None:
    assert client.post("/_local/clock", content=body).status_code == 400
    assert (small.now_ms(), small.clock_is_set) == (NOW_MS, True)


def test_a_tick_by_http_tells_what_it_did(client: httpx.Client) -> None:
    assert client.post("/_local/tick").json() == {
        "fired": ["BeatFunction.Beat"],
        "failed": [],
        "batches": 1,
        "done": 1,
        "retrying": 0,
        "complete": True,
    }


def test_other_paths_and_methods_under_local_are_unknown(client: httpx.Client) -> None:
    for method, path in (
        ("GET", "/_local/tick"),
        ("DELETE", "/_local/clock"),
        ("GET", "/_local/"),
        ("GET", "/_local/x"),
        # The small system has no inbox.
        ("PUT", "/_local/inbox/till/till/a"),
        ("GET", "/_local/reports/till/till/a.report.json"),
    ):
        assert client.request(method, path).status_code == 404


def test_the_functions_know_nothing_of_local(small: LocalStack) -> None:
    assert small.client.get("/_local/clock").json()["event"]["routeKey"] == "$default"


def test_the_log_names_method_path_and_status_and_nothing_else(
    server: LocalServer, client: httpx.Client, capsys: pytest.CaptureFixture[str]
) -> None:
    server.quiet = False
    client.post("/echo?token=hidden", headers={"authorization": "Bearer hidden"}, content=b"hidden")
    client.get("/x")
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("POST /echo 200 ")
    assert "hidden" not in "".join(lines)


def test_a_port_that_is_taken_is_an_error(server: LocalServer, small: LocalStack) -> None:
    with pytest.raises(OSError, match="in use"):
        LocalServer(small, server.server_port)

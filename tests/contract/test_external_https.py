"""External analyzers behind HTTPS, against a server on this machine: signed questions, bounded answers."""

from __future__ import annotations

import hmac
import json
import re
import socket
import threading
from collections.abc import Callable, Iterator
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from time import monotonic
from typing import Any

import boto3
import pytest
from moto import mock_aws

from provenloop.adapters.external_https import HttpsAnalyzer
from provenloop.adapters.external_keys import external_key
from provenloop.domain.errors import InternalError, LoopError, UnavailableError
from provenloop.services.external_port import ExternalFailure
from tests.builders import NOW

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

ID, KEY, BODY = "ext.finder/1", "0123456789abcdef-key", '{"loop_analyzer":1,"op":"probe","x":"ä"}'.encode()
Play = Callable[[BaseHTTPRequestHandler], None]


def answers(body: bytes, status: int = 200, **headers: str) -> Play:
    def play(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in {"content-length": str(len(body)), **headers}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(body)

    return play


class Receiver:
    """A server that plays what a test tells it to, and keeps what came in."""

    def __init__(self, url: str, end: threading.Event) -> None:
        self.url = url
        self.end = end
        self.play: Play = answers(b"{}")
        self.seen: list[tuple[str, dict[str, str], bytes]] = []

    def hangs(self, _handler: BaseHTTPRequestHandler) -> None:
        self.end.wait(30)

    def trickles(self, handler: BaseHTTPRequestHandler, **headers: str) -> None:
        handler.send_response(200)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        while not self.end.wait(0.02):
            handler.wfile.write(b" ")

    def is_endless(self, handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        while not self.end.is_set():
            handler.wfile.write(b"x" * 10_000)


@pytest.fixture
def server() -> Iterator[Receiver]:
    end = threading.Event()
    box: list[Receiver] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            box[0].seen.append((self.path, {name.lower(): value for name, value in self.headers.items()}, body))
            try:
                box[0].play(self)
            except OSError:
                # The client has gone, as it should.
                self.close_connection = True

        def do_GET(self) -> None:
            box[0].seen.append((self.path, {}, b""))
            answers(b'{"findings": []}')(self)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as served:
        served.daemon_threads = True
        box.append(Receiver(f"http://127.0.0.1:{served.server_port}", end))
        serving = threading.Thread(target=served.serve_forever, kwargs={"poll_interval": 0.01})
        serving.start()
        try:
            yield box[0]
        finally:
            end.set()
            served.shutdown()
            serving.join()


def ask(server: Receiver, play: Play | None = None, *, timeout_ms: int = 5_000, max_bytes: int = 1_000) -> object:
    server.play = play or server.play
    analyzer = HttpsAnalyzer(ID, f"{server.url}/analyze?code=x", lambda: KEY, lambda: NOW)
    return analyzer.ask(BODY, timeout_ms=timeout_ms, max_bytes=max_bytes)


def test_a_question_is_posted_as_it_is_and_the_answer_comes_back_as_it_is(server: Receiver) -> None:
    assert ask(server, answers(b'{"id": "x"}')) == b'{"id": "x"}'
    [(path, headers, body)] = server.seen
    assert (path, body) == ("/analyze?code=x", BODY)
    assert headers["content-type"] == "application/json"


def test_the_receiver_can_tell_who_asks_when_and_what(server: Receiver) -> None:
    ask(server)
    [(_, headers, body)] = server.seen
    assert headers["x-provenloop-timestamp"] == str(NOW // 1000)
    assert headers["x-provenloop-analyzer"] == ID
    proof = hmac.new(KEY.encode(), f"{NOW // 1000}.{ID}.".encode() + body, sha256).hexdigest()
    assert headers["x-provenloop-signature"] == f"v1={proof}"
    assert re.fullmatch(r"v1=[0-9a-f]{64}", headers["x-provenloop-signature"])
    assert not any(KEY in value for value in headers.values())


def test_the_published_example_of_a_receiver_lets_in_what_we_signed_just_now_and_nothing_else(server: Receiver) -> None:
    page = (Path(__file__).parents[2] / "shared/EXTERNAL-ANALYZERS.md").read_text(encoding="utf-8")
    [code] = re.findall(r"```python\n(.+?)```", page, re.DOTALL)
    example: dict[str, Any] = {}
    exec(code, example)  # noqa: S102 - our own page
    ask(server)
    [(_, headers, body)] = server.seen
    is_signed, now = example["is_signed"], NOW / 1000
    assert is_signed(headers, body, KEY, now)
    assert not is_signed(headers, body + b" ", KEY, now)
    assert not is_signed(headers, body, f"{KEY}x", now)
    assert not is_signed({**headers, "x-provenloop-analyzer": "ext.other/1"}, body, KEY, now)
    assert not is_signed({**headers, "x-provenloop-timestamp": str(NOW // 1000 + 1)}, body, KEY, now)
    assert not is_signed(headers, body, KEY, now + 301)
    assert not is_signed({}, body, KEY, now)
    assert not is_signed({**headers, "x-provenloop-signature": "v1=ä"}, body, KEY, now)


@pytest.mark.parametrize(
    ("play", "kind"),
    [
        (answers(b"{}", 500), "failed"),
        (answers(b"{}", 404), "failed"),
        (answers(b"{}", 202), "failed"),
        (answers(b"", 307, location="/elsewhere"), "failed"),
        (answers(b"", 302, location="http://127.0.0.1:1/"), "failed"),
        (answers(b"{}", content_length="100000"), "failed"),
        (answers(b"{}", content_encoding="gzip"), "failed"),
        (answers(b"x" * 1_001), "too_large"),
        (lambda handler: handler.wfile.write(b"garbage\r\n\r\n") and None, "failed"),
        (lambda handler: handler.connection.close(), "failed"),
    ],
)
def test_every_failure_has_a_kind_and_is_tried_once(server: Receiver, play: Play, kind: str) -> None:
    failure = ask(server, play)
    assert isinstance(failure, ExternalFailure)
    assert failure.kind == kind
    assert len(server.seen) == 1


def test_an_answer_may_be_as_large_as_it_is_said(server: Receiver) -> None:
    assert ask(server, answers(b"x" * 1_000)) == b"x" * 1_000


def test_whoever_never_stops_is_stopped(server: Receiver) -> None:
    begun = monotonic()
    assert ask(server, server.is_endless) == ExternalFailure("too_large")
    assert monotonic() - begun < 5


def test_the_time_is_over_when_it_is_over_however_slowly_the_other_side_speaks(server: Receiver) -> None:
    def without_a_length(handler: BaseHTTPRequestHandler) -> None:
        server.trickles(handler)

    def with_a_length(handler: BaseHTTPRequestHandler) -> None:
        server.trickles(handler, content_length="100000")

    for play in (server.hangs, without_a_length, with_a_length):
        begun = monotonic()
        assert ask(server, play, timeout_ms=300) == ExternalFailure("timeout")
        assert monotonic() - begun < 5


def test_all_addresses_of_a_name_have_the_time_of_one_call_together(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as silent, socket.socket() as waiting:
        silent.bind(("127.0.0.1", 0))
        silent.listen(0)
        waiting.connect(silent.getsockname())
        found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", silent.getsockname())] * 6
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
        port = silent.getsockname()[1]
        analyzer = HttpsAnalyzer("terms", f"http://127.0.0.1:{port}/", lambda: KEY, lambda: NOW)
        began = monotonic()

        assert analyzer.ask(BODY, timeout_ms=300, max_bytes=10) == ExternalFailure("timeout")
        assert monotonic() - began < 1


def test_where_nobody_listens_there_is_nobody() -> None:
    analyzer = HttpsAnalyzer(ID, "http://127.0.0.1:1/", lambda: KEY, lambda: NOW)
    assert analyzer.ask(BODY, timeout_ms=5_000, max_bytes=10) == ExternalFailure("unreachable")


def test_nothing_is_sent_without_a_key(server: Receiver) -> None:
    def unreadable() -> str:
        raise UnavailableError("not now")

    for key in (lambda: None, lambda: "", unreadable):
        analyzer = HttpsAnalyzer(ID, server.url, key, lambda: NOW)
        assert analyzer.ask(BODY, timeout_ms=5_000, max_bytes=10) == ExternalFailure("no key")
    assert server.seen == []


@pytest.mark.parametrize("address", ["http://finder.example/", "ftp://127.0.0.1/", "file:///etc/passwd", "finder"])
def test_nothing_is_sent_in_the_clear(address: str) -> None:
    with pytest.raises(InternalError):
        HttpsAnalyzer(ID, address, lambda: KEY, lambda: NOW)


def test_keys_stand_in_one_secret_by_name_and_short_ones_are_none() -> None:
    with mock_aws():
        secrets = boto3.client("secretsmanager", region_name="us-east-1")
        keys = {"ext.finder": KEY, "ext.short": "0123456789", "ext.odd": ["0123456789abcdef"]}
        secrets.create_secret(Name="keys", SecretString=json.dumps(keys))
        secrets.create_secret(Name="odd", SecretString="no JSON")
        assert external_key("keys", "ext.finder") == KEY
        for family in ("ext.short", "ext.odd", "ext.other"):
            assert external_key("keys", family) is None
        assert external_key("odd", "ext.finder") is None
        assert external_key(None, "ext.finder") is None
        with pytest.raises(LoopError):
            external_key("nowhere", "ext.finder")

"""The adapter of chat completions, over HTTP against a gateway on this machine."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping
from time import monotonic
from typing import Any

import pytest

from provenloop.adapters.openai_model import OpenAiModel
from provenloop.domain.errors import InternalError
from provenloop.domain.model_cost import Usage
from provenloop.domain.quoting import RULE, Quoted
from provenloop.services.model_port import ModelAnswer, ModelFailure, ModelOutcome, ModelRequest
from tests import model_server as server_
from tests.kept import kept
from tests.model_server import ModelServer, Play, fails, says, says_text, sends

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

MODEL = "some/model:8b"
SCHEMA = {
    "type": "object",
    "properties": {"word": {"type": "string"}},
    "required": ["word"],
    "additionalProperties": False,
}
TOLD = Usage(120, 30, cache_read_tokens=400)


@pytest.fixture(scope="module")
def running() -> Iterator[ModelServer]:
    with server_.model_server() as made:
        yield made


@pytest.fixture
def server(running: ModelServer) -> ModelServer:
    running.seen.clear()
    running.keys = None
    return running


def key_of(name: str) -> str:
    """A key that stands nowhere as one text."""
    return f"sk-gate-{name}-0123456789"


def request(**more: Any) -> ModelRequest:
    usual: dict[str, Any] = {
        "model": MODEL,
        "instructions": f"Say a word. {RULE}",
        "quoted": (Quoted("request", "good morning"),),
        "schema": SCHEMA,
        "max_tokens": 64,
        "timeout_ms": 5_000,
    }
    return ModelRequest(**{**usual, **more})


def ask(server: ModelServer, *plays: Any, key: str = "sk-gate-1", path: str = "/v1", **more: Any) -> ModelOutcome:
    if plays:
        server.plays(*plays)
    return OpenAiModel(f"{server.url}{path}").ask(request(**more), key)


def test_an_answer_comes_with_its_json_and_the_tokens_that_gateways_tell_of(server: ModelServer) -> None:
    answer = ask(server, says({"word": "ok"}, usage=TOLD))
    assert answer == ModelAnswer({"word": "ok"}, '{"word": "ok"}', TOLD, MODEL)


def test_the_model_that_answered_is_told_where_it_is_another(server: ModelServer) -> None:
    assert ask(server, says({}, model="some/model:8b-2026")).model == "some/model:8b-2026"


@pytest.mark.parametrize("told", ["x" * 101, "Ann Example", "ünnamed", "m\n", "", "a\nb"])
def test_what_cannot_be_the_name_of_a_model_is_not_taken_for_one(server: ModelServer, told: str) -> None:
    choice = {"message": {"content": "{}"}}
    assert ask(server, sends(json.dumps({"model": told, "choices": [choice]}).encode())).model == MODEL


@pytest.mark.parametrize("path", ["/v1", "/v1/"])
def test_instructions_and_what_others_wrote_are_sent_apart(server: ModelServer, path: str) -> None:
    quoted = (Quoted("request", "one"), Quoted("candidate:a", "two"))
    assert isinstance(ask(server, says({}), path=path, quoted=quoted, effort="low", cached=True), ModelAnswer)
    [seen] = server.seen
    assert seen.key == "sk-gate-1"
    assert seen.instructions == f"Say a word. {RULE}"
    assert seen.blocks == ['<data label="request">\n"one"\n</data>', '<data label="candidate:a">\n"two"\n</data>']
    assert seen.body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA},
    }
    assert (seen.body["model"], seen.body["max_tokens"], seen.body["temperature"]) == (MODEL, 64, 0)


# gateways without schemas


def without_schemas(status: int, *, then: Play) -> Any:
    def play(body: Mapping[str, Any]) -> Play:
        return fails(status, "invalid") if body["response_format"]["type"] == "json_schema" else then

    return play


@pytest.mark.parametrize("status", [400, 422])
def test_a_gateway_that_refuses_the_schema_is_asked_once_more_without(server: ModelServer, status: int) -> None:
    answer = ask(server, without_schemas(status, then=says({"word": "ok"})))
    assert isinstance(answer, ModelAnswer)
    assert answer.value == {"word": "ok"}
    _, second = server.seen
    assert second.instructions.startswith(f"Say a word. {RULE}")
    assert json.dumps(SCHEMA, separators=(",", ":")) in second.instructions
    assert second.blocks == ['<data label="request">\n"good morning"\n</data>']
    assert second.body["response_format"] == {"type": "json_object"}


@pytest.mark.parametrize("field", ["max_tokens", "temperature"])
def test_a_gateway_that_refuses_a_field_is_asked_once_more_as_newer_models_want_it(
    server: ModelServer, field: str
) -> None:
    refused = {"error": {"message": f"Unsupported: {field}", "param": field, "code": "unsupported_parameter"}}

    def play(body: Mapping[str, Any]) -> Play:
        return (
            says({"word": "ok"}) if "temperature" not in body else Play(status=400, body=json.dumps(refused).encode())
        )

    answer = ask(server, play)
    assert isinstance(answer, ModelAnswer)
    first, second = server.seen
    same = {name: value for name, value in first.body.items() if name not in ("max_tokens", "temperature")}
    assert second.body == {**same, "max_completion_tokens": 64}


@pytest.mark.parametrize("error", [None, [], "no", {"param": ["max_tokens"]}, {"param": "model"}])
def test_a_refusal_that_names_no_such_field_is_about_the_schema(server: ModelServer, error: Any) -> None:
    refused = json.dumps({"error": error}).encode()
    ask(server, lambda body: Play(status=400, body=refused) if "json_schema" in str(body) else says({"word": "ok"}))
    assert server.seen[1].body["response_format"] == {"type": "json_object"}


def test_a_gateway_that_refuses_both_is_asked_no_third_time(server: ModelServer) -> None:
    assert ask(server, fails(400, "invalid")) == ModelFailure("unknown")
    assert len(server.seen) == 2


def test_both_calls_together_have_the_time_of_one(server: ModelServer) -> None:
    ask(server, says({}))
    begun = monotonic()
    hangs = ask(server, without_schemas(400, then=server_.HANGS), timeout_ms=300)
    assert hangs == ModelFailure("network", timed_out=True)
    assert monotonic() - begun < 2


# failures

PARSE = ModelFailure("parse", Usage(), MODEL)
FAILURES: list[tuple[str, Play, ModelFailure]] = [
    ("401", server_.UNAUTHORIZED, ModelFailure("auth")),
    ("402", fails(402, "no_credit"), ModelFailure("auth")),
    ("403", fails(403, "permission"), ModelFailure("auth")),
    ("404", fails(404, "not_found"), ModelFailure("unknown")),
    ("408", fails(408, "slow"), ModelFailure("network")),
    ("429", server_.RATE_LIMITED, ModelFailure("rate_limit")),
    ("500", server_.BROKEN, ModelFailure("server")),
    ("503 in HTML", Play(status=503, body=b"<html>", headers={"content-type": "text/html"}), ModelFailure("server")),
    ("204", Play(status=204, body=b""), ModelFailure("unknown")),
    ("redirect", Play(status=307, body=b"", headers={"location": "/elsewhere"}), ModelFailure("unknown")),
    ("nothing", sends(b""), PARSE),
    ("not JSON at all", sends(b"{"), PARSE),
    ("not even text", sends(b"\xff\xfe"), PARSE),
    ("a list", sends(b"[]"), PARSE),
    ("nested without end", sends(b'{"choices":' + b"[" * 100_000), PARSE),
    ("no choices", sends(b'{"choices": []}'), PARSE),
    ("choices of a wrong kind", sends(b'{"choices": {"0": 1}}'), PARSE),
    ("no message", sends(b'{"choices": [{"message": "ok"}]}'), PARSE),
    ("packed", sends(b"{}", **{"content-encoding": "gzip"}), ModelFailure("network")),
    ("endless", sends(b" " * 2_000_001), ModelFailure("network")),
]


@pytest.mark.parametrize(("play", "failure"), [row[1:] for row in FAILURES], ids=[row[0] for row in FAILURES])
def test_every_failure_has_a_kind_and_is_tried_once(server: ModelServer, play: Play, failure: ModelFailure) -> None:
    assert ask(server, play) == failure
    assert len(server.seen) == 1


def said_no(**message: Any) -> Play:
    """A message of another form that was charged."""
    told = {"choices": [{"message": message}], "usage": {"prompt_tokens": 9, "completion_tokens": 2}}
    return sends(json.dumps(told).encode())


CHARGED_FAILURES: list[tuple[str, Play, str, bool]] = [
    ("the gateway's filter", server_.refuses(), "refusal", False),
    ("refused in words", said_no(content=None, refusal="I cannot"), "refusal", False),
    ("prose", says_text("Sure! Here is the word: ok"), "parse", False),
    ("cut JSON", says_text('{"word": "o', stop_reason="max_tokens"), "parse", False),
    ("a JSON list", says([1]), "parse", False),
    ("a key twice", says_text('{"word": 1, "word": 2}'), "parse", False),
    ("half a character", says_text('{"word": "\\ud800"}'), "parse", False),
    ("empty", server_.says_nothing(), "parse", True),
    ("a tool", said_no(content=None, tool_calls=[]), "parse", True),
    ("parts", said_no(content=[{"type": "text"}]), "parse", True),
]


@pytest.mark.parametrize("row", CHARGED_FAILURES, ids=[row[0] for row in CHARGED_FAILURES])
def test_what_was_charged_is_told_though_the_answer_is_useless(
    server: ModelServer, row: tuple[str, Play, str, bool]
) -> None:
    _, play, kind, empty = row
    failure = ask(server, play)
    assert isinstance(failure, ModelFailure)
    assert (failure.kind, failure.empty) == (kind, empty)
    charged = server.seen[0].charged
    assert failure.usage == (charged if charged != Usage() else Usage(9, 2))


@pytest.mark.parametrize("play", [server_.HANGS, server_.TRICKLES], ids=["hangs", "trickles"])
def test_a_call_ends_with_its_time_however_slowly_the_other_side_speaks(server: ModelServer, play: Play) -> None:
    ask(server, says({}))
    begun = monotonic()
    assert ask(server, play, timeout_ms=300) == ModelFailure("network", timed_out=True)
    assert monotonic() - begun < 2


def test_nobody_at_the_address_is_a_failure_of_the_network() -> None:
    assert OpenAiModel("http://127.0.0.1:9").ask(request(), "sk-gate-1") == ModelFailure("network")


@pytest.mark.parametrize(
    ("usage", "read"),
    [
        ({"prompt_tokens": -5, "completion_tokens": "many"}, Usage()),
        ({"prompt_tokens": 10**12, "completion_tokens": 3}, Usage(0, 3)),
        ({"prompt_tokens": 5, "prompt_tokens_details": {"cached_tokens": 9}}, Usage(0, 0, cache_read_tokens=5)),
        ({"prompt_tokens": 5, "prompt_tokens_details": [9]}, Usage(5)),
        ([5], Usage()),
        (None, Usage()),
    ],
)
def test_tokens_that_cannot_be_are_counted_as_none(server: ModelServer, usage: Any, read: Usage) -> None:
    told = {"choices": [{"message": {"content": "{}"}}], "usage": usage}
    answer = ask(server, sends(json.dumps(told).encode()))
    assert isinstance(answer, ModelAnswer)
    assert answer.usage == read


# the key


@pytest.mark.parametrize("key", ["", "two words", "line\nbreak", "schlüssel", "x" * 1001])
def test_what_cannot_be_a_key_is_not_sent_anywhere(server: ModelServer, key: str) -> None:
    assert ask(server, says({}), key=key) == ModelFailure("auth")
    assert server.seen == []


@pytest.mark.parametrize("url", ["http://models.example/v1", "ftp://127.0.0.1", "models.example", ""])
def test_keys_are_sent_over_https_only(url: str) -> None:
    with pytest.raises(InternalError):
        OpenAiModel(url)


def test_the_key_is_neither_kept_nor_logged_whatever_comes_of_the_call(
    server: ModelServer, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        for play in (says({}), server_.UNAUTHORIZED, fails(400, "invalid"), sends(b"["), sends(b" " * 2_000_001)):
            ask(server, play, key=key_of("one"))
    assert {seen.key for seen in server.seen} == {key_of("one")}
    assert "127.0.0.1" in caplog.text
    for secret in (key_of("one"), "good morning"):
        assert secret not in caplog.text
    server.seen.clear()
    caplog.clear()
    assert kept(key_of("one")) == []

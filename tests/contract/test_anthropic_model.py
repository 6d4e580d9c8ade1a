"""The adapter of Anthropic's API, over the real SDK against a provider on this machine."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from time import monotonic
from typing import Any

import boto3
import pytest
from moto import mock_aws

from provenloop.adapters.anthropic_model import AnthropicModel
from provenloop.adapters.model_key import SecretModelKey
from provenloop.domain.errors import InternalError, LoopError
from provenloop.domain.model_cost import Usage
from provenloop.domain.quoting import RULE, Quoted
from provenloop.services.model_port import ModelAnswer, ModelFailure, ModelOutcome, ModelRequest
from tests import model_server as server_
from tests.kept import kept
from tests.model_server import ModelServer, Play, fails, says, says_text, sends

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

KEY = "sk-ant-test-0123456789"
SCHEMA = {
    "type": "object",
    "properties": {"word": {"type": "string"}},
    "required": ["word"],
    "additionalProperties": False,
}
CHARGED = Usage(120, 30, 50, 7, 400)


@pytest.fixture(scope="module")
def running() -> Iterator[ModelServer]:
    with server_.model_server() as made:
        yield made


@pytest.fixture
def server(running: ModelServer) -> ModelServer:
    running.seen.clear()
    running.keys = None
    return running


def request(**more: Any) -> ModelRequest:
    usual: dict[str, Any] = {
        "model": "claude-opus-5-5",
        "instructions": f"Say a word. {RULE}",
        "quoted": (Quoted("request", "good morning"),),
        "schema": SCHEMA,
        "max_tokens": 64,
        "timeout_ms": 5_000,
    }
    return ModelRequest(**{**usual, **more})


def ask(server: ModelServer, *plays: Play, key: str = KEY, **more: Any) -> ModelOutcome:
    if plays:
        server.plays(*plays)
    return AnthropicModel(server.url).ask(request(**more), key)


def test_an_answer_comes_with_its_json_and_every_kind_of_token(server: ModelServer) -> None:
    answer = ask(server, says({"word": "ok"}, usage=CHARGED))
    assert answer == ModelAnswer({"word": "ok"}, '{"word": "ok"}', CHARGED, "claude-opus-5-5")


def test_the_model_that_answered_is_told_where_it_is_another(server: ModelServer) -> None:
    answer = ask(server, says({}, model="claude-opus-5-5-20260923"))
    assert answer.model == "claude-opus-5-5-20260923"


@pytest.mark.parametrize("told", ["x" * 101, "Ann Example", "ünnamed", "m\n", "a\nb"])
def test_what_cannot_be_the_name_of_a_model_is_not_taken_for_one(server: ModelServer, told: str) -> None:
    assert ask(server, says({}, model=told)).model == "claude-opus-5-5"


def test_instructions_and_what_others_wrote_are_sent_apart(server: ModelServer) -> None:
    ask(server, says({}), quoted=(Quoted("request", "one"), Quoted("candidate:a", "two")), effort="low", cached=True)
    [seen] = server.seen
    assert seen.key == KEY
    assert seen.instructions == f"Say a word. {RULE}"
    assert seen.body["system"][0]["cache_control"] == {"type": "ephemeral"}
    assert seen.blocks == ['<data label="request">\n"one"\n</data>', '<data label="candidate:a">\n"two"\n</data>']
    assert seen.body["output_config"] == {"format": {"type": "json_schema", "schema": SCHEMA}, "effort": "low"}
    assert (seen.body["model"], seen.body["max_tokens"]) == ("claude-opus-5-5", 64)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("model", ["claude-haiku-4-5-20251001", "claude-haiku-4-5", "claude-sonnet-4-5", "some-model"])
def test_effort_is_not_asked_of_models_that_know_none(server: ModelServer, model: str) -> None:
    assert isinstance(ask(server, says({}), model=model, effort="low"), ModelAnswer)
    assert "effort" not in server.seen[0].body["output_config"]


FAILURES: list[tuple[str, Play, ModelFailure]] = [
    ("401", server_.UNAUTHORIZED, ModelFailure("auth")),
    ("403", fails(403, "permission_error"), ModelFailure("auth")),
    ("400", fails(400, "invalid_request_error"), ModelFailure("unknown")),
    ("404", fails(404, "not_found_error"), ModelFailure("unknown")),
    ("429", server_.RATE_LIMITED, ModelFailure("rate_limit")),
    ("500", server_.BROKEN, ModelFailure("server")),
    ("529", fails(529, "overloaded_error"), ModelFailure("server")),
    ("500 in HTML", Play(status=500, body=b"<html>", headers={"content-type": "text/html"}), ModelFailure("server")),
    ("redirect", Play(status=307, body=b"", headers={"location": "/elsewhere"}), ModelFailure("unknown")),
    ("not JSON at all", sends(b"{"), ModelFailure("parse")),
    ("a list", sends(b"[]"), ModelFailure("parse", model="claude-opus-5-5")),
    ("HTML", sends(b"<html>", **{"content-type": "text/html"}), ModelFailure("parse", model="claude-opus-5-5")),
    ("no message", sends(b'{"content": 3}'), ModelFailure("parse", model="claude-opus-5-5")),
    ("packed", sends(b"{}", **{"content-encoding": "gzip"}), ModelFailure("network")),
    ("endless", sends(b" " * 2_000_001), ModelFailure("network")),
]


@pytest.mark.parametrize(("play", "failure"), [row[1:] for row in FAILURES], ids=[row[0] for row in FAILURES])
def test_every_failure_has_a_kind_and_is_tried_once(server: ModelServer, play: Play, failure: ModelFailure) -> None:
    assert ask(server, play) == failure
    assert len(server.seen) == 1


CHARGED_FAILURES: list[tuple[str, Play, str, bool]] = [
    ("refusal", server_.refuses(), "refusal", False),
    ("prose", says_text("Sure! Here is the word: ok"), "parse", False),
    ("cut JSON", says_text('{"word": "o', stop_reason="max_tokens"), "parse", False),
    ("a JSON list", says([1]), "parse", False),
    ("a key twice", says_text('{"word": 1, "word": 2}'), "parse", False),
    ("half a character", says_text('{"word": "\\ud800"}'), "parse", False),
    ("empty", server_.says_nothing(), "parse", True),
]


@pytest.mark.parametrize("row", CHARGED_FAILURES, ids=[row[0] for row in CHARGED_FAILURES])
def test_what_was_charged_is_told_though_the_answer_is_useless(
    server: ModelServer, row: tuple[str, Play, str, bool]
) -> None:
    _, play, kind, empty = row
    failure = ask(server, play)
    assert isinstance(failure, ModelFailure)
    assert (failure.kind, failure.empty) == (kind, empty)
    assert failure.usage == server.seen[0].charged != Usage()


@pytest.mark.parametrize("play", [server_.HANGS, server_.TRICKLES], ids=["hangs", "trickles"])
def test_a_call_ends_with_its_time_however_slowly_the_other_side_speaks(server: ModelServer, play: Play) -> None:
    ask(server, says({}))
    begun = monotonic()
    assert ask(server, play, timeout_ms=300) == ModelFailure("network", timed_out=True)
    assert monotonic() - begun < 2


def test_nobody_at_the_address_is_a_failure_of_the_network() -> None:
    assert AnthropicModel("http://127.0.0.1:9").ask(request(), KEY) == ModelFailure("network")


@pytest.mark.parametrize("key", ["", "two words", "line\nbreak", "schlüssel", "x" * 1001])
def test_what_cannot_be_a_key_is_not_sent_anywhere(server: ModelServer, key: str) -> None:
    assert ask(server, says({}), key=key) == ModelFailure("auth")
    assert server.seen == []


@pytest.mark.parametrize("url", ["http://models.example", "ftp://127.0.0.1", "models.example"])
def test_keys_are_sent_over_https_only(url: str) -> None:
    with pytest.raises(InternalError):
        AnthropicModel(url)


def test_tokens_that_cannot_be_are_counted_as_none(server: ModelServer) -> None:
    usage = {"input_tokens": -5, "output_tokens": "many", "cache_read_input_tokens": 10**12}
    message = {"content": [{"type": "text", "text": "{}"}], "usage": usage}
    answer = ask(server, sends(json.dumps(message).encode()))
    assert isinstance(answer, ModelAnswer)
    assert answer.usage == Usage()


# the key


def parts_of(name: str) -> str:
    """A key that stands nowhere as one text."""
    return f"sk-ant-{name}-0123456789"


def rotated(server: ModelServer, caplog: pytest.LogCaptureFixture) -> list[ModelOutcome]:
    """Three calls: with the first key, with the second, and one that is turned away; logged as much as can be."""
    with mock_aws():
        secrets = boto3.client("secretsmanager", region_name="us-east-1")
        secrets.create_secret(Name="model-key", SecretString=parts_of("old"))
        key, model = SecretModelKey("model-key"), AnthropicModel(server.url)
        with caplog.at_level(logging.DEBUG):
            answers = [model.ask(request(), key.current())]
        secrets.put_secret_value(SecretId="model-key", SecretString=parts_of("new") + "\n")
        with caplog.at_level(logging.DEBUG):
            answers.append(model.ask(request(), key.current()))
            server.plays(server_.UNAUTHORIZED)
            answers.append(model.ask(request(), key.current()))
        secrets.delete_secret(SecretId="model-key", ForceDeleteWithoutRecovery=True)
        with pytest.raises(LoopError):
            key.current()
    return answers


def test_a_rotated_key_works_at_the_next_call_and_neither_key_is_kept_or_logged(
    server: ModelServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.plays(says({"word": "ok"}))
    answers = rotated(server, caplog)
    assert [type(answer) for answer in answers] == [ModelAnswer, ModelAnswer, ModelFailure]
    assert [seen.key for seen in server.seen] == [parts_of("old"), parts_of("new"), parts_of("new")]
    assert "secretsmanager" in caplog.text
    for secret in (parts_of("old"), parts_of("new"), "good morning"):
        assert secret not in caplog.text
    server.seen.clear()
    caplog.clear()
    holder = [parts_of("control")]
    assert "list" in kept(holder[0])
    assert (kept(parts_of("old")), kept(parts_of("new"))) == ([], [])


def test_without_a_secret_models_are_off() -> None:
    assert SecretModelKey(None).current() == ""
    assert SecretModelKey(None, "openai").current() == ""

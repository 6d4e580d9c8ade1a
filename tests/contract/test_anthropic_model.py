"""The adapter of Anthropic's API, over the real SDK against a provider on this machine."""

from __future__ import annotations

import json
import logging
from typing import Any

import boto3
import pytest
from moto import mock_aws

from provenloop.adapters.anthropic_model import AnthropicModel
from provenloop.adapters.model_key import SecretModelKey
from provenloop.domain.errors import LoopError
from provenloop.domain.model_cost import Usage
from provenloop.services.model_port import ModelAnswer, ModelFailure, ModelOutcome
from tests import model_server as server_
from tests.kept import kept
from tests.model_question import SAID, SCHEMA, question
from tests.model_server import ModelServer, Play, fails, says, sends

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

MODEL = "claude-opus-5-5"


def ask(server: ModelServer, *plays: Play, model: str = MODEL, **more: Any) -> ModelOutcome:
    server.plays(*plays)
    return AnthropicModel(server.url).ask(question(model, **more), "sk-test-1")


def test_a_question_has_the_form_of_messages(server: ModelServer) -> None:
    ask(server, says({}), effort="low", cached=True)
    body = server.seen[0].body
    assert body["system"][0]["cache_control"] == {"type": "ephemeral"}
    assert body["output_config"] == {"format": {"type": "json_schema", "schema": SCHEMA}, "effort": "low"}
    assert (body["model"], body["max_tokens"]) == (MODEL, 64)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("model", ["claude-haiku-4-5-20251001", "claude-haiku-4-5", "claude-sonnet-4-5", "some-model"])
def test_effort_is_not_asked_of_models_that_know_none(server: ModelServer, model: str) -> None:
    assert isinstance(ask(server, says({}), model=model, effort="low"), ModelAnswer)
    assert "effort" not in server.seen[0].body["output_config"]


PARSE = ModelFailure("parse", model=MODEL)
FAILURES: list[tuple[str, Play, ModelFailure]] = [
    ("400", fails(400, "invalid_request_error"), ModelFailure("unknown")),
    ("not JSON at all", sends(b"{"), ModelFailure("parse")),
    ("a list", sends(b"[]"), PARSE),
    ("HTML", sends(b"<html>", **{"content-type": "text/html"}), PARSE),
    ("no message", sends(b'{"content": 3}'), PARSE),
]


@pytest.mark.parametrize(("play", "failure"), [row[1:] for row in FAILURES], ids=[row[0] for row in FAILURES])
def test_what_is_no_message_is_a_failure(server: ModelServer, play: Play, failure: ModelFailure) -> None:
    assert ask(server, play) == failure
    assert len(server.seen) == 1


def test_a_refusal_is_charged(server: ModelServer) -> None:
    failure = ask(server, server_.refuses())
    assert failure == ModelFailure("refusal", server.seen[0].charged, MODEL)
    assert failure.usage != Usage()


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
            answers = [model.ask(question(MODEL), key.current())]
        secrets.put_secret_value(SecretId="model-key", SecretString=parts_of("new") + "\n")
        with caplog.at_level(logging.DEBUG):
            answers.append(model.ask(question(MODEL), key.current()))
            server.plays(server_.UNAUTHORIZED)
            answers.append(model.ask(question(MODEL), key.current()))
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
    for secret in (parts_of("old"), parts_of("new"), SAID):
        assert secret not in caplog.text
    server.seen.clear()
    caplog.clear()
    holder = [parts_of("control")]
    assert "list" in kept(holder[0])
    assert (kept(parts_of("old")), kept(parts_of("new"))) == ([], [])


def test_without_a_secret_models_are_off() -> None:
    assert SecretModelKey(None).current() == ""
    assert SecretModelKey(None, "openai").current() == ""

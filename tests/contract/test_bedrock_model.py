"""The adapter of Bedrock's Converse, over botocore against a server on this machine, and over a stubbed client."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping
from time import monotonic
from typing import Any

import botocore.session
import pytest
from botocore.exceptions import ParamValidationError
from botocore.stub import Stubber

from provenloop.adapters.bedrock_model import BedrockModel
from provenloop.domain.model_cost import Usage
from provenloop.domain.quoting import RULE, Quoted
from provenloop.services.model_port import ModelAnswer, ModelFailure, ModelOutcome, ModelRequest
from tests import model_server as server_
from tests.model_server import ModelServer, Play, says, says_text, sends

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

MODEL = "us.anthropic.claude-opus-5-5-20260923-v1:0"
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
def server(running: ModelServer, monkeypatch: pytest.MonkeyPatch) -> ModelServer:
    for name, value in {
        "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": running.url,
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "id",
        "AWS_SECRET_ACCESS_KEY": "secret",
    }.items():
        monkeypatch.setenv(name, value)
    running.seen.clear()
    return running


def request(**more: Any) -> ModelRequest:
    usual: dict[str, Any] = {
        "model": MODEL,
        "instructions": f"Say a word. {RULE}",
        "quoted": (Quoted("request", "good morning"),),
        "schema": SCHEMA,
        "max_tokens": 64,
        "timeout_ms": 10_000,
    }
    return ModelRequest(**{**usual, **more})


def ask(server: ModelServer, *plays: Any, **more: Any) -> ModelOutcome:
    server.plays(*plays)
    return BedrockModel().ask(request(**more), "")


def refuses(status: int, code: str) -> Play:
    """An error of the API."""
    return Play(status=status, body=b'{"message": "no"}', headers={"x-amzn-errortype": code})


def test_an_answer_comes_with_its_json_and_every_kind_of_token(server: ModelServer) -> None:
    answer = ask(server, says({"word": "ok"}, usage=CHARGED))
    assert answer == ModelAnswer({"word": "ok"}, '{"word": "ok"}', CHARGED, MODEL)


def test_instructions_and_what_others_wrote_are_sent_apart(server: ModelServer) -> None:
    quoted = (Quoted("request", "one"), Quoted("candidate:a", "two"))
    assert isinstance(ask(server, says({}), quoted=quoted, effort="low"), ModelAnswer)
    [seen] = server.seen
    assert seen.key.startswith("AWS4-HMAC-SHA256")
    assert seen.body["system"] == [{"text": f"Say a word. {RULE}"}]
    assert seen.blocks == ['<data label="request">\n"one"\n</data>', '<data label="candidate:a">\n"two"\n</data>']
    assert json.loads(seen.body["outputConfig"]["textFormat"]["structure"]["jsonSchema"]["schema"]) == SCHEMA
    assert seen.body["inferenceConfig"] == {"maxTokens": 64}


def test_instructions_are_kept_for_the_next_call_where_that_is_asked_for(server: ModelServer) -> None:
    ask(server, says({}), cached=True)
    assert server.seen[0].body["system"][1:] == [{"cachePoint": {"type": "default"}}]


# models without schemas


def without_schemas(*, then: Play) -> Any:
    def play(body: Mapping[str, Any]) -> Play:
        return then if "toolConfig" in body else refuses(400, "ValidationException")

    return play


def test_a_model_without_schemas_is_made_to_call_a_tool_with_its_answer(server: ModelServer) -> None:
    answer = ask(server, without_schemas(then=says({"word": "ok"}, usage=CHARGED)), cached=True)
    assert answer == ModelAnswer({"word": "ok"}, '{"word": "ok"}', CHARGED, MODEL)
    _, second = server.seen
    assert second.body["system"] == [{"text": f"Say a word. {RULE}"}]
    assert second.body["toolConfig"]["tools"][0]["toolSpec"]["inputSchema"] == {"json": SCHEMA}
    assert second.blocks == ['<data label="request">\n"good morning"\n</data>']


def test_a_botocore_that_knows_no_schemas_asks_with_a_tool() -> None:
    class Old:
        """The client of an older botocore."""

        def converse(self, **asked: Any) -> Any:
            if "outputConfig" in asked:
                raise ParamValidationError(report="unknown parameter: outputConfig")
            content = [{"toolUse": {"toolUseId": "t", "name": "answer", "input": {"word": "ok"}}}]
            return {"output": {"message": {"content": content}}, "stopReason": "tool_use", "usage": {}}

    answer = BedrockModel(lambda _: Old()).ask(request(), "")
    assert isinstance(answer, ModelAnswer)
    assert answer.value == {"word": "ok"}


def test_a_model_that_refuses_both_is_asked_no_third_time(server: ModelServer) -> None:
    assert ask(server, refuses(400, "ValidationException")) == ModelFailure("unknown")
    assert len(server.seen) == 2


# failures

FAILURES: list[tuple[str, Play, ModelFailure]] = [
    ("no right", refuses(403, "AccessDeniedException"), ModelFailure("auth")),
    ("credentials that ended", refuses(403, "ExpiredTokenException"), ModelFailure("auth")),
    ("no such model", refuses(404, "ResourceNotFoundException"), ModelFailure("unknown")),
    ("took too long", refuses(408, "ModelTimeoutException"), ModelFailure("network")),
    ("too often", refuses(429, "ThrottlingException"), ModelFailure("rate_limit")),
    ("not ready", refuses(429, "ModelNotReadyException"), ModelFailure("rate_limit")),
    ("the model failed", refuses(424, "ModelErrorException"), ModelFailure("server")),
    ("500", refuses(500, "InternalServerException"), ModelFailure("server")),
    ("503 in HTML", Play(status=503, body=b"<html>", headers={"content-type": "text/html"}), ModelFailure("server")),
    ("not JSON at all", sends(b"{"), ModelFailure("parse", Usage(), MODEL, empty=True)),
    ("no message", sends(b"{}"), ModelFailure("parse", Usage(), MODEL, empty=True)),
    ("content of a wrong kind", sends(b'{"output": {"message": {"content": 3}}}'), ModelFailure("unknown")),
]


@pytest.mark.parametrize(("play", "failure"), [row[1:] for row in FAILURES], ids=[row[0] for row in FAILURES])
def test_every_failure_has_a_kind_and_is_tried_once(server: ModelServer, play: Play, failure: ModelFailure) -> None:
    assert ask(server, play) == failure
    assert len(server.seen) == 1


CHARGED_FAILURES: list[tuple[str, Play, str, bool]] = [
    ("a filter", says_text("I can", stop_reason="content_filtered"), "refusal", False),
    ("a guardrail", says_text("I can", stop_reason="guardrail_intervened"), "refusal", False),
    ("prose", says_text("Sure! Here is the word: ok"), "parse", False),
    ("cut JSON", says_text('{"word": "o', stop_reason="max_tokens"), "parse", False),
    ("a JSON list", says([1]), "parse", False),
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


def test_a_call_ends_with_its_time(server: ModelServer) -> None:
    ask(server, says({}))
    begun = monotonic()
    assert ask(server, server_.HANGS, timeout_ms=400) == ModelFailure("network", timed_out=True)
    assert ask(server, without_schemas(then=server_.HANGS), timeout_ms=400) == ModelFailure("network", timed_out=True)
    assert monotonic() - begun < 3


def test_nobody_at_the_address_is_a_failure_of_the_network(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "http://127.0.0.1:9")
    assert ask(server, says({})) == ModelFailure("network")


# against the shapes that botocore knows


def test_questions_and_answers_have_the_shapes_that_the_api_publishes() -> None:
    client = botocore.session.get_session().create_client("bedrock-runtime", region_name="us-east-1")
    schema = {"jsonSchema": {"name": "answer", "schema": json.dumps(SCHEMA)}}
    expected = {
        "modelId": MODEL,
        "system": [{"text": f"Say a word. {RULE}"}, {"cachePoint": {"type": "default"}}],
        "messages": [{"role": "user", "content": [{"text": '<data label="request">\n"good morning"\n</data>'}]}],
        "inferenceConfig": {"maxTokens": 64},
        "outputConfig": {"textFormat": {"type": "json_schema", "structure": schema}},
    }
    answer = {
        "output": {
            "message": {
                "role": "assistant",
                "content": [
                    {"reasoningContent": {"reasoningText": {"text": "hm"}}},
                    {"text": '{"word":'},
                    {"text": ' "ok"}'},
                ],
            }
        },
        "stopReason": "end_turn",
        "usage": {"inputTokens": 12, "outputTokens": 3, "totalTokens": 15, "cacheWriteInputTokens": 9},
        "metrics": {"latencyMs": 5},
    }
    with Stubber(client) as stubber:
        stubber.add_response("converse", answer, expected)
        told = BedrockModel(lambda _: client).ask(request(cached=True), "")
    assert told == ModelAnswer({"word": "ok"}, '{"word": "ok"}', Usage(12, 3, 9), MODEL)


def test_what_is_asked_and_answered_is_not_logged(server: ModelServer, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        assert isinstance(ask(server, says({"word": "a secret"})), ModelAnswer)
    assert "bedrock" in caplog.text
    for said in ("good morning", "a secret"):
        assert {record.name for record in caplog.records if said in record.getMessage()} == set()

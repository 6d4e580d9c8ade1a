"""The adapter of Bedrock's Converse, over botocore against a server on this machine, and over a stubbed client."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from time import monotonic
from typing import Any

import botocore.session
import pytest
from botocore.exceptions import ParamValidationError
from botocore.stub import Stubber

from provenloop.adapters.bedrock_model import BedrockModel
from provenloop.domain.model_cost import Usage
from provenloop.services.model_port import ModelAnswer, ModelFailure, ModelOutcome
from tests import model_server as server_
from tests.model_question import BLOCK, INSTRUCTIONS, SAID, SCHEMA, question
from tests.model_server import ModelServer, Play, says, says_text, sends

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

MODEL = "us.anthropic.claude-opus-5-5-20260923-v1:0"
CHARGED = Usage(120, 30, 50, 7, 400)


def ask(server: ModelServer, *plays: Any, **more: Any) -> ModelOutcome:
    server.plays(*plays)
    return BedrockModel().ask(question(MODEL, **more), "")


def refuses(status: int, code: str) -> Play:
    """An error of the API."""
    return Play(status=status, body=b'{"message": "no"}', headers={"x-amzn-errortype": code})


def test_a_question_has_the_form_of_converse_and_is_signed(server: ModelServer) -> None:
    assert isinstance(ask(server, says({}), effort="low"), ModelAnswer)
    [seen] = server.seen
    assert seen.key.startswith("AWS4-HMAC-SHA256")
    assert seen.body["system"] == [{"text": INSTRUCTIONS}]
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
    assert second.body["system"] == [{"text": INSTRUCTIONS}]
    assert second.body["toolConfig"]["tools"][0]["toolSpec"]["inputSchema"] == {"json": SCHEMA}
    assert second.blocks == [BLOCK]


def test_a_botocore_that_knows_no_schemas_asks_with_a_tool() -> None:
    class Old:
        """The client of an older botocore."""

        def converse(self, **asked: Any) -> Any:
            if "outputConfig" in asked:
                raise ParamValidationError(report="unknown parameter: outputConfig")
            content = [{"toolUse": {"toolUseId": "t", "name": "answer", "input": {"word": "ok"}}}]
            return {"output": {"message": {"content": content}}, "stopReason": "tool_use", "usage": {}}

    answer = BedrockModel(lambda _: Old()).ask(question(MODEL), "")
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


@pytest.mark.parametrize("reason", ["content_filtered", "guardrail_intervened"])
def test_what_a_filter_stops_is_a_refusal_that_is_charged(server: ModelServer, reason: str) -> None:
    failure = ask(server, says_text("I can", stop_reason=reason))
    assert failure == ModelFailure("refusal", server.seen[0].charged, MODEL)
    assert failure.usage != Usage()


def test_both_calls_together_have_the_time_of_one(server: ModelServer) -> None:
    ask(server, says({}))
    begun = monotonic()
    assert ask(server, without_schemas(then=server_.HANGS), timeout_ms=400) == ModelFailure("network", timed_out=True)
    assert monotonic() - begun < 2


# against the shapes that botocore knows


def test_questions_and_answers_have_the_shapes_that_the_api_publishes() -> None:
    client = botocore.session.get_session().create_client("bedrock-runtime", region_name="us-east-1")
    schema = {"jsonSchema": {"name": "answer", "schema": json.dumps(SCHEMA)}}
    expected = {
        "modelId": MODEL,
        "system": [{"text": INSTRUCTIONS}, {"cachePoint": {"type": "default"}}],
        "messages": [{"role": "user", "content": [{"text": BLOCK}]}],
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
        told = BedrockModel(lambda _: client).ask(question(MODEL, cached=True), "")
    assert told == ModelAnswer({"word": "ok"}, '{"word": "ok"}', Usage(12, 3, 9), MODEL)


def test_what_is_asked_and_answered_is_not_logged(server: ModelServer, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        assert isinstance(ask(server, says({"word": "a secret"})), ModelAnswer)
    assert "bedrock" in caplog.text
    for said in (SAID, "a secret"):
        assert {record.name for record in caplog.records if said in record.getMessage()} == set()

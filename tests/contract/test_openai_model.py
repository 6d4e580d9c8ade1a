"""The adapter of chat completions, over HTTP against a gateway on this machine."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from time import monotonic
from typing import Any

import pytest

from provenloop.adapters.openai_model import OpenAiModel
from provenloop.domain.model_cost import Usage
from provenloop.services.model_port import ModelAnswer, ModelFailure, ModelOutcome
from tests import model_server as server_
from tests.kept import kept
from tests.model_question import BLOCK, INSTRUCTIONS, SAID, SCHEMA, question
from tests.model_server import ModelServer, Play, fails, says, sends

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

MODEL = "some/model:8b"


def key_of(name: str) -> str:
    """A key that stands nowhere as one text."""
    return f"sk-gate-{name}-0123456789"


def ask(server: ModelServer, *plays: Any, key: str = "sk-gate-1", path: str = "/v1", **more: Any) -> ModelOutcome:
    server.plays(*plays)
    return OpenAiModel(f"{server.url}{path}").ask(question(MODEL, **more), key)


@pytest.mark.parametrize("path", ["/v1", "/v1/"])
def test_a_question_has_the_form_of_chat_completions(server: ModelServer, path: str) -> None:
    assert isinstance(ask(server, says({}), path=path), ModelAnswer)
    body = server.seen[0].body
    assert body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA},
    }
    assert (body["model"], body["max_tokens"], body["temperature"]) == (MODEL, 64, 0)


@pytest.mark.parametrize("told", ["", None, 5, ["m"]])
def test_a_model_that_is_not_named_is_the_one_that_was_asked(server: ModelServer, told: object) -> None:
    choice = {"message": {"content": "{}"}}
    assert ask(server, sends(json.dumps({"model": told, "choices": [choice]}).encode())).model == MODEL


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
    assert second.instructions.startswith(INSTRUCTIONS)
    assert json.dumps(SCHEMA, separators=(",", ":")) in second.instructions
    assert second.blocks == [BLOCK]
    assert second.body["response_format"] == {"type": "json_object"}


def test_a_gateway_that_refuses_both_is_asked_no_third_time(server: ModelServer) -> None:
    assert ask(server, fails(400, "invalid")) == ModelFailure("unknown")
    assert len(server.seen) == 2


def test_both_calls_together_have_the_time_of_one(server: ModelServer) -> None:
    ask(server, says({}))
    begun = monotonic()
    hangs = ask(server, without_schemas(400, then=server_.HANGS), timeout_ms=300)
    assert hangs == ModelFailure("network", timed_out=True)
    assert monotonic() - begun < 2


# models that refuse a field


def refusing(*fields: str, schema: bool = False) -> Callable[[Mapping[str, Any]], Play]:
    """A gateway to models that refuse fields, of which it names the first, and may be schemas as well."""

    def play(body: Mapping[str, Any]) -> Play:
        for field in fields:
            if field in body:
                error = {"message": f"Unsupported: {field}", "param": field, "code": "unsupported_parameter"}
                return Play(status=400, body=json.dumps({"error": error}).encode())
        if schema and body["response_format"]["type"] == "json_schema":
            return fails(400, "invalid")
        return says({"word": "ok"})

    return play


def sizes(server: ModelServer) -> list[dict[str, Any]]:
    """How each question says how long the answer may be, and at which temperature."""
    names = ("max_tokens", "max_completion_tokens", "temperature")
    return [{name: seen.body[name] for name in names if name in seen.body} for seen in server.seen]


OLDER = {"max_tokens": 64, "temperature": 0}
NEWER = {"max_completion_tokens": 64}


@pytest.mark.parametrize(
    ("refused", "second"),
    [(("max_tokens", "temperature"), NEWER), (("max_tokens",), NEWER), (("temperature",), {"max_tokens": 64})],
    ids=["both", "max_tokens", "temperature"],
)
def test_a_field_that_is_refused_is_not_sent_to_that_model_again(
    server: ModelServer, refused: tuple[str, ...], second: dict[str, Any]
) -> None:
    server.plays(refusing(*refused))
    model = OpenAiModel(f"{server.url}/v1")
    for _ in range(2):
        assert isinstance(model.ask(question(MODEL), "sk-gate-1"), ModelAnswer)
    assert sizes(server) == [OLDER, second, second]
    assert {seen.body["response_format"]["type"] for seen in server.seen} == {"json_schema"}
    model.ask(question("other"), "sk-gate-1")
    assert sizes(server)[3] == OLDER


@pytest.mark.parametrize("refused", [("temperature", "max_tokens"), ("max_tokens",)], ids=["fields", "schema"])
def test_what_a_second_question_was_refused_for_is_known_at_the_next_call(
    server: ModelServer, refused: tuple[str, ...]
) -> None:
    server.plays(refusing(*refused, schema=len(refused) == 1))
    model = OpenAiModel(f"{server.url}/v1")
    first, second = (model.ask(question(MODEL), "sk-gate-1") for _ in range(2))
    assert (first, type(second)) == (ModelFailure("unknown"), ModelAnswer)
    assert len(server.seen) == 4
    assert sizes(server)[3] == NEWER


@pytest.mark.parametrize("error", [None, [], "no", {"param": ["max_tokens"]}, {"param": "model"}])
def test_a_refusal_that_names_no_such_field_is_about_the_schema(server: ModelServer, error: Any) -> None:
    refused = json.dumps({"error": error}).encode()
    ask(server, lambda body: Play(status=400, body=refused) if "json_schema" in str(body) else says({"word": "ok"}))
    assert server.seen[1].body["response_format"] == {"type": "json_object"}


# failures

PARSE = ModelFailure("parse", Usage(), MODEL)
FAILURES: list[tuple[str, Play, ModelFailure]] = [
    ("204", Play(status=204, body=b""), ModelFailure("unknown")),
    ("nothing", sends(b""), PARSE),
    ("not JSON at all", sends(b"{"), PARSE),
    ("not even text", sends(b"\xff\xfe"), PARSE),
    ("a list", sends(b"[]"), PARSE),
    ("nested without end", sends(b'{"choices":' + b"[" * 100_000), PARSE),
    ("no choices", sends(b'{"choices": []}'), PARSE),
    ("choices of a wrong kind", sends(b'{"choices": {"0": 1}}'), PARSE),
    ("no message", sends(b'{"choices": [{"message": "ok"}]}'), PARSE),
]


@pytest.mark.parametrize(("play", "failure"), [row[1:] for row in FAILURES], ids=[row[0] for row in FAILURES])
def test_what_is_no_message_is_a_failure(server: ModelServer, play: Play, failure: ModelFailure) -> None:
    assert ask(server, play) == failure
    assert len(server.seen) == 1


def said_no(**message: Any) -> Play:
    """A message of another form that was charged."""
    told = {"choices": [{"message": message}], "usage": {"prompt_tokens": 9, "completion_tokens": 2}}
    return sends(json.dumps(told).encode())


CHARGED_FAILURES: list[tuple[str, Play, ModelFailure]] = [
    ("refused in words", said_no(content=None, refusal="I cannot"), ModelFailure("refusal", Usage(9, 2), MODEL)),
    ("a tool", said_no(content=None, tool_calls=[]), ModelFailure("parse", Usage(9, 2), MODEL, empty=True)),
    ("parts", said_no(content=[{"type": "text"}]), ModelFailure("parse", Usage(9, 2), MODEL, empty=True)),
]


@pytest.mark.parametrize(
    ("play", "failure"), [row[1:] for row in CHARGED_FAILURES], ids=[row[0] for row in CHARGED_FAILURES]
)
def test_a_message_of_another_form_is_charged(server: ModelServer, play: Play, failure: ModelFailure) -> None:
    assert ask(server, play) == failure


def test_what_the_filter_of_a_gateway_stops_is_a_refusal_that_is_charged(server: ModelServer) -> None:
    failure = ask(server, server_.refuses())
    assert failure == ModelFailure("refusal", server.seen[0].charged, MODEL)
    assert failure.usage != Usage()


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


def test_the_key_is_neither_kept_nor_logged_whatever_comes_of_the_call(
    server: ModelServer, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        for play in (says({}), server_.UNAUTHORIZED, fails(400, "invalid"), sends(b"["), sends(b" " * 2_000_001)):
            ask(server, play, key=key_of("one"))
    assert {seen.key for seen in server.seen} == {key_of("one")}
    assert "127.0.0.1" in caplog.text
    for secret in (key_of("one"), SAID):
        assert secret not in caplog.text
    server.seen.clear()
    caplog.clear()
    assert kept(key_of("one")) == []

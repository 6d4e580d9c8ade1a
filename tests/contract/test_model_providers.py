"""What all adapters of models that are asked over the network have in common, against a server on this machine."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import Any

import pytest

from provenloop.adapters.anthropic_model import AnthropicModel
from provenloop.adapters.bedrock_model import BedrockModel
from provenloop.adapters.openai_model import OpenAiModel
from provenloop.domain.errors import InternalError
from provenloop.domain.model_cost import Usage
from provenloop.domain.quoting import Quoted
from provenloop.services.model_port import ModelAnswer, ModelFailure, ModelOutcome, ModelProvider
from tests import model_server as server_
from tests.model_question import INSTRUCTIONS, question
from tests.model_server import ModelServer, Play, fails, says, says_text, sends

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

CHARGED = Usage(120, 30, 50, 7, 400)
NOWHERE = "http://127.0.0.1:9"


@dataclass(frozen=True)
class Provider:
    """One of them: how it is made for an address, a model of its, and what it can tell of the tokens ``CHARGED``."""

    made: Callable[[str], ModelProvider]
    model: str
    told: Usage
    key: str = "sk-test-1"

    def ask(self, server: ModelServer, *plays: Play, **more: Any) -> ModelOutcome:
        if plays:
            server.plays(*plays)
        key = more.pop("key", self.key)
        return self.made(server.url).ask(question(self.model, **more), key)


ANTHROPIC = Provider(AnthropicModel, "claude-opus-5-5", CHARGED)
BEDROCK = Provider(lambda _: BedrockModel(), "us.anthropic.claude-opus-5-5-20260923-v1:0", CHARGED, key="")
OPENAI = Provider(lambda url: OpenAiModel(f"{url}/v1"), "some/model:8b", Usage(177, 30, cache_read_tokens=400))

of_all = pytest.mark.parametrize("provider", [ANTHROPIC, BEDROCK, OPENAI], ids=["anthropic", "bedrock", "openai"])
of_those_with_keys = pytest.mark.parametrize("provider", [ANTHROPIC, OPENAI], ids=["anthropic", "openai"])


@of_all
def test_an_answer_comes_with_its_json_and_every_kind_of_token_that_is_told(
    server: ModelServer, provider: Provider
) -> None:
    answer = provider.ask(server, says({"word": "ok"}, usage=CHARGED))
    assert answer == ModelAnswer({"word": "ok"}, '{"word": "ok"}', provider.told, provider.model)


@of_all
def test_instructions_and_what_others_wrote_are_sent_apart(server: ModelServer, provider: Provider) -> None:
    quoted = (Quoted("request", "one"), Quoted("candidate:a", "two"))
    assert isinstance(provider.ask(server, says({}), quoted=quoted, effort="low", cached=True), ModelAnswer)
    [seen] = server.seen
    assert seen.instructions == INSTRUCTIONS
    assert seen.blocks == ['<data label="request">\n"one"\n</data>', '<data label="candidate:a">\n"two"\n</data>']


USELESS: list[tuple[str, Play, bool]] = [
    ("prose", says_text("Sure! Here is the word: ok"), False),
    ("cut JSON", says_text('{"word": "o', stop_reason="max_tokens"), False),
    ("a JSON list", says([1]), False),
    ("a key twice", says_text('{"word": 1, "word": 2}'), False),
    ("half a character", says_text('{"word": "\\ud800"}'), False),
    ("empty", server_.says_nothing(), True),
]


@of_all
@pytest.mark.parametrize(("play", "empty"), [row[1:] for row in USELESS], ids=[row[0] for row in USELESS])
def test_what_was_charged_is_told_though_the_answer_is_useless(
    server: ModelServer, provider: Provider, play: Play, *, empty: bool
) -> None:
    failure = provider.ask(server, play)
    [seen] = server.seen
    assert failure == ModelFailure("parse", seen.charged, provider.model, empty=empty)
    assert seen.charged != Usage()


@of_all
def test_a_call_ends_with_its_time(server: ModelServer, provider: Provider) -> None:
    # What is imported at the first call takes time that is not that of the other side.
    provider.ask(server, says({}))
    begun = monotonic()
    assert provider.ask(server, server_.HANGS, timeout_ms=300) == ModelFailure("network", timed_out=True)
    assert monotonic() - begun < 2


@of_all
def test_nobody_at_the_address_is_a_failure_of_the_network(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", NOWHERE)
    assert provider.made(NOWHERE).ask(question(provider.model), provider.key) == ModelFailure("network")


FAILURES: list[tuple[str, Play, ModelFailure]] = [
    ("401", server_.UNAUTHORIZED, ModelFailure("auth")),
    ("402", fails(402, "billing_error"), ModelFailure("auth")),
    ("403", fails(403, "permission_error"), ModelFailure("auth")),
    ("404", fails(404, "not_found_error"), ModelFailure("unknown")),
    ("408", fails(408, "timeout_error"), ModelFailure("network")),
    ("429", server_.RATE_LIMITED, ModelFailure("rate_limit")),
    ("500", server_.BROKEN, ModelFailure("server")),
    ("503 in HTML", Play(status=503, body=b"<html>", headers={"content-type": "text/html"}), ModelFailure("server")),
    ("529", fails(529, "overloaded_error"), ModelFailure("server")),
    ("redirect", Play(status=307, body=b"", headers={"location": "/elsewhere"}), ModelFailure("unknown")),
    ("packed", sends(b"{}", **{"content-encoding": "gzip"}), ModelFailure("network")),
    ("endless", sends(b" " * 2_000_001), ModelFailure("network")),
]


@of_those_with_keys
@pytest.mark.parametrize(("play", "failure"), [row[1:] for row in FAILURES], ids=[row[0] for row in FAILURES])
def test_every_failure_has_a_kind_and_is_tried_once(
    server: ModelServer, provider: Provider, play: Play, failure: ModelFailure
) -> None:
    assert provider.ask(server, play) == failure
    assert len(server.seen) == 1


@of_those_with_keys
def test_a_call_ends_with_its_time_however_slowly_the_other_side_speaks(
    server: ModelServer, provider: Provider
) -> None:
    provider.ask(server, says({}))
    begun = monotonic()
    assert provider.ask(server, server_.TRICKLES, timeout_ms=300) == ModelFailure("network", timed_out=True)
    assert monotonic() - begun < 2


@of_those_with_keys
def test_the_model_that_answered_is_told_where_it_is_another(server: ModelServer, provider: Provider) -> None:
    answer = provider.ask(server, says({}, model=f"{provider.model}-20260923"))
    assert answer.model == f"{provider.model}-20260923"


@of_those_with_keys
@pytest.mark.parametrize("told", ["x" * 101, "Ann Example", "ünnamed", "m\n", "a\nb"])
def test_what_cannot_be_the_name_of_a_model_is_not_taken_for_one(
    server: ModelServer, provider: Provider, told: str
) -> None:
    assert provider.ask(server, says({}, model=told)).model == provider.model


@of_those_with_keys
def test_a_key_is_sent_as_it_is(server: ModelServer, provider: Provider) -> None:
    provider.ask(server, says({}))
    assert [seen.key for seen in server.seen] == [provider.key]


@of_those_with_keys
@pytest.mark.parametrize("key", ["", "two words", "line\nbreak", "schlüssel", "x" * 1001])
def test_what_cannot_be_a_key_is_not_sent_anywhere(server: ModelServer, provider: Provider, key: str) -> None:
    assert provider.ask(server, says({}), key=key) == ModelFailure("auth")
    assert server.seen == []


@of_those_with_keys
@pytest.mark.parametrize("url", ["http://models.example/v1", "ftp://127.0.0.1", "models.example", ""])
def test_keys_are_sent_over_https_only(provider: Provider, url: str) -> None:
    with pytest.raises(InternalError):
        provider.made(url)


@of_those_with_keys
def test_a_library_that_cannot_be_imported_is_a_failure_and_no_error(
    server: ModelServer, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "provenloop.adapters.bounded_http", None)
    assert provider.ask(server, says({})) == ModelFailure("unknown")
    assert server.seen == []

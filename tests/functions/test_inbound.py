"""Events of agents by the bus: a rule says whose they are, and they come in as those of a request do."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from provenloop.domain.errors import InvalidInputError, NotFoundError, ScopeDeniedError
from provenloop.domain.injected import fenced
from provenloop.entry.local.stack import LocalStack
from tests.functions.inbound_desk import Desk, calls, facts, inbound_stack, written_logs
from tests.functions.requests import sample

#: A little over six times the function's timeout, after which a message is tried again.
AGAIN_MS = 361_000
TRIES = 5


@pytest.fixture(scope="module")
def running() -> Iterator[LocalStack]:
    with inbound_stack() as stack:
        yield stack


@pytest.fixture
def desk(running: LocalStack) -> Desk:
    return Desk.opened(running)


@pytest.fixture
def logs(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Callable[[], str]:
    return written_logs(monkeypatch, request.node.name)


def refused_codes(text: str) -> list[tuple[str, str | None]]:
    """Codes and fields of the failures that were logged."""
    lines = [json.loads(line) for line in text.splitlines() if '"message":"failed"' in line]
    return [(line["code"], line.get("field")) for line in lines]


def test_events_are_recorded_in_the_tenant_and_under_the_label_of_their_source(desk: Desk) -> None:
    desk.put_event("shop.orders", {"memory": "orders-eu", "events": facts(2)})
    report = desk.tick()

    assert (report.done, report.retrying) == (1, 0)
    assert len(desk.grains("acme", "orders-eu")) == 2
    assert desk.writers() == {("acme", "inbound:order desk")}


def test_a_source_of_one_memory_need_not_name_it_and_one_of_several_must(desk: Desk, logs: Callable[[], str]) -> None:
    desk.put_event("till", {"events": facts(1)})
    desk.put_event("shop.orders", {"events": facts(1)})
    desk.tick()

    assert len(desk.grains("acme", "till")) == 1
    assert refused_codes(logs()) == [(InvalidInputError.code, "memory")]


def test_no_rule_takes_events_of_a_name_that_is_not_configured_or_of_another_kind(desk: Desk) -> None:
    desk.put_event("depot", {"memory": "till", "events": facts(1)})
    desk.put_event("till", {"events": facts(1)}, kind="SomethingElse")

    assert desk.tick().batches == 0


@pytest.mark.parametrize(
    ("source", "detail", "expected"),
    [
        ("till", {"memory": "orders-eu", "events": facts(1)}, (ScopeDeniedError.code, None)),
        ("till", {"tenant": "globex", "events": facts(1)}, (InvalidInputError.code, "tenant")),
        ("shop.orders", {"memory": "orders-us", "events": facts(1)}, (NotFoundError.code, "memory")),
        ("till", {"events": [*facts(1), {"kind": "fact"}]}, (InvalidInputError.code, "events[1].subject")),
        ("till", {"events": []}, (InvalidInputError.code, "events")),
        ("till", {"events": facts(91)}, ("PVL-E012", "events")),
        ("till", {"events": facts(1), "idempotency_key": ""}, (InvalidInputError.code, "idempotency_key")),
        ("till", {}, (InvalidInputError.code, "events")),
    ],
)
def test_what_a_request_would_be_refused_for_is_refused_with_the_same_code_and_ends_with_the_dead_letters(
    desk: Desk,
    logs: Callable[[], str],
    source: str,
    detail: dict[str, Any],
    expected: tuple[str, str | None],
) -> None:
    desk.put_event(source, detail)
    desk.put_event("till", {"events": [{"kind": "goal", "name": "sell"}]})
    for _ in range(TRIES):
        assert desk.dead("Inbound") == 0
        desk.tick(AGAIN_MS)
    desk.tick(AGAIN_MS)

    assert desk.dead("Inbound") == 1
    assert refused_codes(logs()) == [expected] * TRIES
    assert [grain["kind"] for grain in desk.grains("acme", "till")] == ["goal"]


def test_an_event_that_is_delivered_twice_is_recorded_once(desk: Desk) -> None:
    events = [*calls(2), *facts(1)]
    message = sample("inbound.queue")["Records"][0]
    body = {**json.loads(message["body"]), "source": "till"}
    body["event"]["detail"] = {"events": events}
    record = {**message, "body": json.dumps(body)}
    for _ in range(2):
        assert desk.stack.invoke("InboundFunction", {"Records": [record]}).payload == {"batchItemFailures": []}

    grains = desk.grains("acme", "till")
    assert sorted(grain["kind"] for grain in grains) == ["fact", "tool_call", "tool_call"]
    assert {grain["stated"] for grain in grains} == {1}


def test_a_sender_that_sends_again_under_its_own_key_adds_nothing(desk: Desk) -> None:
    for key in ("night", "night", "day"):
        desk.put_event("till", {"events": calls(2), "idempotency_key": key})
        desk.tick()

    assert len(desk.grains("acme", "till")) == 4


def test_a_batch_that_only_echoes_what_an_agent_was_told_is_done_and_recorded_nowhere(desk: Desk) -> None:
    desk.put_event("till", {"events": [{"kind": "observation", "text": fenced("look first", "rules")}]})

    assert desk.tick().done == 1
    assert desk.grains("acme", "till") == []


def test_the_sample_is_recorded_but_for_the_event_that_is_no_fact(desk: Desk) -> None:
    event = sample("inbound.queue")
    for record in event["Records"]:
        record["body"] = record["body"].replace("support-agent", "orders-eu")
    answer = desk.stack.invoke("InboundFunction", event).payload

    assert answer == {"batchItemFailures": [{"itemIdentifier": event["Records"][1]["messageId"]}]}
    assert sorted(grain["kind"] for grain in desk.grains("acme", "orders-eu")) == ["fact", "tool_call"]


@pytest.mark.parametrize("body", ["", "[]", "{}", '{"source":"till"}', '{"source":"till","event":{"detail":{}},"x":1}'])
def test_a_message_that_no_rule_made_comes_again(desk: Desk, body: str) -> None:
    record = {"messageId": "m-1", "body": body}

    answer = desk.stack.invoke("InboundFunction", {"Records": [record]})
    assert answer.payload == {"batchItemFailures": [{"itemIdentifier": "m-1"}]}


def test_logs_tell_who_and_where_and_never_what(desk: Desk, logs: Callable[[], str]) -> None:
    secret = "nobody-may-read-this"
    for events in ([{"kind": "observation", "text": secret}], [{"kind": "observation", "text": 5, secret: secret}]):
        desk.put_event("till", {"events": events})
    desk.tick()

    told = logs()
    assert '"outcome":"recorded"' in told
    assert '"source":"till"' in told
    assert '"message":"failed"' in told
    assert f'"{secret}"' not in told

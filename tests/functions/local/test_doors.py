"""Doors of the local stack: what a client of AWS would put on the bus or into the bucket, put by curl."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from typing import Any

import pytest

from provenloop.domain.errors import InternalError
from provenloop.entry.local import __main__ as command
from provenloop.entry.local.control import control
from provenloop.entry.local.doors import source_parameters
from provenloop.entry.local.stack import LocalStack
from tests.functions.inbound_desk import ORDERS, TILL, Desk, facts, inbound_stack


@pytest.fixture(scope="module")
def running() -> Iterator[LocalStack]:
    with inbound_stack() as stack:
        yield stack


@pytest.fixture
def desk(running: LocalStack) -> Desk:
    return Desk.opened(running)


def ask(desk: Desk, method: str, path: str, body: bytes = b"") -> tuple[int, Any]:
    answer = control(desk.stack, method, f"/_local/{path}", body)
    return answer.status, json.loads(answer.body)


def test_an_event_and_a_file_are_put_and_the_next_tick_delivers_both(desk: Desk) -> None:
    event = {"source": "till", "detail": {"events": [{"kind": "goal", "name": "sell"}]}}
    lines = "\n".join(json.dumps(each) for each in facts(2))

    assert ask(desk, "POST", "events", json.dumps(event).encode()) == (200, {"put": True})
    assert ask(desk, "PUT", "inbox/till/till/day%201.jsonl", lines.encode()) == (200, {"put": True})
    assert ask(desk, "GET", "reports/till/till/day%201.jsonl.report.json")[0] == 404
    assert ask(desk, "POST", "tick")[1]["done"] == 2
    status, report = ask(desk, "GET", "reports/till/till/day%201.jsonl.report.json")
    assert (status, report["file"], report["recorded"]) == (200, "inbox/till/till/day 1.jsonl", 2)
    assert sorted(grain["kind"] for grain in desk.grains("acme", "till")) == ["fact", "fact", "goal"]


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"{}", b'{"source": "till"}', b'{"source": 5, "detail": {}}',
             b'{"source": "till", "detail": []}', b'{"source": "till", "detail": {}, "tenant": "acme"}'],
)  # fmt: skip
def test_what_is_no_event_is_put_nowhere(desk: Desk, body: bytes) -> None:
    assert ask(desk, "POST", "events", body)[0] == 400
    assert desk.tick().batches == 0


def test_the_sources_of_the_environment_are_those_of_the_stack_and_the_first_four_send_on_the_bus() -> None:
    rows = [{**TILL, "name": f"s{number}"} for number in range(6)]
    table = json.dumps(rows)

    assert source_parameters(table) == {
        "InboundSources": table, "BusSource1": "s0", "BusSource2": "s1", "BusSource3": "s2", "BusSource4": "s3",
    }  # fmt: skip
    assert source_parameters("") == {}
    with pytest.raises(InternalError, match="row 1, kind"):
        source_parameters(json.dumps([{**ORDERS, "kind": "human"}]))


def test_a_table_that_is_wrong_is_said_before_anything_starts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setenv("PROVENLOOP_INBOUND_SOURCES", "{")

    assert command.main(["dev"]) == 1
    said = capsys.readouterr().err
    assert said == "PROVENLOOP_INBOUND_SOURCES: the table of inbound sources: not JSON\n"

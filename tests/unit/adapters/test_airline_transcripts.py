"""The public transcripts in ``events/`` hold what their description says: calls, classes of errors, findings."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from provenloop.adapters.transcripts.openai_chat import batches, read_runs
from provenloop.adapters.transcripts.report import ReadReport
from provenloop.analyzers.contract import ToolView
from provenloop.analyzers.tool_failure import WHOLE_TOOL, ToolFailure
from provenloop.domain.address import Addresses
from provenloop.domain.canonical import parse_strict
from provenloop.domain.commit import Change
from provenloop.domain.events import ToolCallEvent
from provenloop.domain.grain import GrainDraft
from provenloop.domain.prepare import prepare
from provenloop.domain.rollup import SignatureDay, Tally, ToolDay, ToolWindow
from provenloop.domain.signature import signature_of
from provenloop.entry.models.events import EventsRequest, to_events

AIRLINE = Path(__file__).parents[3] / "events" / "transcripts" / "airline-agent.jsonl"
BEGUN = 1_800_000_000_000
NOW = BEGUN + 86_400_000


def sent(events: list[dict[str, Any]]) -> list[Any]:
    """The events as the edge takes them in, having read them as strictly as it does."""
    body = parse_strict(json.dumps({"events": events}).encode())
    return list(to_events(EventsRequest.model_validate(body), NOW))


@pytest.fixture(scope="module")
def airline() -> tuple[list[dict[str, Any]], ReadReport]:
    report = ReadReport()
    with AIRLINE.open(encoding="utf-8") as lines:
        events = list(read_runs(lines, started_at=BEGUN, spacing_ms=60_000, report=report))
    return events, report


def test_the_airline_set_holds_what_its_description_says(airline: tuple[list[dict[str, Any]], ReadReport]) -> None:
    events, report = airline
    assert (report.runs, report.calls, report.errors, report.orphans, report.unanswered) == (150, 904, 64, 0, 0)
    assert len({event["call_id"] for event in events}) == 904
    assert {tool for tool, errors in report.errors_by_tool.items() if errors} == {
        "book_reservation", "update_reservation_baggages", "update_reservation_flights",
    }  # fmt: skip


def test_every_event_of_the_airline_set_is_valid_for_ingest(airline: tuple[list[dict[str, Any]], ReadReport]) -> None:
    for batch in batches(airline[0]):
        assert len(sent(batch)) == len(batch)


def _drafts(events: list[dict[str, Any]]) -> list[GrainDraft]:
    told = [event for batch in batches(events) for event in sent(batch)]
    return [prepare(event, NOW).draft for event in told if isinstance(event, ToolCallEvent)]


#: The true classes of the errors, told by hand, with how many there are of each.
CLASSES = {
    "payment amount does not add up, total price is {n}, but paid {n}": 17,
    "flight {id} not available on date {date}": 15,
    "gift card balance is not enough": 12,
    "not enough seats on flight {id}": 8,
    "certificate cannot be used to update reservation": 4,
    "payment method not found": 3,
    "payment method {id} not found": 3,
    "not enough balance in payment method {id}": 2,
}


def class_of(text: str) -> str:
    """The class of an error: its text with what the data set is known to vary named."""
    words = text.removeprefix("Error: ").split()
    return " ".join(re.sub(r"\A\w+_[0-9]{7}\Z|\AHAT[0-9]{3}\Z", "{id}", _number_named(word)) for word in words)


def _number_named(word: str) -> str:
    return re.sub(r"\A[0-9]{4}-[0-9]{2}-[0-9]{2}\Z", "{date}", re.sub(r"\A[0-9]+(,?)\Z", r"{n}\1", word))


def test_the_errors_of_the_airline_set_fall_into_their_eight_classes(
    airline: tuple[list[dict[str, Any]], ReadReport],
) -> None:
    texts = [event["result"] for event in airline[0] if event["is_error"]]
    assert Counter(map(class_of, texts)) == CLASSES
    signed = {(class_of(text), signature_of(text).hash) for text in texts}
    assert len(signed) == len({signature for _, signature in signed}) == len(CLASSES)
    assert len({draft.signature for draft in _drafts(airline[0]) if draft.is_error}) == len(CLASSES)


def test_the_airline_set_read_again_is_the_same(airline: tuple[list[dict[str, Any]], ReadReport]) -> None:
    with AIRLINE.open("rb") as lines:
        assert list(read_runs(lines, started_at=BEGUN, spacing_ms=60_000)) == airline[0]


def test_the_airline_set_gives_the_two_findings_it_holds_and_no_other(
    airline: tuple[list[dict[str, Any]], ReadReport],
) -> None:
    addresses, tally, names = Addresses(b"k" * 32), Tally([]), dict[str, str]()
    for number, draft in enumerate(_drafts(airline[0])):
        key = addresses.tool_key("shared", draft.topic)
        names[key] = draft.topic
        tally.add(
            Change(
                "add", "tool_call", f"{number:064x}", "shared", key, draft.signature, draft.is_error, draft.occurred_at
            )
        )
    found = []
    for key, tool in names.items():
        rows = [row for row in tally.touched if isinstance(row, ToolDay | SignatureDay) and row.tool_key == key]
        days = tuple(row for row in rows if isinstance(row, ToolDay))
        window = ToolWindow(key, days, tuple(row for row in rows if isinstance(row, SignatureDay)))
        view = ToolView(key, "shared", window, "0" * 64)
        drafts = ToolFailure().examine(view, ToolFailure.manifest.defaults(), NOW).drafts
        found += [(tool, draft.count, draft.summary.template, draft.parts[1]) for draft in drafts]
    amounts = signature_of("Error: payment amount does not add up, total price is 1, but paid 2").hash
    assert sorted(found) == [
        ("book_reservation", 17, "tool_failure.cluster", amounts),
        ("update_reservation_flights", 40, "tool_failure.tool", WHOLE_TOOL),
    ]

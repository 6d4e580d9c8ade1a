"""Files of events: each line comes in as an event of a request does, a report says what became of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import patch

import pytest

from provenloop.domain.errors import InvalidInputError, NotFoundError, ScopeDeniedError, TooLargeError, UnavailableError
from provenloop.domain.injected import fenced
from provenloop.entry.local.stack import LocalStack
from provenloop.services import ingest
from tests.functions.api import Api
from tests.functions.inbound_desk import NOW, Desk, calls, facts, inbound_stack, written_logs
from tests.functions.requests import ADDRESS, ADMIN, sample

#: A little over six times the function's timeout, after which a message is tried again.
AGAIN_MS = 1_801_000
TRIES = 3
COUNTS = ("lines", "recorded", "known", "ignored", "refused")
#: Where no invocation has time for more than one batch.
NO_TIME = patch("provenloop.entry.time_left.RESERVE_MS", 10**9)


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


def counts(report: dict[str, Any]) -> list[int]:
    return [report[name] for name in COUNTS]


def test_each_line_is_recorded_as_an_event_of_the_source_and_a_report_lies_beside_the_file(desk: Desk) -> None:
    etag = desk.put_file("inbox/shop.orders/orders-eu/2027/night 1+2.jsonl", *facts(100), b"", *calls(3), b" \r")
    desk.tick()

    report = desk.report("shop.orders/orders-eu/2027/night 1+2.jsonl")
    assert counts(report) == [105, 103, 0, 0, 0]
    assert (report["status"], report["etag"], report["refusals"]) == ("read", etag, [])
    assert report["file"] == "inbox/shop.orders/orders-eu/2027/night 1+2.jsonl"
    assert report["begun_at"] == report["ended_at"] == "2027-01-15T08:00:00.000Z"
    assert len(desk.grains("acme", "orders-eu")) == 103
    assert desk.writers() == {("acme", "inbound:order desk")}


def test_the_same_file_put_again_adds_nothing_and_its_report_says_so(desk: Desk) -> None:
    known = {"kind": "fact", "subject": "door", "relation": "is", "object": "open"}
    Api(desk.stack).done("record_events", {"memory": "till"}, {"events": [known]}, token=f"{ADMIN}@acme")
    lines = [known, *facts(95), *calls(4), {"kind": "recall_report", "question": "who?", "returned": []}]
    assert counts(desk.drop("day.jsonl", *lines)) == [101, 101, 0, 0, 0]
    before = desk.grains("acme", "till")
    first = desk.report("till/till/day.jsonl")

    again = desk.drop("day.jsonl", *lines)
    assert counts(again) == [101, 0, 101, 0, 0]
    assert again["drop"] != first["drop"]
    assert desk.grains("acme", "till") == before


def test_a_changed_file_of_the_same_name_is_read_anew_and_only_what_is_new_in_it_is_recorded(desk: Desk) -> None:
    assert counts(desk.drop("log.jsonl", *calls(95))) == [95, 95, 0, 0, 0]

    assert counts(desk.drop("log.jsonl", *calls(120))) == [120, 25, 95, 0, 0]
    assert len(desk.grains("acme", "till")) == 120


def test_equal_lines_of_another_file_are_other_events(desk: Desk) -> None:
    for name in ("monday.jsonl", "tuesday.jsonl"):
        assert desk.drop(name, *calls(2))["recorded"] == 2

    assert len(desk.grains("acme", "till")) == 4


BAD: list[tuple[dict[str, Any], str | None]] = [
    ({"kind": "fact", "subject": "a", "relation": "b"}, "object"),
    ({"kind": "fact", "subject": "a", "relation": "b", "object": "c", "by": "x"}, "by"),
    ({"kind": "dream"}, "kind"),
    ({"kind": "observation", "text": "soon", "occurred_at": NOW + 600_000}, "occurred_at"),
    ({"kind": "observation", "text": "x" * 65_537}, "text"),
    ({"kind": "supersede", "target": ADDRESS, "with": {"kind": "goal", "name": "g"}}, "target"),
    ({"kind": "supersede", "target": ADDRESS, "with": {"kind": "goal", "name": ""}}, "with.name"),
]


@pytest.mark.parametrize(("event", "field"), BAD, ids=str)
def test_a_refused_line_has_the_code_and_field_of_a_request_and_stops_no_other(
    desk: Desk, event: dict[str, Any], field: str | None
) -> None:
    asked = Api(desk.stack).call("record_events", {"memory": "till"}, {"events": [event]}, token=f"{ADMIN}@acme")
    problem = asked.json()
    report = desk.drop("mixed.jsonl", *facts(2), event, *calls(2))

    assert counts(report) == [5, 4, 0, 0, 1]
    [refusal] = report["refusals"]
    assert (refusal["line"], refusal["code"], refusal["field"]) == (3, problem["code"], field)
    assert (problem["field"], refusal["detail"]) == (f"events[0].{field}", problem["detail"])


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"{not json", InvalidInputError.code),
        (b"[]", InvalidInputError.code),
        (b'"fact"', InvalidInputError.code),
        (b"\xff\xfe", InvalidInputError.code),
        (b'{"kind":"goal","name":"a","name":"b"}', InvalidInputError.code),
        (b'{"kind":"event","body":' + b"[" * 30 + b"]" * 30 + b"}", InvalidInputError.code),
        (b'{"kind":"event","body":"' + b"x" * 1_100_000 + b'"}', TooLargeError.code),
        (b"x" * 3_000_000, TooLargeError.code),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_line_that_is_no_event_at_all_is_refused_alone(desk: Desk, line: bytes, code: str) -> None:
    report = desk.drop("broken.jsonl", *facts(1), line, *calls(1))

    assert counts(report) == [3, 2, 0, 0, 1]
    assert (report["refusals"][0]["line"], report["refusals"][0]["code"]) == (2, code)
    assert len(json.dumps(report)) < 2_000


def test_lines_stand_for_themselves_whichever_others_they_are_recorded_with(desk: Desk) -> None:
    fact = facts(1)[0]
    desk.drop("first.jsonl", fact)
    [grain] = desk.grains("acme", "till")
    later = {"kind": "supersede", "target": grain["address"], "with": {**fact, "object": "delivered"}}

    report = desk.drop("next.jsonl", {**fact, "confidence": 0.5}, later, {**fact, "object": "delivered"}, later)
    assert counts(report) == [4, 4, 0, 0, 0]


def test_refused_lines_are_all_counted_and_the_first_hundred_named(desk: Desk) -> None:
    report = desk.drop("bad.jsonl", *[{"kind": "dream"}] * 95, *facts(1), *[{"kind": "goal"}] * 55)

    assert counts(report) == [151, 1, 0, 0, 150]
    assert [each["line"] for each in report["refusals"]] == [*range(1, 96), *range(97, 102)]
    assert report["refusals_left_out"] == 50


def test_an_echo_of_what_an_agent_was_told_is_ignored(desk: Desk) -> None:
    echo = {"kind": "observation", "text": fenced("look first", "rules")}

    assert counts(desk.drop("echo.jsonl", echo)) == [1, 0, 0, 1, 0]


@pytest.mark.parametrize(
    ("key", "code", "field"),
    [
        ("nobody/till/a", ScopeDeniedError.code, "source"),
        ("till/orders-eu/a", ScopeDeniedError.code, None),
        ("shop.orders/orders-us/a", NotFoundError.code, "memory"),
        ("depot/UPPER/a", InvalidInputError.code, "memory"),
        ("till/till", InvalidInputError.code, "key"),
        ("till", InvalidInputError.code, "key"),
    ],
)
def test_a_file_that_lies_where_its_source_may_not_write_is_refused_as_a_whole(
    desk: Desk, key: str, code: str, field: str | None
) -> None:
    desk.put_file(f"inbox/{key}", *facts(2))
    report = desk.tick()

    assert (report.done, report.retrying) == (1, 0)
    told = desk.report(key)
    assert (told["status"], told["code"], told.get("field")) == ("refused", code, field)
    assert counts(told) == [0] * 5
    assert [desk.grains(tenant, memory) for tenant, memory in (("acme", "till"), ("globex", "till"))] == [[], []]


def test_one_source_cannot_write_for_another_whatever_its_lines_say(desk: Desk) -> None:
    desk.put_file("inbox/depot/till/a", {**facts(1)[0], "tenant": "acme"}, *facts(1))
    desk.tick()

    assert counts(desk.report("depot/till/a")) == [2, 1, 0, 0, 1]
    assert (len(desk.grains("globex", "till")), desk.grains("acme", "till")) == (1, [])


@pytest.mark.parametrize("key", ["inbox/till/till/", "reports/till/till/a", "elsewhere/till/till/a"])
def test_folders_reports_and_what_lies_elsewhere_are_read_as_nothing(desk: Desk, key: str) -> None:
    desk.put_file(key)
    desk.tick()

    assert [found for found in desk.reports() if found != key] == []


def test_an_empty_file_has_a_report(desk: Desk) -> None:
    assert counts(desk.drop("empty.jsonl")) == [0] * 5


def test_a_file_too_long_for_one_invocation_goes_on_in_the_next_with_one_report_of_all_of_it(desk: Desk) -> None:
    desk.put_file("inbox/till/till/long", *facts(150), {"kind": "dream"}, *calls(150))
    with NO_TIME:
        report = desk.tick()

    assert (report.batches, report.failed) == (4, [])
    told = desk.report("till/till/long")
    assert counts(told) == [301, 300, 0, 0, 1]
    assert told["refusals"][0]["line"] == 151
    assert len(desk.grains("acme", "till")) == 300


def test_what_keeps_a_file_from_being_read_on_is_left_alone_for_a_while_and_nothing_is_lost(desk: Desk) -> None:
    real, sent = ingest.record_events, []

    def busy(*args: Any) -> Any:
        sent.append(args)
        if len(sent) == 3:
            raise UnavailableError("throttled")
        return real(*args)

    desk.put_file("inbox/till/till/long", *calls(300))
    with patch.object(ingest, "record_events", busy):
        desk.tick()
        assert desk.reports() == []
        assert desk.stack.queue_depth("InboxQueue") == 1
        assert desk.tick(29_000).batches == 0
        desk.tick(2_000)

    told = desk.report("till/till/long")
    assert counts(told) == [300, 300, 0, 0, 0]
    assert (told["begun_at"], told["ended_at"]) == ("2027-01-15T08:00:00.000Z", "2027-01-15T08:00:31.000Z")
    assert len(desk.grains("acme", "till")) == 300


def test_a_file_that_fails_before_anything_is_recorded_comes_again_and_ends_with_the_dead_letters(desk: Desk) -> None:
    desk.put_file("inbox/till/till/poison", *facts(2))
    with patch.object(ingest, "record_events", side_effect=RuntimeError("a fault of ours")):
        for _ in range(TRIES + 1):
            assert desk.dead("Inbox") == 0
            desk.tick(AGAIN_MS)

    assert desk.dead("Inbox") == 1
    assert desk.reports() == []


def test_an_invocation_that_dies_midway_is_begun_again_and_nothing_is_recorded_twice(desk: Desk) -> None:
    real, sent = ingest.record_events, []

    def dies(*args: Any) -> Any:
        sent.append(args)
        if len(sent) == 3:
            raise RuntimeError("out of memory")
        return real(*args)

    desk.put_file("inbox/till/till/long", *facts(140), *calls(160))
    with patch.object(ingest, "record_events", dies):
        desk.tick()
        desk.tick(AGAIN_MS)

    assert counts(desk.report("till/till/long")) == [300, 120, 180, 0, 0]
    grains = desk.grains("acme", "till")
    assert (len(grains), {grain["stated"] for grain in grains}) == (300, {1})


def read_on(desk: Desk, name: str, **drop: str) -> Any:
    """A message that asks to read on from the first line."""
    event = sample("inbox.read_on")
    body = json.loads(event["Records"][0]["body"])
    body["drop"].update({"key": f"inbox/till/till/{name}", **drop})
    body["progress"].update(offset=0, lines=0, recorded=0)
    event["Records"][0]["body"] = json.dumps(body)
    return desk.stack.invoke("InboxFunction", event).payload


def test_a_file_that_was_replaced_while_it_was_read_is_left_to_its_own_message(desk: Desk) -> None:
    desk.put_file("inbox/till/till/a", *facts(2))

    assert read_on(desk, "a", etag="0" * 32) == {"batchItemFailures": []}
    assert desk.reports() == []
    desk.tick()
    assert counts(desk.report("till/till/a")) == [2, 2, 0, 0, 0]


def test_of_a_file_that_is_gone_a_report_says_so(desk: Desk) -> None:
    assert read_on(desk, "a") == {"batchItemFailures": []}

    assert desk.report("till/till/a")["status"] == "gone"


def test_a_memory_that_is_erased_while_a_file_is_read_ends_it(desk: Desk) -> None:
    real = ingest.record_events

    def erased_meanwhile(*args: Any) -> Any:
        answer = real(*args)
        body = {"because": "the contract ended"}
        Api(desk.stack).done("delete_memory", {"memory": "till"}, body, token=f"{ADMIN}@acme")
        return answer

    desk.put_file("inbox/till/till/a", *facts(300))
    with patch.object(ingest, "record_events", erased_meanwhile):
        desk.tick()
    desk.tick(60_000)

    told = desk.report("till/till/a")
    assert (told["status"], told["code"]) == ("refused", NotFoundError.code)
    assert counts(told) == [90, 90, 0, 0, 0]


def test_whatever_else_lies_in_the_reports_place_is_replaced(desk: Desk) -> None:
    desk.put_file("reports/till/till/a.report.json", b"no report at all")

    assert counts(desk.drop("a", *facts(1))) == [1, 1, 0, 0, 0]


def test_the_report_of_a_drop_stays_when_its_last_message_is_delivered_again(desk: Desk) -> None:
    etag = desk.put_file("inbox/till/till/a", *facts(2))
    for _ in range(2):
        assert read_on(desk, "a", etag=etag) == {"batchItemFailures": []}

    assert counts(desk.report("till/till/a")) == [2, 2, 0, 0, 0]


@pytest.mark.parametrize(
    "body",
    [
        {"Records": [{"s3": {"bucket": {"name": "another"}, "object": {"key": "inbox/till/till/a", "eTag": "e"}}}]},
        {"drop": {"key": "inbox/till/till/a"}, "progress": {}},
        {"drop": {"key": "inbox/till/till/a", "etag": "e", "id": "d"}, "progress": {"offset": 0}},
        {"drop": {"key": "inbox/till/till/a", "etag": "e", "id": "d"}},
    ],
)
def test_a_message_that_tells_of_no_file_of_the_inbox_comes_again(desk: Desk, body: dict[str, Any]) -> None:
    answer = desk.stack.invoke("InboxFunction", {"Records": [{"messageId": "m-1", "body": json.dumps(body)}]})

    assert answer.payload == {"batchItemFailures": [{"itemIdentifier": "m-1"}]}


def test_neither_logs_nor_reports_tell_what_stood_in_a_line(desk: Desk, logs: Callable[[], str]) -> None:
    secret = "nobody-may-read-this"
    lines = [
        {"kind": "observation", "text": secret},
        {"kind": "goal", "name": 5, "state": secret},
        f"{secret}".encode(),
    ]
    report = desk.drop("a.jsonl", *lines)

    told = logs()
    assert '"outcome":"read"' in told
    assert counts(report) == [3, 1, 0, 0, 2]
    assert secret not in told + json.dumps(report)

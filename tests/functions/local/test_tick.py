"""Schedules and queues: what a tick fires, delivers, repeats and gives up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from provenloop.entry.local import tick
from provenloop.entry.local.stack import LocalStack
from provenloop.entry.local.tick import TickReport, scheduled_event
from provenloop.entry.local.triggers import Schedule

SMALL = Path(__file__).parent / "small"
NOW_MS = 1_767_225_600_000
MINUTE_MS = 60_000
VISIBILITY_MS = 60_000


def _send(stack: LocalStack, queue: str, *bodies: str, group: str | None = None) -> None:
    grouped = {} if group is None else {"MessageGroupId": group}
    for body in bodies:
        stack.aws.client("sqs").send_message(QueueUrl=stack.aws.queue(queue).url, MessageBody=body, **grouped)


def _received(stack: LocalStack) -> list[tuple[str, str]]:
    """(body, receive count) of what the worker got, without the beats."""
    items = stack.items()["Things"]
    return [(item["pk"]["S"], item["sk"]["S"]) for item in items if not item["pk"]["S"].startswith("{")]


def _step(stack: LocalStack, by_ms: int) -> None:
    stack.set_clock(stack.now_ms() + by_ms)


@pytest.fixture
def quiet(small: LocalStack) -> LocalStack:
    """The small system after its schedule has fired."""
    small.tick()
    return small


def test_a_schedule_fires_at_the_first_tick_and_then_at_its_rate(small: LocalStack) -> None:
    fired = []
    for step in (0, 0, 4 * MINUTE_MS, MINUTE_MS - 1, 1, 24 * 60 * MINUTE_MS, 0):
        _step(small, step)
        fired.append(len(small.tick().fired))
    assert fired == [1, 0, 0, 0, 1, 1, 0]


def test_a_clock_stepped_back_makes_the_schedule_due_again(small: LocalStack) -> None:
    small.tick()
    _step(small, -1)
    assert small.tick().fired == ["BeatFunction.Beat"]


def test_a_scheduled_event_has_eventbridges_shape_and_an_id_of_its_own(small: LocalStack) -> None:
    for _ in range(2):
        small.tick()
        _step(small, 5 * MINUTE_MS)
    events = [json.loads(item["pk"]["S"]) for item in small.items()["Things"]]
    assert len({event.pop("id") for event in events}) == 2
    assert sorted(event.pop("time") for event in events) == ["2026-01-01T00:00:00Z", "2026-01-01T00:05:00Z"]
    assert events[0] == {
        "version": "0",
        "detail-type": "Scheduled Event",
        "source": "aws.events",
        "account": "123456789012",
        "region": "us-east-1",
        "resources": ["arn:aws:events:us-east-1:123456789012:rule/BeatFunctionBeat"],
        "detail": {},
    }


def test_the_schedulers_own_event_and_a_fixed_one_are_told_apart_from_a_rules() -> None:
    scheduled = Schedule("F", "Tick", MINUTE_MS, None, is_rule=False)
    event = scheduled_event(scheduled, event_id="e", now_ms=NOW_MS)
    assert (event["source"], event["detail"]) == ("aws.scheduler", "{}")
    assert event["resources"] == ["arn:aws:scheduler:us-east-1:123456789012:schedule/default/FTick"]
    fixed = Schedule("F", "Tick", MINUTE_MS, {"only": "this"}, is_rule=True)
    assert scheduled_event(fixed, event_id="e", now_ms=NOW_MS) == {"only": "this"}


def test_what_a_schedule_sends_is_delivered_in_the_same_tick(small: LocalStack) -> None:
    report = small.tick()
    assert (report.batches, report.done, report.failed, report.complete) == (1, 1, [], True)
    assert small.queue_depth("Work") == 0


def test_a_failing_scheduled_function_is_tried_again_and_then_reported_to_its_failure_queue() -> None:
    with LocalStack(SMALL, parameters={"Colour": "red"}, now_ms=NOW_MS) as stack:
        assert stack.tick().failed == ["BeatFunction", "BeatFunction"]
        url = stack.aws.queue("LateBeats").url
        (message,) = stack.aws.client("sqs").receive_message(QueueUrl=url)["Messages"]
    record = json.loads(message["Body"])
    assert record["requestContext"]["condition"] == "RetriesExhausted"
    assert record["requestContext"]["approximateInvokeCount"] == 2
    assert record["requestPayload"]["detail-type"] == "Scheduled Event"
    assert record["responsePayload"] == {"errorType": "RuntimeError", "errorMessage": "too hot"}


def test_messages_become_an_event_of_lambdas_shape(quiet: LocalStack) -> None:
    queue = quiet.aws.queue("Work")
    quiet.aws.client("sqs").send_message(
        QueueUrl=queue.url,
        MessageBody="hello",
        MessageGroupId="g",
        MessageDeduplicationId="d",
        MessageAttributes={"colour": {"DataType": "String", "StringValue": "red"}},
    )
    quiet.tick()
    (item,) = [item for item in quiet.items()["Things"] if item["pk"]["S"] == "hello"]
    record: dict[str, Any] = json.loads(item["row"]["S"])
    attributes = record.pop("attributes")
    assert (attributes["MessageGroupId"], attributes["MessageDeduplicationId"]) == ("g", "d")
    assert (attributes["ApproximateReceiveCount"], attributes["SentTimestamp"]) == ("1", str(NOW_MS))
    assert record.pop("messageId")
    assert record.pop("receiptHandle")
    assert record == {
        "body": "hello",
        "messageAttributes": {
            "colour": {"dataType": "String", "stringValue": "red", "stringListValues": [], "binaryListValues": []}
        },
        "md5OfBody": "5d41402abc4b2a76b9719d911017c592",
        "eventSource": "aws:sqs",
        "eventSourceARN": queue.arn,
        "awsRegion": "us-east-1",
    }


def test_batches_hold_as_many_messages_as_the_template_allows(quiet: LocalStack) -> None:
    _send(quiet, "Errands", *(f"e{n}" for n in range(30)))
    report = quiet.tick()
    assert (report.batches, report.done) == (2, 30)


def test_only_reported_messages_come_again_and_only_after_the_visibility_timeout(quiet: LocalStack) -> None:
    _send(quiet, "Errands", "good", "fail")
    report = quiet.tick()
    assert (report.done, report.retrying, report.failed) == (1, 1, [])
    _step(quiet, VISIBILITY_MS)
    assert quiet.tick().batches == 0
    _step(quiet, 1)
    assert quiet.tick().retrying == 1
    assert _received(quiet) == [("fail", "1"), ("fail", "2"), ("good", "1")]


def test_a_failed_invocation_brings_the_whole_batch_again(quiet: LocalStack) -> None:
    _send(quiet, "Errands", "good", "raise")
    report = quiet.tick()
    assert (report.done, report.retrying, report.failed) == (0, 2, ["WorkerFunction"])


@pytest.mark.parametrize(
    ("answer", "retrying"),
    [
        (None, 0),
        ({}, 0),
        ({"batchItemFailures": []}, 0),
        ({"batchItemFailures": None}, 0),
        ({"batchItemFailures": [{"itemIdentifier": ""}]}, 1),
        ({"batchItemFailures": [{"itemIdentifier": None}]}, 1),
        ({"batchItemFailures": [{"itemIdentifier": "unknown"}]}, 1),
        ({"batchItemFailures": [{"wrong": "key"}]}, 1),
        ({"batchItemFailures": "all"}, 1),
        ({"batchItemFailures": ["x"]}, 1),
        ("done", 1),
    ],
)
def test_an_answer_that_names_nothing_sensible_fails_the_batch(quiet: LocalStack, answer: Any, retrying: int) -> None:
    _send(quiet, "Errands", json.dumps({"answer": answer}))
    assert quiet.tick().retrying == retrying


def test_after_the_allowed_receipts_a_message_is_dead(quiet: LocalStack) -> None:
    _send(quiet, "Work", "fail", group="g")
    depths = []
    for _ in range(4):
        quiet.tick()
        depths.append((quiet.queue_depth("Work"), quiet.queue_depth("DeadWork")))
        _step(quiet, VISIBILITY_MS + 1)
    assert depths == [(1, 0), (1, 0), (0, 1), (0, 1)]


def test_a_failing_message_holds_back_its_own_group_and_no_other(quiet: LocalStack) -> None:
    _send(quiet, "Work", "fail-a", group="a")
    quiet.tick()
    _send(quiet, "Work", "next-a", group="a")
    _send(quiet, "Work", "only-b", group="b")
    assert quiet.tick().done == 1
    assert quiet.queue_depth("Work") == 2


def test_a_tick_ends_however_much_there_is_and_says_so(quiet: LocalStack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tick, "BATCHES_PER_TICK", 1)
    _send(quiet, "Errands", *(f"e{n}" for n in range(30)))
    first, second = quiet.tick(), quiet.tick()
    assert (first.batches, first.complete, second.batches, second.complete) == (1, False, 1, True)


def test_a_tick_with_nothing_to_do_does_nothing(quiet: LocalStack) -> None:
    assert quiet.tick() == TickReport()

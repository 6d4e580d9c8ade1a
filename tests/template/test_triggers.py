"""Whatever starts a function without HTTP has a place where its failures go, and nothing is run twice in haste."""

from typing import Any

import pytest

from provenloop.entry.local.resources import queues
from tests.template.reading import DOCUMENT, FUNCTIONS, TEMPLATE, queue_of, triggers

FORTNIGHT_S = 14 * 24 * 3600

each_schedule = pytest.mark.parametrize(
    ("folder", "properties"), list(triggers("Schedule")), ids=lambda each: str(each)[:8]
)
each_rule = pytest.mark.parametrize(
    ("folder", "properties"), [*triggers("Schedule"), *triggers("EventBridgeRule")], ids=lambda each: str(each)[:8]
)


def test_there_is_no_trigger_of_a_kind_that_these_tests_do_not_judge() -> None:
    kinds = {event["Type"] for function in FUNCTIONS.values() for event in function.get("Events", {}).values()}

    assert kinds == {"EventBridgeRule", "HttpApi", "Schedule", "SQS"}


def test_the_schedules_are_parameters_dispatch_runs_every_five_minutes_and_anchor_every_day() -> None:
    rates = {folder: properties["Schedule"] for folder, properties in triggers("Schedule")}

    assert rates == {"dispatch": TEMPLATE.ref("ScheduleRate"), "anchor": TEMPLATE.ref("AnchorScheduleRate")}
    assert rates == {"dispatch": "rate(5 minutes)", "anchor": "rate(1 day)"}


@each_schedule
def test_a_tick_that_is_not_delivered_and_one_that_fails_both_end_in_a_queue(
    folder: str, properties: dict[str, Any]
) -> None:
    destination = FUNCTIONS[folder].need("EventInvokeConfig")["DestinationConfig"]["OnFailure"]

    undelivered = queue_of(properties["DeadLetterConfig"]["Arn"])
    failed = queue_of(destination["Destination"])
    assert destination["Type"] == "SQS"
    # Neither EventBridge nor Lambda can write to a FIFO queue.
    assert not undelivered.get("FifoQueue")
    assert not failed.get("FifoQueue")
    assert undelivered.get("MessageRetentionPeriod") == failed.get("MessageRetentionPeriod") == FORTNIGHT_S


@each_rule
def test_eventbridge_of_this_account_alone_may_write_to_the_queues_of_what_it_could_not_deliver(
    folder: str, properties: dict[str, Any]
) -> None:
    assert folder in FUNCTIONS
    queue = queue_of(properties["DeadLetterConfig"]["Arn"])
    (policy,) = (
        each for each in TEMPLATE.of_kind("AWS::SQS::QueuePolicy") if each.raw["Queues"] == [{"Ref": queue.logical_id}]
    )
    (statement,) = policy.need("PolicyDocument")["Statement"]

    assert statement["Principal"] == {"Service": "events.amazonaws.com"}
    assert statement["Action"] == "sqs:SendMessage"
    assert statement["Resource"] == properties["DeadLetterConfig"]["Arn"]
    assert statement["Condition"] == {"StringEquals": {"aws:SourceAccount": TEMPLATE.ref("AWS::AccountId")}}


def test_what_passes_propose_is_put_to_the_review_workflow_and_kept_where_that_fails() -> None:
    ((folder, properties),) = triggers("EventBridgeRule")
    asynchronous = FUNCTIONS[folder].need("EventInvokeConfig")
    kept = queue_of(asynchronous["DestinationConfig"]["OnFailure"]["Destination"])

    assert folder == "approval"
    assert properties["EventBusName"] == TEMPLATE.ref("EventBus")
    assert properties["Pattern"] == {"source": ["provenloop"], "detail-type": ["RecommendationProposed"]}
    assert queue_of(properties["DeadLetterConfig"]["Arn"]).logical_id == kept.logical_id == "ReviewFailureQueue"
    assert kept.get("MessageRetentionPeriod") == FORTNIGHT_S
    assert not kept.get("FifoQueue")


def test_what_nobody_waits_for_is_queued_for_functions_that_report_each_failure_alone() -> None:
    found = dict(triggers("SQS"))

    assert {folder: queue_of(each["Queue"]).logical_id for folder, each in found.items()} == {
        "analyze": "PassQueue",
        "jobs": "JobQueue",
        "distil": "DistilQueue",
        "inbound": "InboundQueue",
        "inbox": "InboxQueue",
    }
    for properties in found.values():
        assert properties["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
        assert 1 <= properties["BatchSize"] <= 10


@pytest.mark.parametrize(
    ("name", "is_fifo"), [("Pass", True), ("Job", False), ("Distil", False), ("Inbound", False), ("Inbox", False)]
)
def test_what_keeps_failing_ends_in_a_queue_of_the_same_order(name: str, is_fifo: bool) -> None:
    found = {queue.logical_id: queue for queue in queues(TEMPLATE)}
    source, target = found[f"{name}Queue"], found[f"{name}DeadLetterQueue"]

    assert source.dead_letter_arn == target.arn
    assert source.fifo == target.fifo == is_fifo
    assert source.max_receive_count is not None
    assert source.max_receive_count >= 3
    assert int(target.attributes["MessageRetentionPeriod"]) == FORTNIGHT_S


def test_a_batch_is_hidden_for_six_times_as_long_as_it_may_run() -> None:
    for folder, properties in triggers("SQS"):
        assert queue_of(properties["Queue"]).need("VisibilityTimeout") >= 6 * FUNCTIONS[folder].need("Timeout")


def test_equal_bodies_are_not_taken_for_the_same_pass() -> None:
    queue = TEMPLATE.resources["PassQueue"]

    assert queue.get("ContentBasedDeduplication") is False


def test_queues_are_encrypted_and_named_after_the_stack() -> None:
    for queue in TEMPLATE.of_kind("AWS::SQS::Queue"):
        assert queue.need("SqsManagedSseEnabled") is True
        assert DOCUMENT["Resources"][queue.logical_id]["Properties"]["QueueName"]["Fn::Sub"].startswith(
            "${AWS::StackName}-"
        )

"""Nothing fails unseen: whatever gives up ends where an alarm looks."""

from __future__ import annotations

from typing import Any

import pytest

from provenloop.entry.local.resources import queues
from provenloop.entry.local.template import Template
from tests.template.reading import DOCUMENT, ROOT, TEMPLATE

ALARMS = TEMPLATE.of_kind("AWS::CloudWatch::Alarm")
QUEUES = {queue.arn: queue for queue in queues(TEMPLATE)}


def watched(namespace: str, metric: str) -> list[str]:
    """What the alarms on a metric look at."""
    return [
        dimension["Value"]
        for alarm in ALARMS
        if (alarm.need("Namespace"), alarm.need("MetricName")) == (namespace, metric)
        for dimension in alarm.need("Dimensions")
    ]


def test_every_queue_hands_what_keeps_failing_to_another_or_is_looked_at_by_an_alarm() -> None:
    dead = {queue.dead_letter_arn for queue in QUEUES.values()}
    last = {queue.name for arn, queue in QUEUES.items() if arn in dead or queue.dead_letter_arn is None}
    assert sorted(watched("AWS/SQS", "ApproximateNumberOfMessagesVisible")) == sorted(last)
    for queue in QUEUES.values():
        assert queue.dead_letter_arn is None or QUEUES[queue.dead_letter_arn].dead_letter_arn is None, queue.name


def test_every_workflow_that_fails_or_takes_too_long_is_seen() -> None:
    machines = sorted(TEMPLATE.ref(machine.logical_id) for machine in TEMPLATE.of_kind("AWS::Serverless::StateMachine"))
    assert machines
    for metric in ("ExecutionsFailed", "ExecutionsTimedOut"):
        assert sorted(watched("AWS/States", metric)) == machines


@pytest.mark.parametrize(("metric", "module"), [("JobsFailed", "handlers/jobs.py"), ("LedgerRowsLost", "telemetry.py")])
def test_what_no_queue_holds_is_seen_by_the_metric_that_the_code_counts(metric: str, module: str) -> None:
    assert watched("Provenloop", metric) == ["provenloop"]
    variables = DOCUMENT["Globals"]["Function"]["Environment"]["Variables"]
    assert variables["POWERTOOLS_METRICS_NAMESPACE"] == "Provenloop"
    assert variables["POWERTOOLS_SERVICE_NAME"] == "provenloop"
    assert f'"{metric}"' in (ROOT / "shared/provenloop/entry" / module).read_text(encoding="utf-8")


@pytest.mark.parametrize("alarm", ALARMS, ids=lambda alarm: alarm.logical_id)
def test_an_alarm_goes_off_at_the_first_one_and_is_silent_where_there_is_nothing(alarm: Any) -> None:
    assert (alarm.need("Threshold"), alarm.need("ComparisonOperator")) == (0, "GreaterThanThreshold")
    assert (alarm.need("EvaluationPeriods"), alarm.need("TreatMissingData")) == (1, "notBreaching")
    # What stands in a queue is a level, what fails is a number of events.
    assert alarm.need("Statistic") == ("Maximum" if alarm.need("Namespace") == "AWS/SQS" else "Sum")


def test_alarms_tell_the_topic_that_is_named_and_nobody_where_none_is() -> None:
    topic = "arn:aws:sns:us-east-1:123456789012:duty"
    told = Template(DOCUMENT, folder=ROOT, parameters={"AlarmTopicArn": topic})
    for alarm in told.of_kind("AWS::CloudWatch::Alarm"):
        assert alarm.need("AlarmActions") == alarm.need("OKActions") == [topic]
    assert [alarm.get("AlarmActions") for alarm in ALARMS] == [None] * len(ALARMS)

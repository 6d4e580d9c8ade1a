"""Events without HTTP: a rule for each source, a bucket that only tells, and queues that nobody else may write to."""

from __future__ import annotations

import json
from typing import Any

import pytest

from provenloop.entry.local.intrinsics import TemplateError
from provenloop.entry.local.resources import EventRule, buckets, event_rules
from provenloop.entry.local.template import Template
from tests.template.reading import DOCUMENT, ROOT, TEMPLATE

NAMES = ("shop.orders", "shop.chat", "till", "depot")


def rules_of(*names: str) -> tuple[EventRule, ...]:
    given = {f"BusSource{number}": name for number, name in enumerate(names, 1)}
    return event_rules(Template(DOCUMENT, folder=ROOT, parameters=given))


def statements_of(policy: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = TEMPLATE.resources[policy].need("PolicyDocument")["Statement"]
    return found


@pytest.mark.parametrize("names", [NAMES[:count] for count in range(5)], ids=len)
def test_each_source_of_the_bus_has_a_rule_that_names_it_and_takes_its_events_alone(names: tuple[str, ...]) -> None:
    for name, rule in zip(names, rules_of(*names), strict=True):
        [target] = rule.targets
        told = target["InputTransformer"]["InputTemplate"].replace("<aws.events.event.json>", "{}")

        assert rule.bus == TEMPLATE.ref("EventBus")
        assert rule.pattern == {"source": [name], "detail-type": ["AgentEvents"]}
        assert json.loads(told) == {"source": name, "event": {}}
        assert target["Arn"] == TEMPLATE.attribute("InboundQueue", "Arn")
        assert target["DeadLetterConfig"] == {"Arn": TEMPLATE.attribute("InboundDeadLetterQueue", "Arn")}


def test_rules_of_our_bus_alone_may_write_to_the_queue_of_its_events_and_to_its_dead_letters() -> None:
    [statement] = statements_of("InboundQueuePolicy")
    bus = TEMPLATE.ref("EventBus")

    assert statement["Principal"] == {"Service": "events.amazonaws.com"}
    assert statement["Action"] == "sqs:SendMessage"
    named = [TEMPLATE.attribute(name, "Arn") for name in ("InboundQueue", "InboundDeadLetterQueue")]
    assert statement["Resource"] == named
    source = f"arn:aws:events:us-east-1:123456789012:rule/{bus}/*"
    assert statement["Condition"] == {"ArnLike": {"aws:SourceArn": source}}


def test_s3_of_this_account_alone_may_write_to_the_queue_of_files() -> None:
    [statement] = statements_of("InboxQueuePolicy")

    assert statement["Principal"] == {"Service": "s3.amazonaws.com"}
    assert statement["Action"] == "sqs:SendMessage"
    assert statement["Resource"] == TEMPLATE.attribute("InboxQueue", "Arn")
    assert statement["Condition"] == {"StringEquals": {"aws:SourceAccount": TEMPLATE.ref("AWS::AccountId")}}


def test_the_bucket_tells_of_what_is_put_into_the_inbox_and_never_of_reports() -> None:
    (bucket,) = (each for each in buckets(TEMPLATE) if each.name == TEMPLATE.ref("InboxBucket"))
    [told] = bucket.tells

    assert told["QueueArn"] == TEMPLATE.attribute("InboxQueue", "Arn")
    assert told["Events"] == ["s3:ObjectCreated:*"]
    assert told["Filter"] == {"Key": {"FilterRules": [{"Name": "prefix", "Value": "inbox/"}]}}
    # S3 asks the queue whether it may tell before the bucket is made.
    assert DOCUMENT["Resources"]["InboxBucket"]["DependsOn"] == "InboxQueuePolicy"


def test_the_bucket_is_encrypted_closed_spoken_to_over_tls_and_forgets_but_is_never_deleted_with_the_stack() -> None:
    bucket = TEMPLATE.resources["InboxBucket"]
    [encrypted] = bucket.need("BucketEncryption")["ServerSideEncryptionConfiguration"]
    [forgets] = bucket.need("LifecycleConfiguration")["Rules"]
    [tls] = statements_of("InboxBucketPolicy")

    assert encrypted == {"ServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}
    assert set(bucket.need("PublicAccessBlockConfiguration").values()) == {True}
    assert (forgets["Status"], forgets["ExpirationInDays"]) == ("Enabled", TEMPLATE.ref("InboxRetentionDays"))
    # Of every file, whatever its prefix, and of what was never put as a whole.
    assert "Prefix" not in forgets
    assert forgets["AbortIncompleteMultipartUpload"] == {"DaysAfterInitiation": 7}
    assert (tls["Effect"], tls["Principal"], tls["Action"]) == ("Deny", "*", "s3:*")
    assert tls["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
    body = DOCUMENT["Resources"]["InboxBucket"]
    assert (body["DeletionPolicy"], body["UpdateReplacePolicy"]) == ("Retain", "Retain")


@pytest.mark.parametrize(
    ("kind", "properties", "said"),
    [
        ("AWS::S3::Bucket", {"NotificationConfiguration": {"TopicConfigurations": []}}, "tells queues only"),
        ("AWS::Events::Rule", {"Targets": [{"Arn": "arn:aws:lambda:us-east-1:1:function:f"}]}, "puts events in queues"),
        ("AWS::Events::Rule", {"Targets": [], "ScheduleExpression": "rate(1 day)"}, "puts events in queues"),
    ],
)
def test_a_local_stack_refuses_what_it_would_not_carry_out(kind: str, properties: dict[str, Any], said: str) -> None:
    template = Template({"Resources": {"Thing": {"Type": kind, "Properties": properties}}}, folder=ROOT)
    with pytest.raises(TemplateError, match=f"Thing: .*{said}"):
        _ = (buckets(template), event_rules(template))

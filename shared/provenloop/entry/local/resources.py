"""What the template stores things in: tables, queues, secrets, buses, as typed views; and what has no use here.

Invariants: a view holds all that is needed to create the resource, in plain values; a property that would change
behaviour and is not understood is an error; types that are neither created nor known to need nothing are listed by
``unsupported``. To add a type: its names in ``naming``, a view here, its creation in ``aws``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from provenloop.entry.local.intrinsics import TemplateError, text_of
from provenloop.entry.local.template import Resource, Template
from provenloop.entry.local.workflows import STATE_MACHINE, TOPIC

TABLE = "AWS::DynamoDB::Table"
QUEUE = "AWS::SQS::Queue"
SECRET = "AWS::SecretsManager::Secret"
EVENT_BUS = "AWS::Events::EventBus"
BUCKET = "AWS::S3::Bucket"
EVENT_RULE = "AWS::Events::Rule"

#: Types that the local stack carries out.
CARRIED_OUT = frozenset(
    {
        TABLE,
        QUEUE,
        SECRET,
        EVENT_BUS,
        BUCKET,
        EVENT_RULE,
        STATE_MACHINE,
        TOPIC,
        "AWS::Serverless::Function",
        "AWS::Serverless::HttpApi",
    }
)
#: Types that change nothing inside one process: rights, logs, code packages, alarms.
WITHOUT_EFFECT = frozenset(
    {
        "AWS::CloudWatch::Alarm",
        "AWS::CloudWatch::Dashboard",
        "AWS::IAM::ManagedPolicy",
        "AWS::IAM::Policy",
        "AWS::IAM::Role",
        "AWS::Lambda::Permission",
        "AWS::Logs::LogGroup",
        "AWS::Logs::MetricFilter",
        "AWS::S3::BucketPolicy",
        "AWS::SNS::Subscription",
        "AWS::SQS::QueuePolicy",
        "AWS::Serverless::LayerVersion",
    }
)

_QUEUE_ATTRIBUTES = (
    "ContentBasedDeduplication",
    "DeduplicationScope",
    "DelaySeconds",
    "FifoQueue",
    "FifoThroughputLimit",
    "MaximumMessageSize",
    "MessageRetentionPeriod",
    "ReceiveMessageWaitTimeSeconds",
    "SqsManagedSseEnabled",
    "VisibilityTimeout",
)


@dataclass(frozen=True, slots=True)
class Index:
    """A global secondary index. ``included`` are the non-key attributes of an INCLUDE projection."""

    name: str
    hash_key: str
    range_key: str | None
    projection: str
    included: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A DynamoDB table. ``attributes`` maps each key attribute to its type (S, N, B)."""

    logical_id: str
    name: str
    attributes: Mapping[str, str]
    hash_key: str
    range_key: str | None
    indexes: tuple[Index, ...]
    ttl_attribute: str | None


@dataclass(frozen=True, slots=True)
class Queue:
    """An SQS queue. ``attributes`` are those of CreateQueue without the redrive policy."""

    logical_id: str
    name: str
    url: str
    arn: str
    fifo: bool
    visibility_s: int
    attributes: Mapping[str, str]
    dead_letter_arn: str | None
    max_receive_count: int | None


@dataclass(frozen=True, slots=True)
class Bucket:
    """An S3 bucket.

    ``retention`` are Mode and Days that Object Lock holds every object for; None without a lock. ``tells`` are the
    queues that hear of its objects, as S3's own QueueConfigurations.
    """

    name: str
    retention: Mapping[str, Any] | None
    tells: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class EventRule:
    """A rule that puts events of a bus in queues; each target is one of PutTargets."""

    name: str
    bus: str
    pattern: Mapping[str, Any]
    targets: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret; ``key`` is the JSON key its generated value stands under, None where it is the whole text."""

    logical_id: str
    name: str
    arn: str
    key: str | None


def tables(template: Template) -> tuple[Table, ...]:
    """The template's tables."""
    return tuple(_table(resource) for resource in template.of_kind(TABLE))


def queues(template: Template) -> tuple[Queue, ...]:
    """The template's queues, dead-letter queues before those that point at them."""
    found = [_queue(resource) for resource in template.of_kind(QUEUE)]
    return tuple(sorted(found, key=lambda queue: queue.dead_letter_arn is not None))


def secrets(template: Template) -> tuple[Secret, ...]:
    """The template's secrets."""
    return tuple(_secret(resource) for resource in template.of_kind(SECRET))


def event_buses(template: Template) -> tuple[str, ...]:
    """Names of the template's event buses."""
    return tuple(template.ref(resource.logical_id) for resource in template.of_kind(EVENT_BUS))


def buckets(template: Template) -> tuple[Bucket, ...]:
    """The template's buckets."""
    return tuple(_bucket(resource) for resource in template.of_kind(BUCKET))


def _bucket(resource: Resource) -> Bucket:
    lock = resource.get("ObjectLockConfiguration") or {}
    retention = lock.get("Rule", {}).get("DefaultRetention") if resource.get("ObjectLockEnabled") else None
    told = resource.get("NotificationConfiguration") or {}
    if told.keys() - {"QueueConfigurations"}:
        raise TemplateError(f"{resource.logical_id}: a bucket tells queues only")
    tells = tuple(_told_queue(each) for each in told.get("QueueConfigurations", ()))
    return Bucket(resource.template.ref(resource.logical_id), retention, tells)


def _told_queue(body: Mapping[str, Any]) -> dict[str, Any]:
    rules = body.get("Filter", {}).get("S3Key", {}).get("Rules", [])
    return {"QueueArn": body["Queue"], "Events": [body["Event"]], "Filter": {"Key": {"FilterRules": rules}}}


def event_rules(template: Template) -> tuple[EventRule, ...]:
    """The template's rules that are switched on."""
    found = template.of_kind(EVENT_RULE)
    return tuple(_event_rule(each) for each in found if each.get("State", "ENABLED") == "ENABLED")


def _event_rule(resource: Resource) -> EventRule:
    targets = resource.need("Targets")
    if "ScheduleExpression" in resource.raw or any(":sqs:" not in str(target["Arn"]) for target in targets):
        raise TemplateError(f"{resource.logical_id}: a rule of its own puts events in queues, and nothing else")
    name = resource.template.ref(resource.logical_id)
    return EventRule(name, str(resource.get("EventBusName", "default")), resource.need("EventPattern"), tuple(targets))


def unsupported(template: Template) -> tuple[str, ...]:
    """Resources that the local stack neither carries out nor may ignore, as ``<logical id> (<type>)``."""
    known = CARRIED_OUT | WITHOUT_EFFECT
    return tuple(
        f"{resource.logical_id} ({resource.kind})"
        for resource in template.resources.values()
        if resource.kind not in known
    )


def _table(resource: Resource) -> Table:
    if resource.get("LocalSecondaryIndexes"):
        raise TemplateError(f"{resource.logical_id}: local secondary indexes are not supported")
    hash_key, range_key = _keys(resource.need("KeySchema"))
    ttl = resource.get("TimeToLiveSpecification", {})
    return Table(
        logical_id=resource.logical_id,
        name=resource.template.ref(resource.logical_id),
        attributes={each["AttributeName"]: each["AttributeType"] for each in resource.need("AttributeDefinitions")},
        hash_key=hash_key,
        range_key=range_key,
        indexes=tuple(_index(each) for each in resource.get("GlobalSecondaryIndexes", [])),
        ttl_attribute=ttl["AttributeName"] if ttl.get("Enabled") else None,
    )


def _index(body: Mapping[str, Any]) -> Index:
    hash_key, range_key = _keys(body["KeySchema"])
    projection = body["Projection"]
    return Index(
        name=body["IndexName"],
        hash_key=hash_key,
        range_key=range_key,
        projection=projection["ProjectionType"],
        included=tuple(projection.get("NonKeyAttributes", ())),
    )


def _keys(schema: Sequence[Mapping[str, str]]) -> tuple[str, str | None]:
    names = {each["KeyType"]: each["AttributeName"] for each in schema}
    if len(names) != len(schema):
        raise TemplateError("keys of several attributes are not supported")
    return names["HASH"], names.get("RANGE")


def _queue(resource: Resource) -> Queue:
    redrive = resource.get("RedrivePolicy") or {}
    values = {name: resource.get(name) for name in _QUEUE_ATTRIBUTES}
    attributes = {name: text_of(value) for name, value in values.items() if value is not None}
    fifo = attributes.get("FifoQueue") == "true"
    if not fifo:
        # CreateQueue refuses the attribute on a standard queue, whatever its value.
        attributes.pop("FifoQueue", None)
    template = resource.template
    return Queue(
        logical_id=resource.logical_id,
        name=template.attribute(resource.logical_id, "QueueName"),
        url=template.ref(resource.logical_id),
        arn=template.attribute(resource.logical_id, "Arn"),
        fifo=fifo,
        visibility_s=int(attributes.get("VisibilityTimeout", 30)),
        attributes=attributes,
        dead_letter_arn=redrive.get("deadLetterTargetArn"),
        max_receive_count=int(redrive["maxReceiveCount"]) if redrive else None,
    )


def _secret(resource: Resource) -> Secret:
    if "SecretString" in resource.raw:
        raise TemplateError(f"{resource.logical_id}: a secret's value does not belong in a template")
    arn: str = resource.template.ref(resource.logical_id)
    return Secret(
        logical_id=resource.logical_id,
        name=arn.rpartition(":secret:")[2],
        arn=arn,
        key=resource.get("GenerateSecretString", {}).get("GenerateStringKey"),
    )

"""AWS inside this process: moto, holding what the template says and nothing else.

Invariants: the only module that starts moto; start and reset begin empty, so nothing that was left behind is seen
again; resources are created through the public API, under the names that the template's references resolve to; queues
run on the stack's clock, so that stepping it makes messages visible again. Clients made before a reset go on working
after it, since moto answers whoever asks.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any
from unittest.mock import patch

import boto3
import moto

from provenloop.entry.local.account import ACCOUNT, CREDENTIALS, REGION
from provenloop.entry.local.cheap_emulator import make_emulator_cheap
from provenloop.entry.local.read_once import validate_definitions_once
from provenloop.entry.local.resources import (
    Bucket,
    EventRule,
    Queue,
    Secret,
    Table,
    buckets,
    event_buses,
    event_rules,
    queues,
    secrets,
    tables,
)
from provenloop.entry.local.template import Template
from provenloop.entry.local.triggers import BusRule, bus_rules
from provenloop.entry.local.workflows import StateMachine, state_machines, topics

_MS_PER_S = 1_000
_STOP_TRIES = 200
_STOP_PAUSE_S = 0.005


class LocalAws:
    """The resources of a template in moto.

    Args:
        template: what to create.
        now_ms: the stack's clock.
        secret_value: what generated secrets hold.
    """

    def __init__(self, template: Template, *, now_ms: Callable[[], int], secret_value: str) -> None:
        self._now_ms = now_ms
        self._secret_value = secret_value
        self._tables = tables(template)
        self._queues = queues(template)
        self._secrets = secrets(template)
        self._buses = event_buses(template)
        self._buckets = buckets(template)
        self._rules = bus_rules(template)
        self._event_rules = event_rules(template)
        self._topics = topics(template)
        self._state_machines = state_machines(template)
        self._session = boto3.Session(
            aws_access_key_id=CREDENTIALS["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=CREDENTIALS["AWS_SECRET_ACCESS_KEY"],
            aws_session_token=CREDENTIALS["AWS_SESSION_TOKEN"],
            region_name=REGION,
        )
        self._clients: dict[str, Any] = {}
        # A new default session at each start would cost the functions' clients a third of a second.
        self._moto = moto.mock_aws(
            config={"core": {"reset_boto3_session": False}, "stepfunctions": {"execute_state_machine": True}}
        )
        self._running = ExitStack()
        self._is_started = False

    def start(self) -> None:
        """Start empty and create everything."""
        self._running.enter_context(self._moto)
        self._is_started = True
        make_emulator_cheap()
        if self._state_machines:
            validate_definitions_once()
        # moto has no clock of its own to set; its queues ask these two.
        self._running.enter_context(patch("moto.sqs.models.unix_time_millis", lambda: float(self._now_ms())))
        self._running.enter_context(patch("moto.sqs.models.unix_time", lambda: self._now_ms() / _MS_PER_S))
        self.reset()

    def reset(self) -> None:
        """Forget everything and create everything anew."""
        self._end_executions()
        self._moto.reset()
        for table in self._tables:
            self._create_table(table)
        for queue in self._queues:
            self._create_queue(queue)
        for secret in self._secrets:
            self._create_secret(secret)
        for bus in self._buses:
            self.client("events").create_event_bus(Name=bus)
        for bucket in self._buckets:
            self._create_bucket(bucket)
        for rule in self._rules:
            self._create_rule(rule)
        for each in self._event_rules:
            self._create_event_rule(each)
        for topic in self._topics:
            self.client("sns").create_topic(Name=topic)
        for machine in self._state_machines:
            self._create_state_machine(machine)

    def stop(self) -> None:
        """Forget everything. Harmless when not started."""
        if self._is_started:
            self._end_executions()
        self._is_started = False
        self._running.close()

    def client(self, service: str) -> Any:
        """The boto3 client of a service, made once."""
        if service not in self._clients:
            self._clients[service] = self._session.client(service)  # type: ignore[call-overload]
        return self._clients[service]

    @property
    def event_bus(self) -> str | None:
        """The bus of the template; None where it has none."""
        return next(iter(self._buses), None)

    @property
    def inbox(self) -> str | None:
        """The bucket that tells of what is put into it; None where there is none."""
        return next((bucket.name for bucket in self._buckets if bucket.tells), None)

    def queue(self, arn_or_logical_id: str) -> Queue:
        """The queue with this ARN or logical id.

        Raises:
            KeyError: there is none.
        """
        for queue in self._queues:
            if arn_or_logical_id in (queue.arn, queue.logical_id):
                return queue
        raise KeyError(arn_or_logical_id)

    def visible_messages(self, queue: Queue) -> int:
        """How many messages of a queue could be received now."""
        return self._count(queue, "ApproximateNumberOfMessages")

    def all_messages(self, queue: Queue) -> int:
        """How many messages a queue holds, hidden ones too."""
        names = ("", "NotVisible", "Delayed")
        return sum(self._count(queue, f"ApproximateNumberOfMessages{name}") for name in names)

    def _count(self, queue: Queue, attribute: str) -> int:
        answer = self.client("sqs").get_queue_attributes(QueueUrl=queue.url, AttributeNames=[attribute])
        return int(answer["Attributes"][attribute])

    def items(self) -> dict[str, list[dict[str, Any]]]:
        """Every item of every table in DynamoDB's JSON, by the table's logical id, in the order of the keys."""
        return {table.logical_id: sorted(self._scan(table), key=_key_of(table)) for table in self._tables}

    def _scan(self, table: Table) -> Iterator[dict[str, Any]]:
        for page in self.client("dynamodb").get_paginator("scan").paginate(TableName=table.name, ConsistentRead=True):
            yield from page["Items"]

    def _create_table(self, table: Table) -> None:
        indexes = [
            {
                "IndexName": index.name,
                "KeySchema": _key_schema(index.hash_key, index.range_key),
                "Projection": _projection(index.projection, index.included),
            }
            for index in table.indexes
        ]
        client = self.client("dynamodb")
        client.create_table(
            TableName=table.name,
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[{"AttributeName": n, "AttributeType": t} for n, t in table.attributes.items()],
            KeySchema=_key_schema(table.hash_key, table.range_key),
            **({"GlobalSecondaryIndexes": indexes} if indexes else {}),
        )
        if table.ttl_attribute:
            client.update_time_to_live(
                TableName=table.name,
                TimeToLiveSpecification={"Enabled": True, "AttributeName": table.ttl_attribute},
            )

    def _create_queue(self, queue: Queue) -> None:
        attributes = dict(queue.attributes)
        if queue.dead_letter_arn is not None:
            redrive = {"deadLetterTargetArn": queue.dead_letter_arn, "maxReceiveCount": queue.max_receive_count}
            attributes["RedrivePolicy"] = json.dumps(redrive)
        self.client("sqs").create_queue(QueueName=queue.name, Attributes=attributes)

    def _create_rule(self, rule: BusRule) -> None:
        """The emulator cannot call a function from a bus; a queue in between holds the events until a tick."""
        queue = self.client("sqs").create_queue(QueueName=rule.queue_name)["QueueUrl"]
        arn = self.client("sqs").get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])
        events = self.client("events")
        events.put_rule(Name=rule.queue_name, EventBusName=rule.bus, EventPattern=json.dumps(rule.pattern))
        target = {"Id": "queue", "Arn": arn["Attributes"]["QueueArn"]}
        events.put_targets(Rule=rule.queue_name, EventBusName=rule.bus, Targets=[target])

    def _create_event_rule(self, rule: EventRule) -> None:
        events = self.client("events")
        events.put_rule(Name=rule.name, EventBusName=rule.bus, EventPattern=json.dumps(rule.pattern))
        events.put_targets(Rule=rule.name, EventBusName=rule.bus, Targets=list(rule.targets))

    def events_of(self, rule: BusRule) -> Iterator[Any]:
        """The events that a rule has let through since this was last asked."""
        sqs = self.client("sqs")
        url = sqs.get_queue_url(QueueName=rule.queue_name)["QueueUrl"]
        while messages := sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", []):
            for message in messages:
                sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
                yield json.loads(message["Body"])

    def _create_state_machine(self, machine: StateMachine) -> None:
        role = f"arn:aws:iam::{ACCOUNT}:role/{machine.name}"
        self.client("stepfunctions").create_state_machine(
            name=machine.name, definition=machine.definition, roleArn=role, type="STANDARD"
        )

    def _end_executions(self) -> None:
        """Stop what runs: an interpreter that waits would call functions of a stack that has been emptied."""
        states = self.client("stepfunctions")
        for machine in states.list_state_machines()["stateMachines"]:
            running = states.list_executions(stateMachineArn=machine["stateMachineArn"], statusFilter="RUNNING")
            for execution in running["executions"]:
                self._end(execution["executionArn"])

    def _end(self, execution_arn: str) -> None:
        """Stop an execution; the emulator fails where its thread has only just been made, and has nothing to stop."""
        pause = threading.Event()
        for _ in range(_STOP_TRIES):
            try:
                self.client("stepfunctions").stop_execution(executionArn=execution_arn)
            except AttributeError:
                pause.wait(_STOP_PAUSE_S)
            else:
                return

    def _create_secret(self, secret: Secret) -> None:
        value = self._secret_value if secret.key is None else json.dumps({secret.key: self._secret_value})
        self.client("secretsmanager").create_secret(Name=secret.name, SecretString=value)

    def _create_bucket(self, bucket: Bucket) -> None:
        client = self.client("s3")
        client.create_bucket(Bucket=bucket.name, ObjectLockEnabledForBucket=bucket.retention is not None)
        if bucket.retention is not None:
            retention = {**bucket.retention, "Days": int(bucket.retention["Days"])}
            lock = {"ObjectLockEnabled": "Enabled", "Rule": {"DefaultRetention": retention}}
            client.put_object_lock_configuration(Bucket=bucket.name, ObjectLockConfiguration=lock)
        if bucket.tells:
            told = {"QueueConfigurations": list(bucket.tells)}
            client.put_bucket_notification_configuration(Bucket=bucket.name, NotificationConfiguration=told)
            for queue in bucket.tells:
                # S3 says at once that it will tell, which would stand in the way of whoever counts messages.
                self.client("sqs").purge_queue(QueueUrl=self.queue(queue["QueueArn"]).url)


def _key_schema(hash_key: str, range_key: str | None) -> list[dict[str, str]]:
    schema = [{"AttributeName": hash_key, "KeyType": "HASH"}]
    return schema if range_key is None else [*schema, {"AttributeName": range_key, "KeyType": "RANGE"}]


def _projection(kind: str, included: tuple[str, ...]) -> dict[str, Any]:
    return {"ProjectionType": kind, "NonKeyAttributes": list(included)} if included else {"ProjectionType": kind}


def _key_of(table: Table) -> Callable[[dict[str, Any]], str]:
    names = [name for name in (table.hash_key, table.range_key) if name is not None]
    return lambda item: json.dumps([item[name] for name in names], sort_keys=True)

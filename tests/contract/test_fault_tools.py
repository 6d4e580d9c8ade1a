"""Beside the fault layer: comparing tables, repeated deliveries of SQS, and GSI entries that come late."""

from __future__ import annotations

from typing import Any

import boto3
import pytest
from botocore.exceptions import ConnectionClosedError
from moto import mock_aws

from tests.faults import (
    FaultLayer,
    LateIndex,
    RepeatedDeliveries,
    assert_unchanged,
    changes,
    lost_reply,
    redelivered,
    take_snapshot,
)
from tests.faults.tables import TABLE, item, put


def queued(client: Any, status: str = "pending") -> list[str]:
    reply = client.query(
        TableName=TABLE,
        IndexName="queue",
        KeyConditionExpression="queue_pk = :q",
        ExpressionAttributeValues={":q": {"S": status}},
    )
    return [f"{row['sk']['S']} {row['row']['S']}" for row in reply["Items"]]


def test_two_snapshots_differ_by_item_and_attribute(client: Any) -> None:
    layer = FaultLayer(client)
    put(client, "changed", title="old", same="x")
    put(client, "gone")
    before = take_snapshot(client, TABLE)
    put(client, "changed", title="new", same="x", more="m")
    put(client, "came", title="t")
    client.delete_item(TableName=TABLE, Key=item("gone"))
    seen = len(layer.calls)
    after = take_snapshot(client, TABLE)

    assert changes(before, after) == [
        "+ p / came  {'title': 't'}",
        "~ p / changed  more: (none) -> 'm'",
        "~ p / changed  title: 'old' -> 'new'",
        "- p / gone  {}",
    ]
    assert len(layer.calls) == seen, "a snapshot is no call of the code under test"
    assert_unchanged(before, before)
    with pytest.raises(AssertionError, match="'old' -> 'new'"):
        assert_unchanged(before, after, ignore=lambda _, attribute: attribute == "more")


def test_a_message_is_received_again_though_it_was_deleted() -> None:
    with mock_aws():
        sqs = boto3.client("sqs", region_name="eu-west-1")
        url = sqs.create_queue(QueueName="pass.fifo", Attributes={"FifoQueue": "true"})["QueueUrl"]
        repeats = RepeatedDeliveries(sqs)
        for body in ("one", "two"):
            sqs.send_message(QueueUrl=url, MessageBody=body, MessageGroupId=body, MessageDeduplicationId=body)
        want = {"QueueUrl": url, "MaxNumberOfMessages": 10, "AttributeNames": ["All"]}
        first = sqs.receive_message(**want)["Messages"]
        entries = [{"Id": m["Body"], "ReceiptHandle": m["ReceiptHandle"]} for m in first]
        sqs.delete_message_batch(QueueUrl=url, Entries=entries)
        assert "Messages" not in sqs.receive_message(**want)

        assert repeats.again(1) == 1
        [again] = sqs.receive_message(**want)["Messages"]

        assert (again["Body"], again["MessageId"]) == ("two", first[1]["MessageId"])
        assert again["Attributes"]["ApproximateReceiveCount"] == "2"
        entry = {"Id": "again", "ReceiptHandle": again["ReceiptHandle"]}
        assert sqs.delete_message_batch(QueueUrl=url, Entries=[entry])["Successful"] == [{"Id": "again"}]


def test_a_lambda_event_can_hold_records_that_were_delivered_before() -> None:
    def record(name: str) -> dict[str, Any]:
        return {
            "messageId": name,
            "receiptHandle": f"r-{name}",
            "body": "{}",
            "attributes": {"ApproximateReceiveCount": "1"},
        }

    event = {"Records": [record("a"), record("b")]}

    again = redelivered(event, [1, 0, 1])

    assert [r["messageId"] for r in again["Records"]] == ["b", "a", "b"]
    assert {r["attributes"]["ApproximateReceiveCount"] for r in again["Records"]} == {"2"}
    assert event["Records"][1]["attributes"]["ApproximateReceiveCount"] == "1"


def test_an_index_shows_the_past_until_an_entry_is_released(client: Any) -> None:
    put(client, "changed", queue_pk="pending", queue_sk="1", row="old")
    put(client, "deleted", queue_pk="pending", queue_sk="2", row="x")
    put(client, "left", queue_pk="pending", queue_sk="3", row="x")
    late = LateIndex(client, table=TABLE)

    put(client, "new", queue_pk="pending", queue_sk="0", row="x")
    put(client, "changed", queue_pk="pending", queue_sk="1", row="new")
    client.delete_item(TableName=TABLE, Key=item("deleted"))
    put(client, "left", queue_pk="approved", queue_sk="3", row="x")

    assert queued(client) == ["changed old", "deleted x", "left x"]
    assert late.late == (("p", "new"), ("p", "changed"), ("p", "deleted"), ("p", "left"))

    late.release(("p", "deleted"), ("p", "new"))
    assert queued(client) == ["new x", "changed old", "left x"]
    late.release()
    assert queued(client) == ["new x", "changed new"]
    assert queued(client, "approved") == ["left x"]


def test_an_index_may_lag_by_a_number_of_calls(client: Any) -> None:
    with LateIndex(client, table=TABLE, lag=2):
        put(client, "a", queue_pk="pending", queue_sk="1", row="x")
        assert queued(client) == []
        assert queued(client) == []
        assert queued(client) == ["a x"]


def test_a_write_whose_reply_was_lost_reaches_the_index_late_all_the_same(client: Any) -> None:
    layer = FaultLayer(client)
    late = LateIndex(client, table=TABLE)
    with layer.faults(lost_reply()), pytest.raises(ConnectionClosedError):
        put(client, "a", queue_pk="pending", queue_sk="1", row="x")

    assert late.late == (("p", "a"),)
    assert queued(client) == []


def test_reads_of_the_table_are_never_late_and_a_removed_lag_leaves_nothing_behind(client: Any) -> None:
    late = LateIndex(client, table=TABLE)
    put(client, "a", queue_pk="pending", queue_sk="1", row="x")
    reply = client.query(
        TableName=TABLE, KeyConditionExpression="pk = :p", ExpressionAttributeValues={":p": {"S": "p"}}
    )
    assert [row["sk"]["S"] for row in reply["Items"]] == ["a"]

    late.remove()
    assert queued(client) == ["a x"]
    assert client.list_tables()["TableNames"] == [TABLE]

"""The fault layer against moto: each fault is what the real client would raise, and leaves the table as AWS would."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ClientError, ConnectionClosedError, ReadTimeoutError
from pynamodb.connection import Connection
from pynamodb.exceptions import PutError

from tests.faults import (
    ClientTokens,
    Crash,
    FaultLayer,
    Kind,
    conflict,
    crash_after,
    crash_before,
    late_server_error,
    lost_reply,
    lost_request,
    resent,
    server_error,
    single_faults,
    take_snapshot,
    throttle,
    unprocessed,
)
from tests.faults.tables import TABLE, item, put


def add_one(client: Any) -> int:
    reply = client.update_item(
        TableName=TABLE,
        Key=item("counter"),
        UpdateExpression="ADD n :one",
        ExpressionAttributeValues={":one": {"N": "1"}},
        ReturnValues="UPDATED_NEW",
    )
    return int(reply["Attributes"]["n"]["N"])


def put_new(client: Any, *sks: str, **options: Any) -> Any:
    condition = {"TableName": TABLE, "ConditionExpression": "attribute_not_exists(pk)"}
    return client.transact_write_items(
        TransactItems=[{"Put": {"Item": item(sk), **condition}} for sk in sks], **options
    )


def stored(client: Any) -> list[str]:
    return [key[1] for key in take_snapshot(client, TABLE)]


def test_a_run_without_faults_lists_its_calls_with_the_keys_they_touch(client: Any) -> None:
    def run() -> None:
        put(client, "a")
        put_new(client, "b", "c")
        client.batch_get_item(RequestItems={TABLE: {"Keys": [item("a"), item("b")]}})
        client.query(
            TableName=TABLE,
            IndexName="due",
            KeyConditionExpression="wake = :w",
            ExpressionAttributeValues={":w": {"S": "WAKE#0"}},
        )

    calls = FaultLayer(client).count(run)

    assert [(call.n, call.operation, call.index, call.keys, call.writes) for call in calls] == [
        (1, "PutItem", None, (("p", "a"),), True),
        (2, "TransactWriteItems", None, (("p", "b"), ("p", "c")), True),
        (3, "BatchGetItem", None, (("p", "a"), ("p", "b")), False),
        (4, "Query", "due", (), False),
    ]
    assert {call.table for call in calls} == {TABLE}


def test_a_crash_before_a_call_leaves_it_undone_and_a_crash_after_it_done(client: Any) -> None:
    layer = FaultLayer(client)

    assert not layer.survives(lambda: put(client, "a"), crash_before())
    assert stored(client) == []

    assert not layer.survives(lambda: put(client, "a"), crash_after())
    assert stored(client) == ["a"]


def test_no_handler_of_exceptions_survives_a_crash_and_nothing_is_called_while_dying(client: Any) -> None:
    layer = FaultLayer(client)

    def run() -> None:
        try:
            put(client, "a")
        except Exception:  # noqa: BLE001
            put(client, "swallowed")
        finally:
            put(client, "cleanup")

    assert not layer.survives(run, crash_before(1))
    assert stored(client) == []
    put(client, "next process")
    assert stored(client) == ["next process"]


def test_every_single_fault_of_a_run_can_be_tried(client: Any) -> None:
    layer = FaultLayer(client)

    def run() -> None:
        add_one(client)
        put_new(client, f"n{add_one(client)}")

    calls = layer.count(run)
    tried = []
    for fault in single_faults(calls):
        with layer.faults(fault):
            try:
                run()
            except (Crash, ClientError, ConnectionClosedError, ReadTimeoutError):
                tried.append((fault.kind, fault.nth))
        assert [fired for _, fired in layer.fired] == [fault]

    raising = set(Kind) - {Kind.RESENT, Kind.UNPROCESSED}
    assert set(tried) == {(kind, n) for kind in raising for n in (1, 2, 3)}


def test_the_nth_call_may_be_counted_by_operation_and_by_what_it_touches(client: Any) -> None:
    layer = FaultLayer(client)

    def run() -> None:
        put(client, "a")
        add_one(client)
        put(client, "b")
        put(client, "a")

    with layer.faults(crash_before(2, "PutItem", when=lambda call: call.keys == (("p", "a"),))), pytest.raises(Crash):
        run()

    assert [str(call) for call, _ in layer.fired] == ["4 main: PutItem p/a"]


def test_a_lost_reply_is_done_and_a_lost_request_is_not(client: Any) -> None:
    layer = FaultLayer(client)

    with layer.faults(lost_reply()), pytest.raises(ConnectionClosedError):
        put(client, "done")
    with layer.faults(lost_request()), pytest.raises(ReadTimeoutError):
        put(client, "not done")

    assert stored(client) == ["done"]


def test_a_server_error_is_a_failure_of_aws_whether_or_not_the_call_was_done(client: Any) -> None:
    layer = FaultLayer(client)

    for fault, name in ((server_error(), "not done"), (late_server_error(), "done")):
        with layer.faults(fault), pytest.raises(ClientError) as failed:
            put(client, name)
        assert failed.value.response["Error"]["Code"] == "InternalServerError"
        assert failed.value.response["ResponseMetadata"]["HTTPStatusCode"] == 500

    assert stored(client) == ["done"]


def test_a_resent_request_is_done_twice_and_answered_once(client: Any) -> None:
    with FaultLayer(client).faults(resent()):
        assert add_one(client) == 2

    condition = {"ConditionExpression": "attribute_not_exists(pk)"}
    with FaultLayer(client).faults(resent()), pytest.raises(ClientError) as refused:
        client.put_item(TableName=TABLE, Item=item("a"), **condition)
    assert refused.value.response["Error"]["Code"] == "ConditionalCheckFailedException"
    assert "a" in stored(client)


def test_a_resent_transaction_is_known_by_its_token_and_not_done_twice(client: Any) -> None:
    layer = FaultLayer(client)
    with layer.faults(resent()):
        put_new(client, "a", "b")
    assert len(layer.fired) == 1
    assert stored(client) == ["a", "b"]


def test_throttling_comes_as_its_own_exception_as_long_as_planned(client: Any) -> None:
    with FaultLayer(client).faults(throttle(nth=2, times=2)) as layer:
        put(client, "a")
        for _ in range(2):
            with pytest.raises(client.exceptions.ThrottlingException):
                put(client, "b")
        put(client, "c")
        assert len(layer.fired) == 2

    code = "ProvisionedThroughputExceededException"
    with (
        FaultLayer(client).faults(throttle(code=code)),
        pytest.raises(client.exceptions.ProvisionedThroughputExceededException),
    ):
        put(client, "d")
    assert stored(client) == ["a", "c"]


def test_a_conflicting_transaction_tells_which_item_and_writes_nothing(client: Any) -> None:
    with (
        FaultLayer(client).faults(conflict(item=1)),
        pytest.raises(client.exceptions.TransactionCanceledException) as cancelled,
    ):
        put_new(client, "a", "b", "c")

    reasons = cancelled.value.response["CancellationReasons"]
    assert [reason["Code"] for reason in reasons] == ["None", "TransactionConflict", "None"]
    assert stored(client) == []


def test_a_single_write_that_meets_a_transaction_is_refused_and_a_query_never_is(client: Any) -> None:
    layer = FaultLayer(client)
    with layer.faults(conflict()), pytest.raises(client.exceptions.TransactionConflictException):
        put(client, "a")

    with layer.faults(conflict()):
        client.query(TableName=TABLE, KeyConditionExpression="pk = :p", ExpressionAttributeValues={":p": {"S": "p"}})
    assert layer.fired == []


def test_a_batch_write_does_a_part_and_hands_the_rest_back(client: Any) -> None:
    requests = [{"PutRequest": {"Item": {**item(sk), "raw": {"B": b"\x00\xff"}}}} for sk in "abcd"]
    with FaultLayer(client).faults(unprocessed(keep=3)):
        first = client.batch_write_item(RequestItems={TABLE: requests})
        assert stored(client) == ["a", "b", "c"]
        second = client.batch_write_item(RequestItems=first["UnprocessedItems"])

    assert first["UnprocessedItems"] == {TABLE: requests[3:]}
    assert second["UnprocessedItems"] == {}
    assert take_snapshot(client, TABLE)["p", "d"]["raw"] == b"\x00\xff"


def test_a_batch_get_hands_back_keys_with_their_options(client: Any) -> None:
    for sk in "abc":
        put(client, sk)
    keys = [item(sk) for sk in "abc"]
    with FaultLayer(client).faults(unprocessed(keep=1)):
        reply = client.batch_get_item(RequestItems={TABLE: {"Keys": keys, "ConsistentRead": True}})

    assert reply["Responses"] == {TABLE: keys[:1]}
    assert reply["UnprocessedKeys"] == {TABLE: {"Keys": keys[1:], "ConsistentRead": True}}


def test_pynamodb_meets_the_same_faults(client: Any) -> None:  # noqa: ARG001
    connection = Connection(region="eu-west-1")
    connection.describe_table(TABLE)
    layer = FaultLayer(connection.client)

    with layer.faults(lost_reply(1, "PutItem")), pytest.raises(PutError) as error:
        connection.put_item(TABLE, "p", "a")
    assert isinstance(error.value.cause, ConnectionClosedError)

    with layer.faults(throttle(1, "PutItem")), pytest.raises(PutError) as error:
        connection.put_item(TABLE, "p", "b")
    assert error.value.cause_response_code == "ThrottlingException"

    with layer.faults(conflict(1, "PutItem")), pytest.raises(PutError) as error:
        connection.put_item(TABLE, "p", "c")
    assert error.value.cause_response_code == "TransactionConflictException"

    with layer.faults(crash_after(1)), pytest.raises(Crash):
        connection.put_item(TABLE, "p", "d")
    assert stored(connection.client) == ["a", "d"]


def test_a_removed_layer_neither_strikes_nor_records(client: Any) -> None:
    with FaultLayer(client) as layer:
        layer.arm(crash_before())
    put(client, "a")
    assert layer.calls == []
    assert stored(client) == ["a"]


def test_a_repeated_client_token_is_answered_without_doing_it_again(client: Any) -> None:
    layer = FaultLayer(client)
    ClientTokens(client)
    with layer.faults(lost_reply()), pytest.raises(ConnectionClosedError):
        put_new(client, "a", ClientRequestToken="token-1")

    put_new(client, "a", ClientRequestToken="token-1")

    with pytest.raises(client.exceptions.IdempotentParameterMismatchException):
        put_new(client, "b", ClientRequestToken="token-1")
    with pytest.raises(client.exceptions.TransactionCanceledException):
        put_new(client, "a", ClientRequestToken="token-2")
    assert stored(client) == ["a"]

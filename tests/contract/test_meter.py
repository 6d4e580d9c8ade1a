"""The meter on real calls: round trips, units and bytes, on boto3's and pynamodb's clients."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.exceptions import ClientError
from pynamodb.connection import Connection

from provenloop.adapters.dynamodb.meter import Meter
from provenloop.adapters.dynamodb.units import IndexSpec
from tests.faults import FaultLayer, Interleaving, lost_reply, throttle, unprocessed
from tests.faults.tables import TABLE

if TYPE_CHECKING:
    from collections.abc import Iterator

INDEXES = (IndexSpec("queue", ("queue_pk", "queue_sk"), ("row",)), IndexSpec("due", ("wake", "wake_at")))
ABSENT = "attribute_not_exists(pk)"


@pytest.fixture
def meter(client: Any) -> Iterator[Meter]:
    """A meter with a measurement open, so that it remembers the sizes of what each test prepares."""
    meter = Meter(client, indexes=INDEXES)
    with meter.measure():
        yield meter


def item(sk: str, filler: int = 0, **attributes: Any) -> dict[str, Any]:
    extra: dict[str, Any] = {"f": {"S": "x" * filler}} if filler else {}
    return {"pk": {"S": "p"}, "sk": {"S": sk}, **extra, **attributes}


def put(client: Any, sk: str, filler: int = 0, **attributes: Any) -> None:
    client.put_item(TableName=TABLE, Item=item(sk, filler, **attributes), ConditionExpression=ABSENT)


def update(client: Any, sk: str, expression: str, values: dict[str, Any] | None = None, returns: str = "NONE") -> None:
    extra: dict[str, Any] = {"ExpressionAttributeValues": values} if values else {}
    client.update_item(TableName=TABLE, Key=item(sk), UpdateExpression=expression, ReturnValues=returns, **extra)


def query(client: Any, condition: str = "pk = :v", value: str = "p", **options: Any) -> None:
    values = {":v": {"S": value}, **options.pop("values", {})}
    client.query(TableName=TABLE, KeyConditionExpression=condition, ExpressionAttributeValues=values, **options)


def test_single_reads_and_writes_cost_by_their_size(client: Any, meter: Meter) -> None:
    with meter.measure() as usage:
        put(client, "a", 2000)
        put(client, "b", 5000)
        client.get_item(TableName=TABLE, Key=item("a"), ConsistentRead=True)
        client.get_item(TableName=TABLE, Key=item("b"))
        client.get_item(TableName=TABLE, Key=item("none"), ConsistentRead=True)
        client.delete_item(TableName=TABLE, Key=item("b"))

    assert usage.calls == {"PutItem": 2, "GetItem": 3, "DeleteItem": 1}
    assert usage.round_trips == 6
    assert usage.costs["PutItem"].writes == 2 + 5
    assert usage.reads == 1 + 1 + 1
    assert usage.costs["DeleteItem"].writes == 5
    assert usage.bytes_read == usage.costs["PutItem"].bytes_written == 2000 + 5000 + 2 * len("pkpskaf")
    assert (usage.estimated, usage.unmeasured) == (0, 0)
    assert usage.dollars() == pytest.approx((3 * 0.125 + 12 * 0.625) / 1e6)


def test_batches_round_each_item_and_queries_their_sum(client: Any, meter: Meter) -> None:
    sizes = (1500, 600, 600)
    requests = [{"PutRequest": {"Item": item(str(n), size)}} for n, size in enumerate(sizes)]
    with meter.measure() as usage:
        client.batch_write_item(RequestItems={TABLE: requests})
        keys = [item(str(n)) for n in range(4)]
        client.batch_get_item(RequestItems={TABLE: {"Keys": keys, "ConsistentRead": True}})
        query(client, ConsistentRead=True)
        query(client)

    assert usage.costs["BatchWriteItem"].writes == 2 + 1 + 1
    assert usage.costs["BatchGetItem"].reads == 4
    assert usage.costs["Query"].reads == 1 + 0.5


def test_an_empty_query_costs_one_unit_and_a_large_one_by_the_page(client: Any, meter: Meter) -> None:
    with meter.measure() as empty:
        query(client, ConsistentRead=True)
    assert (empty.reads, empty.writes, empty.round_trips) == (1, 0, 1)

    for n in range(5):
        put(client, str(n), 4000)
    with meter.measure() as usage:
        query(client, ConsistentRead=True)
    assert usage.reads == 5
    assert usage.estimated == 0


def test_a_filter_or_projection_does_not_make_a_query_cheaper(client: Any, meter: Meter) -> None:
    for n in range(4):
        put(client, str(n), 3000, k={"N": str(n)})
    with meter.measure() as filtered:
        query(client, FilterExpression="k = :k", values={":k": {"N": "1"}}, ConsistentRead=True)
    with meter.measure() as projected:
        query(client, ProjectionExpression="pk, sk", ConsistentRead=True)
    assert (filtered.reads, projected.reads) == (3, 3)
    assert (filtered.estimated, projected.estimated) == (1, 1)


def test_an_update_costs_the_larger_item_as_far_as_it_is_known(client: Any, meter: Meter) -> None:
    put(client, "a", 3000)
    with meter.measure() as grown:
        update(client, "a", "SET g = :g", {":g": {"S": "x" * 1500}})
    with meter.measure() as shrunk:
        update(client, "a", "REMOVE f")
    with meter.measure() as after:
        update(client, "a", "SET h = :h", {":h": {"N": "1"}})
    assert [usage.writes for usage in (grown, shrunk, after)] == [5, 5, 2]
    assert [usage.estimated for usage in (grown, shrunk, after)] == [0, 0, 0]


def test_an_update_of_an_item_not_seen_is_an_estimate_unless_aws_shows_it(client: Any) -> None:
    put(client, "a", 3000)
    meter = Meter(client)
    with meter.measure() as blind:
        update(client, "a", "SET g = :g", {":g": {"S": "x" * 1500}})
    assert (blind.writes, blind.estimated) == (2, 1)

    with meter.measure() as shown:
        update(client, "a", "SET g = :g", {":g": {"S": "y"}}, returns="ALL_NEW")
        update(client, "a", "SET g = :g", {":g": {"S": "z"}})
    assert shown.costs["UpdateItem"].writes == 3 + 3


def test_a_set_that_gets_the_same_member_again_does_not_grow(client: Any, meter: Meter) -> None:
    put(client, "head", 900)
    values = {":s": {"SS": ["shared"]}, ":one": {"N": "1"}}
    for _ in range(30):
        update(client, "head", "ADD namespaces :s, seq :one", values)
    with meter.measure() as usage:
        update(client, "head", "ADD namespaces :s, seq :one", values, returns="ALL_NEW")
    assert (usage.writes, usage.estimated) == (1, 0)


def test_transactions_cost_double_for_writes_reads_and_checks(client: Any, meter: Meter) -> None:
    put(client, "checked", 1500)
    with meter.measure() as usage:
        client.transact_write_items(
            TransactItems=[
                {"Put": {"TableName": TABLE, "Item": item("new", 500), "ConditionExpression": ABSENT}},
                {
                    "ConditionCheck": {
                        "TableName": TABLE,
                        "Key": item("checked"),
                        "ConditionExpression": "attribute_exists(pk)",
                    }
                },
            ]
        )
        client.transact_get_items(TransactItems=[{"Get": {"TableName": TABLE, "Key": item("new")}}])
    assert (usage.writes, usage.reads, usage.estimated) == (2 * 1 + 2 * 2, 2, 0)


def test_a_refused_condition_costs_like_the_write(client: Any, meter: Meter) -> None:
    put(client, "a", 4000)
    with meter.measure() as usage:
        with pytest.raises(ClientError):
            put(client, "a", 10)
        actions = [{"Put": {"TableName": TABLE, "Item": item("a"), "ConditionExpression": ABSENT}}]
        with pytest.raises(ClientError):
            client.transact_write_items(TransactItems=actions)
    assert usage.costs["PutItem"].writes == 4
    assert usage.costs["TransactWriteItems"].writes == 8
    with meter.measure() as after:
        client.get_item(TableName=TABLE, Key=item("a"), ConsistentRead=True, ProjectionExpression="pk")
    assert after.bytes_read > 4000, "a refused write changes nothing that is remembered"


def test_a_put_that_asks_for_absence_meets_nothing_whatever_is_remembered(client: Any, meter: Meter) -> None:
    put(client, "a", 3000)
    boto3.client("dynamodb", region_name="eu-west-1").delete_item(TableName=TABLE, Key=item("a"))
    with meter.measure() as usage:
        put(client, "a")
    assert (usage.writes, usage.estimated) == (1, 0)

    with Meter(client).measure() as blind, pytest.raises(ClientError):
        put(client, "a")
    assert blind.estimated == 1


def test_indexes_are_written_as_their_entries_come_move_and_go(client: Any, meter: Meter) -> None:
    def due(at: int) -> dict[str, Any]:
        return {"wake": {"S": "WAKE#0"}, "wake_at": {"N": str(at)}}

    def units(action: Any) -> int:
        with meter.measure() as usage:
            action()
        assert usage.estimated == 0
        return usage.writes

    assert units(lambda: put(client, "plain")) == 1
    assert units(lambda: put(client, "head", **due(5))) == 1 + 1
    values = {":t": {"N": "7"}}
    keep = "SET wake_at = if_not_exists(wake_at, :t)"
    assert units(lambda: update(client, "head", keep, values)) == 1
    assert units(lambda: update(client, "head", "SET wake_at = :t", values)) == 1 + 2
    assert units(lambda: update(client, "head", "SET elsewhere = :t", values)) == 1
    assert units(lambda: update(client, "head", "REMOVE wake, wake_at")) == 1 + 1
    new = {"TableName": TABLE, "Item": item("head 2", **due(5)), "ConditionExpression": ABSENT}
    assert units(lambda: client.transact_write_items(TransactItems=[{"Put": new}])) == 2 * (1 + 1)
    row: dict[str, Any] = {"queue_pk": {"S": "q"}, "queue_sk": {"S": "1"}, "row": {"S": "x" * 1200}}
    assert units(lambda: put(client, "rec", **row)) == 2 + 2
    assert units(lambda: client.put_item(TableName=TABLE, Item=item("rec", **{**row, "row": {"S": "y"}}))) == 2 + 2


def test_throttled_unanswered_and_unprocessed_work_is_not_billed(client: Any, meter: Meter) -> None:
    requests = [{"PutRequest": {"Item": item(sk)}} for sk in "abcd"]
    layer = FaultLayer(client)
    with meter.measure() as usage:
        with layer.faults(throttle()), pytest.raises(ClientError):
            put(client, "x")
        with layer.faults(unprocessed(keep=3)):
            client.batch_write_item(RequestItems={TABLE: requests})
        with layer.faults(lost_reply()), pytest.raises(Exception, match="closed"):
            put(client, "y")
    assert usage.calls == {"PutItem": 2, "BatchWriteItem": 1}
    assert usage.costs["PutItem"].writes == 1


def test_measurements_nest_and_stay_apart(client: Any, meter: Meter) -> None:
    other = Meter(client)
    put(client, "before")
    with meter.measure() as outer:
        put(client, "a")
        with meter.measure() as inner, other.measure() as elsewhere:
            put(client, "b")
        put(client, "c")
    put(client, "after")
    assert [usage.round_trips for usage in (outer, inner, elsewhere)] == [3, 1, 1]


def test_a_measurement_follows_interleaved_actors_each_with_its_own(client: Any, meter: Meter) -> None:
    def actor(name: str) -> int:
        with meter.measure() as own:
            put(client, f"{name}1")
            put(client, f"{name}2")
        return own.round_trips

    with meter.measure() as both, Interleaving(client, schedule=[0, 1, 0, 1]) as play:
        for name in "ab":
            play.actor(name, partial(actor, name))
        outcomes = play.run()
    assert [outcomes[name].result() for name in "ab"] == [2, 2]
    assert both.round_trips == 4


def test_a_fault_in_counting_leaves_the_call_alone(client: Any, meter: Meter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meter.shapes, "put", lambda *_: 1 / 0)
    with meter.measure() as usage:
        put(client, "a")
    assert (usage.calls, usage.unmeasured) == ({"PutItem": 1}, 1)


def test_pynamodb_is_measured_and_a_removed_meter_counts_no_more(client: Any) -> None:
    connection = Connection(region="eu-west-1")
    connection.describe_table(TABLE)
    meter = Meter(connection.client)
    with meter.measure() as usage:
        connection.put_item(TABLE, "p", "a", attributes={"f": {"S": "x" * 3000}})
        connection.get_item(TABLE, "p", "a", consistent_read=True)
        meter.remove()
        connection.get_item(TABLE, "p", "a")
    assert (usage.writes, usage.reads) == (3, 1)
    assert usage.calls == {"PutItem": 1, "GetItem": 1}
    assert client.get_item(TableName=TABLE, Key=item("a"))["Item"]["f"]["S"] == "x" * 3000


def test_only_so_many_items_are_remembered(client: Any) -> None:
    meter = Meter(client, capacity=2)
    with meter.measure():
        for sk in "abc":
            put(client, sk, 3000)
    with meter.measure() as usage:
        update(client, "c", "SET g = :g", {":g": {"N": "1"}})
        update(client, "a", "SET g = :g", {":g": {"N": "1"}})
    assert (usage.writes, usage.estimated) == (3 + 1, 1)

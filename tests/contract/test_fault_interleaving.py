"""Actors that switch at their AWS calls: the same schedule is the same run, and every order can be had."""

from __future__ import annotations

from contextvars import ContextVar
from itertools import permutations
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from pynamodb.connection import Connection

from tests.faults import Crash, FaultLayer, Interleaving, crash_after, schedules, take_snapshot
from tests.faults.tables import TABLE

KEY = {"pk": {"S": "p"}, "sk": {"S": "counter"}}


def add_one(client: Any) -> int:
    reply = client.update_item(
        TableName=TABLE,
        Key=KEY,
        UpdateExpression="ADD n :one",
        ExpressionAttributeValues={":one": {"N": "1"}},
        ReturnValues="UPDATED_NEW",
    )
    return int(reply["Attributes"]["n"]["N"])


def read(client: Any) -> int:
    found = client.get_item(TableName=TABLE, Key=KEY, ConsistentRead=True).get("Item", {})
    return int(found.get("n", {"N": "0"})["N"])


def careless_increment(client: Any) -> int:
    seen = read(client)
    client.put_item(TableName=TABLE, Item={**KEY, "n": {"N": str(seen + 1)}})
    return seen + 1


def test_a_schedule_decides_the_order_of_the_calls(client: Any) -> None:
    orders = set()
    for order in set(permutations("aabb")):
        client.delete_item(TableName=TABLE, Key=KEY)
        # The first step of an actor only brings it to its first call.
        with Interleaving(client, schedule=[0, 1, *("ab".index(name) for name in order)]) as play:
            for name in "ab":
                play.actor(name, lambda: careless_increment(client))
            outcomes = play.run()
        orders.add("".join(call.process for call in play.trace))
        assert read(client) == (2 if order in (tuple("aabb"), tuple("bbaa")) else 1), play.story()
        assert sum(outcomes[name].calls for name in "ab") == 4
    assert orders == {"aabb", "abab", "abba", "baab", "baba", "bbaa"}


def test_the_same_schedule_is_the_same_run(client: Any) -> None:
    def run() -> tuple[str, list[Any]]:
        client.delete_item(TableName=TABLE, Key=KEY)
        with Interleaving(client, schedule=[1, 0, 1, 1, 0, 1]) as play:
            for name in "ab":
                play.actor(name, lambda: [careless_increment(client), add_one(client)])
            outcomes = play.run()
        return play.story(), [outcomes[name].result() for name in "ab"]

    assert run() == run()


@given(schedule=schedules(3))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_atomic_calls_lose_nothing_in_any_order(client: Any, schedule: list[int]) -> None:
    before = read(client)
    with Interleaving(client, schedule=schedule) as play:
        for name in "abc":
            play.actor(name, lambda: [add_one(client), add_one(client)])
        outcomes = play.run()

    numbers = sorted(number for name in "abc" for number in outcomes[name].result())
    assert numbers == list(range(before + 1, before + 7))


def test_what_an_actor_raises_is_its_outcome(client: Any) -> None:
    def fails() -> None:
        read(client)
        raise ValueError("no")

    with Interleaving(client) as play:
        play.actor("fails", fails)
        play.actor("works", lambda: read(client))
        outcomes = play.run()

    assert (outcomes["fails"].state, outcomes["works"].state) == ("raised", "done")
    with pytest.raises(ValueError, match="no"):
        outcomes["fails"].result()


def test_an_actor_dies_before_its_call_and_its_finally_blocks_reach_nothing(client: Any) -> None:
    def writer() -> None:
        try:
            add_one(client)
            add_one(client)
        finally:
            client.delete_item(TableName=TABLE, Key=KEY)

    with Interleaving(client) as play:
        play.actor("writer", writer, crash_at=2)
        play.actor("other", lambda: read(client))
        outcomes = play.run()

    assert (outcomes["writer"].state, outcomes["writer"].calls) == ("crashed", 1)
    assert outcomes["other"].state == "done"
    assert read(client) == 1


def test_an_actor_is_frozen_and_goes_on_much_later(client: Any) -> None:
    with Interleaving(client) as play:
        play.actor("slow", lambda: careless_increment(client), freeze_at=2)
        play.actor("quick", lambda: [add_one(client) for _ in range(3)])
        outcomes = play.run()
        assert (outcomes["slow"].state, outcomes["slow"].calls, read(client)) == ("frozen", 1, 3)

        play.resume("slow")
        assert play.run()["slow"].result() == 1
    assert read(client) == 1


def test_an_actor_frozen_for_good_writes_nothing_when_the_play_ends(client: Any) -> None:
    with Interleaving(client) as play:
        play.actor("dead", lambda: [add_one(client), add_one(client)], freeze_at=2)
        play.actor("never started", lambda: add_one(client), freeze_at=1)
        play.run()
    assert play.outcomes["dead"].state == "crashed"
    assert play.outcomes["never started"].state == "crashed"
    assert read(client) == 1
    with pytest.raises(AssertionError, match="dead is crashed after 1 calls"):
        play.outcomes["dead"].result()


def test_faults_strike_an_actor_and_leave_the_others_alive(client: Any) -> None:
    layer = FaultLayer(client)
    with layer.faults(crash_after(1, when=lambda call: call.process == "a")), Interleaving(client) as play:
        for name in "ab":
            play.actor(name, lambda: [add_one(client), add_one(client)])
        outcomes = play.run()

    assert (outcomes["a"].state, outcomes["b"].state) == ("crashed", "done")
    assert read(client) == 3


def test_faults_count_calls_in_the_order_they_are_done(client: Any) -> None:
    layer = FaultLayer(client)
    with layer.faults(crash_after(2)), Interleaving(client, schedule=[0, 1, 1, 0]) as play:
        for name in "ab":
            play.actor(name, lambda: [add_one(client), add_one(client)])
        outcomes = play.run()

    assert [call.process for call in layer.calls] == ["b", "a", "b"]
    assert (outcomes["a"].state, outcomes["b"].state) == ("crashed", "done")


def test_actors_see_the_context_of_their_maker(client: Any) -> None:
    pinned: ContextVar[int] = ContextVar("pinned", default=0)
    pinned.set(7)
    with Interleaving(client) as play:
        play.actor("a", lambda: (read(client), pinned.get())[1])
        assert play.run()["a"].result() == 7


def test_actors_may_share_pynamodb_and_boto3_clients(client: Any) -> None:
    connection = Connection(region="eu-west-1")
    connection.describe_table(TABLE)

    def by_pynamodb() -> None:
        for number in range(3):
            connection.put_item(TABLE, "p", f"n{number}")

    def by_boto3() -> None:
        for number in range(3):
            client.put_item(TableName=TABLE, Item={"pk": {"S": "p"}, "sk": {"S": f"b{number}"}})

    with Interleaving(client, connection.client, schedule=[0, 1, 1, 0]) as play:
        play.actor("pynamodb", by_pynamodb)
        play.actor("boto3", by_boto3)
        for outcome in play.run().values():
            outcome.result()

    assert [call.process for call in play.trace] == ["boto3", "pynamodb", "pynamodb", "boto3", "pynamodb", "boto3"]
    assert len(take_snapshot(client, TABLE)) == 6


def test_an_endless_loop_ends_the_test_and_a_crash_outside_an_actor_is_not_caught(client: Any) -> None:
    def spin() -> None:
        while True:
            read(client)

    with Interleaving(client, max_steps=5) as play:
        play.actor("spin", spin)
        with pytest.raises(AssertionError, match="no end after 5 steps"):
            play.run()

    with FaultLayer(client).faults(crash_after()), pytest.raises(Crash):
        read(client)

"""Passes that nobody asked for over HTTP: the tick finds what is due, the queue brings it, failures come again."""

from __future__ import annotations

import json
from typing import Any
from unittest.mock import patch

import pytest

from provenloop.adapters.dynamodb.wake import DynamoWakeIndex
from provenloop.adapters.sqs import SqsPassQueue
from provenloop.domain.errors import UnavailableError
from provenloop.domain.names import MemoryId
from provenloop.services.dispatch import CLAIM_MS
from tests.functions.api import CALLS, VALUES, Api
from tests.functions.requests import NOTE, NOW, function, http_event

FIVE_MINUTES_MS = 300_000


def record(number: int, body: object, group: str = "g") -> dict[str, Any]:
    return {
        "messageId": f"m-{number}",
        "body": body if isinstance(body, str) else json.dumps(body),
        "attributes": {"MessageGroupId": group},
    }


def failed(api: Api, *records: dict[str, Any]) -> list[str]:
    invocation = api.stack.invoke("AnalyzeFunction", {"Records": list(records)})
    assert not invocation.failed
    return [failure["itemIdentifier"] for failure in invocation.payload["batchItemFailures"]]


SUPPORT = {"tenant": "default", "memory": "support"}


def test_what_was_recorded_is_analyzed_at_a_later_tick(api: Api) -> None:
    api.done("create_memory")
    api.done("record_events", body={"events": [*CALLS, *VALUES]})
    api.stack.tick()
    assert api.done("list_recommendations")["recommendations"] == []
    api.stack.set_clock(NOW + FIVE_MINUTES_MS)
    api.stack.tick()
    assert len(api.done("list_recommendations")["recommendations"]) == 2
    assert api.done("loop_health")["analyzed"] == 1


def test_a_tick_with_nothing_new_asks_for_no_pass(api: Api) -> None:
    api.done("create_memory")
    api.done("record_events", body={"events": [NOTE]})
    for step in (1, 2):
        api.stack.set_clock(NOW + step * FIVE_MINUTES_MS)
        api.stack.tick()
    assert api.stack.invoke("DispatchFunction", {"id": "tick"}).payload == {"sent": 0, "published": 0, "told": 0}
    assert api.stack.queue_depth("PassQueue") == 0


@pytest.mark.parametrize("broken", ["claim", "send"])
def test_a_memory_that_cannot_be_asked_for_keeps_no_other_from_its_pass(api: Api, broken: str) -> None:
    places: dict[str, type[Any]] = {"claim": DynamoWakeIndex, "send": SqsPassQueue}
    place = places[broken]
    work = getattr(place, broken)

    def fail_for_one(self: Any, memory: MemoryId, *more: Any) -> Any:
        if memory.name == "a":
            raise UnavailableError("the store did not answer in time; try again")
        return work(self, memory, *more)

    for name in ("a", "b", "c"):
        api.done("create_memory", {"memory": name})
        api.done("record_events", {"memory": name}, {"events": [NOTE]})
    api.stack.set_clock(NOW + FIVE_MINUTES_MS)
    with patch.object(place, broken, fail_for_one):
        assert api.stack.invoke("DispatchFunction", {"id": "tick"}).failed
    assert api.stack.queue_depth("PassQueue") == 2
    again = NOW + FIVE_MINUTES_MS + CLAIM_MS
    api.stack.set_clock(again)
    assert api.stack.invoke("DispatchFunction", {"id": "tick"}).payload["sent"] == 3
    assert api.stack.queue_depth("PassQueue") == 5


def test_memories_of_two_tenants_get_a_pass_each(api: Api) -> None:
    for tenant in ("one", "two"):
        token = f"local-admin-token@{tenant}"
        api.done("create_memory", token=token)
        api.done("record_events", body={"events": [NOTE]}, token=token)
    api.stack.set_clock(NOW + FIVE_MINUTES_MS)
    assert api.stack.invoke("DispatchFunction", {"id": "tick"}).payload == {"sent": 2, "published": 0, "told": 0}
    # Claimed: the tick after it sends neither again.
    assert api.stack.invoke("DispatchFunction", {"id": "tick"}).payload == {"sent": 0, "published": 0, "told": 0}


def test_a_scheduled_pass_is_the_engines_own(api: Api) -> None:
    api.done("create_memory")
    api.done("record_events", body={"events": CALLS})
    assert failed(api, record(1, SUPPORT)) == []
    (found,) = api.done("list_recommendations")["recommendations"]
    shown = api.done("show_recommendation", {"memory": "support", "id": found["id"]})
    assert shown["audit"][0]["by"]["label"].startswith("engine:")


def test_a_message_that_names_no_memory_comes_again_and_holds_up_nobody(api: Api) -> None:
    api.done("create_memory")
    bad = [
        "",
        "{",
        "[]",
        "null",
        {},
        {"tenant": "default"},
        {"tenant": "default", "memory": "a/b"},
        {"tenant": 1, "memory": 2},
    ]
    records = [record(number, body, f"g-{number}") for number, body in enumerate(bad)]
    assert failed(api, *records, record(99, SUPPORT, "good")) == [f"m-{number}" for number in range(len(bad))]


def test_after_a_failure_later_messages_of_the_same_group_wait(api: Api) -> None:
    api.done("create_memory")
    unknown = {"tenant": "default", "memory": "nowhere"}
    records = [record(1, unknown, "a"), record(2, SUPPORT, "a"), record(3, SUPPORT, "b")]
    assert failed(api, *records) == ["m-1", "m-2"]


def test_the_same_message_twice_is_harmless(api: Api) -> None:
    api.done("create_memory")
    api.done("record_events", body={"events": [*CALLS, *VALUES]})
    assert failed(api, record(1, SUPPORT), record(1, SUPPORT)) == []
    assert len(api.done("list_recommendations")["recommendations"]) == 2


class Hurried:
    """A runtime with no time to spare."""

    def get_remaining_time_in_millis(self) -> int:
        return 1_000


def test_a_pass_over_http_that_runs_out_of_time_is_accepted_and_the_schedule_goes_on(api: Api) -> None:
    api.done("create_memory")
    api.done("record_events", body={"events": [*CALLS, *VALUES]})
    event = http_event("run_pass", path={"memory": "support"}, body="{}")
    answer = function("analyze")(event, Hurried())
    outcome = json.loads(answer["body"])
    assert (answer["statusCode"], outcome["more"], outcome["stored"]) == (202, True, 0)
    assert api.done("show_run", {"memory": "support", "run": outcome["run"]})["more"] is True
    for step in range(1, 4):
        api.stack.set_clock(NOW + step * FIVE_MINUTES_MS)
        api.stack.tick()
    assert len(api.done("list_recommendations")["recommendations"]) == 2

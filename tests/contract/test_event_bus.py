"""The bus on EventBridge: what listeners get, how requests are cut, and that nothing it does is an error."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import botocore.session
import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from moto import mock_aws

from provenloop.adapters.event_bus import MAX_BYTES, EventBridgeBus
from provenloop.domain.bus_events import BusEvent
from provenloop.domain.names import MemoryId
from provenloop.services.bus_port import Waiting

MEMORY = MemoryId("acme", "demo")
NOW = 1_800_000_000_000
BUS = "loop-events"


def waiting(number: int, **detail: Any) -> Waiting:
    return Waiting(MEMORY, BusEvent(f"id-{number}", "ChangeApplied", NOW + number, detail))


class Recording:
    """Stands for the client: takes every entry but those that it is told to refuse."""

    def __init__(self, *, refused: tuple[str, ...] = (), failing_from: int | None = None) -> None:
        self.requests: list[list[dict[str, Any]]] = []
        self._refused = refused
        self._failing_from = failing_from

    def put_events(self, Entries: list[dict[str, Any]]) -> dict[str, Any]:  # noqa: N803 - as the client calls it
        if self._failing_from is not None and len(self.requests) + 1 >= self._failing_from:
            raise EndpointConnectionError(endpoint_url="https://events")
        self.requests.append(Entries)
        ids = [json.loads(entry["Detail"])["id"] for entry in Entries]
        results = [{"ErrorCode": "ThrottlingException"} if each in self._refused else {"EventId": each} for each in ids]
        return {"FailedEntryCount": sum("ErrorCode" in each for each in results), "Entries": results}


@pytest.fixture
def listener() -> Iterator[Any]:
    """Gives what a queue that listens to the bus has got so far."""
    with mock_aws():
        session = botocore.session.get_session()
        events: Any = session.create_client("events")
        sqs: Any = session.create_client("sqs")
        url = sqs.create_queue(QueueName="listener")["QueueUrl"]
        arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
        events.create_event_bus(Name=BUS)
        pattern = json.dumps({"source": ["provenloop"], "detail": {"severity": ["high"]}})
        events.put_rule(Name="all", EventBusName=BUS, EventPattern=pattern)
        events.put_targets(Rule="all", EventBusName=BUS, Targets=[{"Id": "queue", "Arn": arn}])

        def received() -> list[dict[str, Any]]:
            messages = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", [])
            return [json.loads(message["Body"]) for message in messages]

        yield received


def test_a_rule_gets_the_kind_the_source_the_time_and_the_detail_and_can_choose_by_severity(listener: Any) -> None:
    bus = EventBridgeBus(BUS)
    sent = bus.send([waiting(1, recommendation="abc", severity="high"), waiting(2, severity="low")])
    assert sent == {"id-1", "id-2"}
    (event,) = listener()
    assert (event["source"], event["detail-type"]) == ("provenloop", "ChangeApplied")
    assert event["detail"] == {
        "id": "id-1",
        "tenant": "acme",
        "memory": "demo",
        "recommendation": "abc",
        "severity": "high",
    }


def test_requests_hold_ten_events_and_no_more_bytes_than_are_taken_and_keep_the_order() -> None:
    client = Recording()
    EventBridgeBus(BUS, client=client).send([waiting(n) for n in range(23)])
    assert [len(entries) for entries in client.requests] == [10, 10, 3]
    ids = [json.loads(entry["Detail"])["id"] for entries in client.requests for entry in entries]
    assert ids == [f"id-{n}" for n in range(23)]
    big = Recording()
    EventBridgeBus(BUS, client=big).send([waiting(n, created=["x" * (MAX_BYTES // 3)]) for n in range(5)])
    assert [len(entries) for entries in big.requests] == [2, 2, 1]


def test_what_is_refused_alone_is_not_taken() -> None:
    bus = EventBridgeBus(BUS, client=Recording(refused=("id-1",)))
    assert bus.send([waiting(0), waiting(1), waiting(2)]) == {"id-0", "id-2"}


def test_after_a_request_that_fails_nothing_more_is_tried() -> None:
    client = Recording(failing_from=2)
    assert EventBridgeBus(BUS, client=client).send([waiting(n) for n in range(35)]) == {f"id-{n}" for n in range(10)}
    assert len(client.requests) == 1


def test_a_bus_that_does_not_let_us_is_no_error() -> None:
    class Refusing:
        def put_events(self, **_: object) -> None:
            raise ClientError({"Error": {"Code": "AccessDeniedException", "Message": "no"}}, "PutEvents")

    assert EventBridgeBus(BUS, client=Refusing()).send([waiting(1)]) == frozenset()

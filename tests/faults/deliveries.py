"""SQS hands a message out again: what at-least-once means for whoever handles it.

FIFO queues drop a second *send* within five minutes, but still deliver again what was not deleted in time, and a
deletion that comes too late does not stop the second delivery.
"""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from tests.faults.canned import answer
from tests.faults.hooks import ClientHooks, Exchange, Reply

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_AGAIN = "again-"


def redelivered(event: Mapping[str, Any], picks: Sequence[int]) -> dict[str, Any]:
    """A Lambda SQS event with the picked records of an earlier one, received once more each time they are picked."""
    records = event["Records"]
    repeated = [deepcopy(records[pick]) for pick in picks]
    for times, record in enumerate(repeated, start=1):
        count = int(record["attributes"].get("ApproximateReceiveCount", "1"))
        record["attributes"]["ApproximateReceiveCount"] = str(count + 1)
        record["receiptHandle"] = f"{_AGAIN}{times}-{record['receiptHandle']}"
    return {"Records": repeated}


class RepeatedDeliveries(ClientHooks):
    """Receives of a queue give messages again that were received before, deleted or not."""

    def __init__(self, *clients: Any) -> None:
        self._seen: dict[str, list[dict[str, Any]]] = {}
        self._again: dict[str, list[dict[str, Any]]] = {}
        self._times = 0
        super().__init__(*clients)

    def again(self, count: int | None = None) -> int:
        """Have the last ``count`` messages of each queue (default: all) delivered again; how many that are."""
        for queue, messages in self._seen.items():
            picked = messages[-count:] if count else messages
            self._again.setdefault(queue, []).extend(self._once_more(message) for message in picked)
        return sum(map(len, self._again.values()))

    def before_call(self, exchange: Exchange) -> Reply | None:
        """SQS does not know the receipt handles of repeats: their deletion succeeds here."""
        if exchange.operation in ("DeleteMessage", "ChangeMessageVisibility"):
            return answer({}) if exchange.params["ReceiptHandle"].startswith(_AGAIN) else None
        if exchange.operation == "DeleteMessageBatch":
            return _without_repeats(exchange)
        return None

    def after_call(self, exchange: Exchange) -> None:
        """Add what is to be delivered again."""
        if exchange.succeeded and exchange.operation == "ReceiveMessage":
            self._deliver(exchange.params, exchange.parsed)
        if exchange.succeeded and exchange.operation == "DeleteMessageBatch":
            deleted = exchange.parsed.setdefault("Successful", [])
            named = {entry["Id"] for entry in deleted}
            deleted += [{"Id": entry["Id"]} for entry in _repeats(exchange) if entry["Id"] not in named]

    def _deliver(self, params: Mapping[str, Any], parsed: dict[str, Any]) -> None:
        queue = params["QueueUrl"]
        fresh = parsed.get("Messages", [])
        waiting = self._again.get(queue, [])
        room = max(params.get("MaxNumberOfMessages", 1) - len(fresh), 0)
        repeats, self._again[queue] = waiting[:room], waiting[room:]
        self._seen.setdefault(queue, []).extend(fresh)
        if fresh or repeats:
            parsed["Messages"] = fresh + repeats

    def _once_more(self, message: dict[str, Any]) -> dict[str, Any]:
        self._times += 1
        copy = deepcopy(message)
        attributes = copy.setdefault("Attributes", {})
        attributes["ApproximateReceiveCount"] = str(int(attributes.get("ApproximateReceiveCount", "1")) + 1)
        copy["ReceiptHandle"] = f"{_AGAIN}{self._times}-{copy['ReceiptHandle']}"
        return copy


def _repeats(exchange: Exchange) -> list[dict[str, Any]]:
    return [entry for entry in exchange.params["Entries"] if entry["ReceiptHandle"].startswith(_AGAIN)]


def _without_repeats(exchange: Exchange) -> Reply | None:
    repeats = _repeats(exchange)
    if len(repeats) == len(exchange.params["Entries"]):
        return answer({"Successful": [{"Id": entry["Id"]} for entry in repeats], "Failed": []})
    if repeats:
        body = json.loads(exchange.request["body"])
        body["Entries"] = [entry for entry in body["Entries"] if not entry["ReceiptHandle"].startswith(_AGAIN)]
        exchange.request["body"] = json.dumps(body).encode()
    return None

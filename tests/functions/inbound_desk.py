"""Senders of events without HTTP, on a local stack: what they put on the bus or into the inbox, and what it becomes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import StringIO
from typing import Any

import pytest
from aws_lambda_powertools.logging import Logger

from provenloop.adapters.dynamodb.rows import unpack
from provenloop.entry import telemetry
from provenloop.entry.local.stack import LocalStack
from provenloop.entry.local.tick import TickReport
from tests.functions.api import Api
from tests.functions.requests import ADMIN, ROOT

NOW = 1_800_000_000_000
ORDERS = {"name": "shop.orders", "tenant": "acme", "memories": "orders-*", "kind": "agent", "label": "order desk"}
TILL = {"name": "till", "tenant": "acme", "memories": "till"}
OTHER = {"name": "depot", "tenant": "globex", "memories": "*"}
MEMORIES = (("acme", "orders-eu"), ("acme", "till"), ("globex", "till"))


@contextmanager
def inbound_stack() -> Iterator[LocalStack]:
    """A stack with three sources, two of which send on the bus."""
    parameters = {
        "InboundSources": json.dumps([ORDERS, TILL, OTHER]),
        "BusSource1": "shop.orders",
        "BusSource2": "till",
    }
    with LocalStack(ROOT, parameters=parameters, dev_token=ADMIN, now_ms=NOW) as stack:
        yield stack


@dataclass(frozen=True)
class Desk:
    """Sends, ticks and looks."""

    stack: LocalStack

    @classmethod
    def opened(cls, stack: LocalStack) -> Desk:
        """The stack, empty but for the memories."""
        stack.reset()
        stack.set_clock(NOW)
        desk = cls(stack)
        for tenant, memory in MEMORIES:
            Api(stack).done("create_memory", {"memory": memory}, token=f"{ADMIN}@{tenant}")
        return desk

    @property
    def bucket(self) -> str:
        """The bucket of the inbox."""
        return next(str(each["Name"]) for each in self._s3.list_buckets()["Buckets"] if "inbox" in each["Name"])

    def put_event(self, source: str, detail: Mapping[str, Any], kind: str = "AgentEvents") -> None:
        """Put one event on the bus."""
        events = self.stack.aws.client("events")
        bus = next(each["Name"] for each in events.list_event_buses()["EventBuses"] if each["Name"] != "default")
        entry = {"EventBusName": bus, "Source": source, "DetailType": kind, "Detail": json.dumps(detail)}
        assert events.put_events(Entries=[entry])["FailedEntryCount"] == 0

    def put_file(self, key: str, *lines: Any) -> str:
        """Put a file into the bucket, a JSON value a line (bytes as they are); its ETag."""
        body = b"\n".join(line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines)
        etag: str = self._s3.put_object(Bucket=self.bucket, Key=key, Body=body)["ETag"]
        return etag.strip('"')

    def drop(self, name: str, *lines: Any) -> dict[str, Any]:
        """Put a file for the till's memory and let it be read; its report."""
        self.put_file(f"inbox/till/till/{name}", *lines)
        self.tick()
        return self.report(f"till/till/{name}")

    def report(self, name: str) -> dict[str, Any]:
        """The report beside a file."""
        found = self._s3.get_object(Bucket=self.bucket, Key=f"reports/{name}.report.json")
        report: dict[str, Any] = json.loads(found["Body"].read())
        return report

    def reports(self) -> list[str]:
        """The keys of all reports."""
        found = self._s3.list_objects_v2(Bucket=self.bucket, Prefix="reports/")
        return [each["Key"] for each in found.get("Contents", ())]

    def forget_reports(self) -> None:
        """Delete all reports."""
        for key in self.reports():
            self._s3.delete_object(Bucket=self.bucket, Key=key)

    def tick(self, later_ms: int = 0) -> TickReport:
        """Deliver what is waiting, some time later."""
        self.stack.set_clock(self.stack.now_ms() + later_ms)
        return self.stack.tick()

    def dead(self, queue: str) -> int:
        """How many dead letters there are."""
        return self.stack.queue_depth(f"{queue}DeadLetterQueue")

    def grains(self, tenant: str, memory: str) -> list[dict[str, Any]]:
        """The grains of a memory, as its export has them, ordered by address."""
        found: list[dict[str, Any]] = []
        query: dict[str, str] | None = None
        while True:
            token = f"{ADMIN}@{tenant}"
            answer = Api(self.stack).call("export_memory", {"memory": memory}, token=token, query=query)
            assert answer.status == 200, answer.text
            lines = [json.loads(line) for line in answer.text.splitlines()]
            found += [line["grain"] for line in lines if "grain" in line]
            cursor = lines[-1].get("cursor")
            if cursor is None:
                return found
            query = {"cursor": cursor}

    def writers(self) -> set[tuple[str, str]]:
        """(tenant, label) of everybody who has written a grain."""
        items = [item for item in self.stack.items()["Table"] if item["pk"]["S"].endswith("#GRAIN")]
        return {(item["pk"]["S"].split("#")[1], json.loads(unpack(item["doc"]["B"]))["by"]) for item in items}

    @property
    def _s3(self) -> Any:
        return self.stack.aws.client("s3")


def facts(count: int, first: int = 0) -> list[dict[str, Any]]:
    """So many different facts."""
    return [
        {"kind": "fact", "subject": f"order {number}", "relation": "status", "object": "shipped"}
        for number in range(first, first + count)
    ]


def calls(count: int) -> Sequence[dict[str, Any]]:
    """So many equal calls of a tool, none of which has an id."""
    return [{"kind": "tool_call", "tool": "scan", "is_error": True, "result": "no light"}] * count


def written_logs(monkeypatch: pytest.MonkeyPatch, name: str) -> Callable[[], str]:
    """Gives what is logged from now on, as it is written out."""
    written = StringIO()
    monkeypatch.setattr(telemetry, "_logger", Logger(service=name, stream=written, location=None))
    return written.getvalue

"""The bus on EventBridge: what happened in the loop, for whoever wants to act on it.

Callers wait for it after a decision, so it is given little time: what it does not take at once is published by the next
sweep of the outbox.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import botocore.session
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from provenloop.domain.bus_events import told
from provenloop.services.bus_port import Waiting

SOURCE = "provenloop"
#: PutEvents takes so many entries and bytes at once; the bytes leave room for what an entry has beside its detail.
MAX_ENTRIES = 10
MAX_BYTES = 200_000
_ENTRY_BYTES = 200
_CONFIG = Config(connect_timeout=2, read_timeout=3, retries={"mode": "standard", "total_max_attempts": 2})

Entry = dict[str, Any]


class EventBridgeBus:
    """Implements ``services.bus_port.EventBus`` on one event bus."""

    def __init__(self, name: str, *, client: Any = None) -> None:
        self._name = name
        self._client: Any = client or botocore.session.get_session().create_client("events", config=_CONFIG)

    def send(self, waiting: Sequence[Waiting]) -> frozenset[str]:
        """See ``EventBus``. After the first request that fails nothing more is tried."""
        taken: set[str] = set()
        for batch in _batches(waiting, self._name):
            try:
                answer = self._client.put_events(Entries=[entry for _, entry in batch])
            except (ClientError, BotoCoreError):
                break
            results = zip(batch, answer["Entries"], strict=True)
            taken.update(event_id for (event_id, _), result in results if "ErrorCode" not in result)
        return frozenset(taken)


def _batches(waiting: Sequence[Waiting], bus: str) -> Iterator[list[tuple[str, Entry]]]:
    """Entries in order, as many at once as a request may hold."""
    batch: list[tuple[str, Entry]] = []
    size = 0
    for each in waiting:
        entry = _entry(each, bus)
        length = len(entry["Detail"].encode()) + _ENTRY_BYTES
        if batch and (len(batch) == MAX_ENTRIES or size + length > MAX_BYTES):
            yield batch
            batch, size = [], 0
        batch.append((each.event.id, entry))
        size += length
    if batch:
        yield batch


def _entry(waiting: Waiting, bus: str) -> Entry:
    detail = told(waiting.memory, waiting.event)
    return {
        "EventBusName": bus,
        "Source": SOURCE,
        "DetailType": waiting.event.kind,
        "Detail": json.dumps(detail, ensure_ascii=False, separators=(",", ":")),
        "Time": datetime.fromtimestamp(waiting.event.at // 1000, UTC),
    }

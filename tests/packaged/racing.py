"""A memory on the emulator's DynamoDB alone, for people who act at once, in threads; nothing is deployed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Barrier, local
from typing import Any, TypeVar

import pytest

from provenloop.adapters.dynamodb.rows import Row
from provenloop.adapters.dynamodb.store import DynamoStore
from provenloop.entry.wiring import jittered_pause
from tests.builders import Desk
from tests.faults.hooks import ClientHooks, Exchange
from tests.faults.tables import make_table
from tests.packaged.emulator import REGION, ROOT_KEYS, Emulator

TABLE = "races"
PATIENCE_S = 60

T = TypeVar("T")


def act_as_root(emulator: Emulator, patch: pytest.MonkeyPatch) -> None:
    """Have adapters in this process reach the emulator, as the account's root."""
    patch.setenv("AWS_ENDPOINT_URL", emulator.endpoint)
    patch.setenv("AWS_DEFAULT_REGION", REGION)
    patch.delenv("AWS_SESSION_TOKEN", raising=False)
    for name, value in ROOT_KEYS.items():
        patch.setenv(name, value)
    patch.setattr(Row, "_connection", None)


@contextmanager
def raced_memory(emulator: Emulator) -> Iterator[Desk]:
    """A new memory on a table that takes transactions as they come."""
    client = emulator.client("dynamodb")
    make_table(client, TABLE)
    yield Desk(DynamoStore(TABLE, REGION, pause=jittered_pause)).open()
    client.delete_table(TableName=TABLE)


class _AllHaveRead(ClientHooks):
    """Holds the first transaction of each thread until every thread has come so far."""

    def __init__(self, client: Any, count: int) -> None:
        self._gate = Barrier(count, timeout=PATIENCE_S)
        self._passed = local()
        super().__init__(client)

    def before_call(self, exchange: Exchange) -> None:
        if exchange.operation == "TransactWriteItems" and not hasattr(self._passed, "gate"):
            self._passed.gate = True
            self._gate.wait()


def at_once(desk: Desk, count: int, act: Callable[[int], T]) -> list[T]:
    """What ``act`` gives to each of so many, by number, who all have read before the first writes."""
    with _AllHaveRead(desk.client, count), ThreadPoolExecutor(count) as threads:
        return list(threads.map(act, range(count)))

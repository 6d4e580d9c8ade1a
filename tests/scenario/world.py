"""A memory on a small moto table with a stepped clock, driven through the services, and what can be seen of it.

Two worlds that were told the same are compared by :meth:`World.seen`: grains with their counters, rollups, open
recommendations. Times of arrival are left out, since faults and retries move them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from typing import Any

import boto3

from provenloop.adapters.dynamodb import keys, table
from provenloop.adapters.dynamodb.items import entity_of
from provenloop.adapters.dynamodb.rows import Row
from provenloop.adapters.dynamodb.store import DynamoStore
from provenloop.domain.errors import LoopError
from provenloop.domain.events import Event
from provenloop.domain.grain import Grain
from provenloop.domain.names import MemoryId
from provenloop.domain.principal import Principal
from provenloop.domain.rollup import SignatureDay, ToolDay
from provenloop.domain.use_events import Report
from provenloop.services.analyze_memory import run_pass
from provenloop.services.call import Call
from provenloop.services.ingest import record_events
from provenloop.services.memories import create_memory
from provenloop.services.pass_gate import PassOptions
from tests.faults import unobserved
from tests.faults.tables import TABLE, make_table

NOW = 1_800_000_000_000
MINUTE_MS = 60_000
MEMORY = MemoryId("acme", "demo")
ADMIN = Principal("p-admin", "admin", "human", "acme", "*", frozenset({"admin"}), "tok-admin", ("p-admin",))


@dataclass(frozen=True)
class Sent:
    """One request of an agent: its Idempotency-Key and its events."""

    key: str
    events: tuple[Event | Report, ...]


@dataclass
class World:
    """One memory and everybody who writes to it."""

    now: int = NOW
    store: DynamoStore = field(default_factory=lambda: DynamoStore(TABLE, "us-east-1", pause=lambda _attempt: None))
    _requests: Any = field(default_factory=lambda: itertools.count(1))

    @property
    def client(self) -> Any:
        """The botocore client every call of the store goes through."""
        return table.connection().client

    def call(self, key: str | None = None) -> Call:
        """A request of the admin, one millisecond after the last."""
        self.now += 1
        number = next(self._requests)

        def entropy(size: int) -> bytes:
            return sha256(f"entropy {number} {size}".encode()).digest()[:size]

        return Call(ADMIN, MEMORY, self.now, f"request-{number}", key, entropy)

    def open(self) -> None:
        """Make the memory; its key is the same in every world."""
        number = itertools.count(1)
        self._requests = number
        create_memory(self.store, self.call())

    def send(self, sent: Sent, tries: int = 1) -> dict[str, Any]:
        """Send a request as a client does: again, with its key, when the answer is an outside reason."""
        for attempt in range(1, tries + 1):
            try:
                return record_events(self.store, self.call(sent.key), sent.events)
            except LoopError as error:
                if not error.retryable or attempt == tries:
                    raise
        raise AssertionError("at least one try")

    def run(self, options: PassOptions | None = None) -> dict[str, Any]:
        """Run a pass."""
        call = self.call()
        return run_pass(self.store, call, options or PassOptions(), run_id=f"run-{call.request_id}")

    def settle(self, sent: Sequence[Sent]) -> None:
        """What happens after any trouble: clients send again what they have no answer for, holes and leases run out."""
        for request in sent:
            self.send(request, tries=3)
        for _ in range(2):
            self.now += 20 * MINUTE_MS
            self.run()

    def seen(self) -> dict[str, Any]:
        """Everything that must not depend on faults, retries or the order of writers and passes."""
        with unobserved():
            rows = [row for item_class in ("GRAIN", "INDEX") for row in table.query(keys.partition(MEMORY, item_class))]
            recs = list(self.store.all_recommendations(MEMORY))
            heads = self.store.heads(MEMORY)
        assert heads is not None
        folds = heads.folds
        return {
            **_by_kind([entity_of(row) for row in rows if not row.sk.startswith(("D#", "H#"))]),
            "open": sorted(
                (rec.analyzer, rec.dedup_key, rec.status, rec.severity, rec.count, sorted(rec.evidence))
                for rec in recs
                if rec.status == "pending"
            ),
            "all_folded": folds.folded == folds.analyzed == heads.log.seq and not folds.holes and not folds.partial,
            "lease": folds.lease_owner,
        }


def _by_kind(entities: Sequence[Any]) -> dict[str, Any]:
    grains = [entity for entity in entities if isinstance(entity, Grain)]
    days = [entity for entity in entities if isinstance(entity, ToolDay)]
    signatures = [entity for entity in entities if isinstance(entity, SignatureDay)]
    return {
        "grains": sorted((g.address, g.state, g.stated, g.superseded_by or "", str(dict(g.body))) for g in grains),
        "tool_days": sorted((d.tool_key, d.day, d.calls, d.errors, d.signatures, d.sample) for d in days),
        "signature_days": sorted(
            (s.tool_key, s.day, s.signature, s.n, s.first_at, s.last_at, s.newest) for s in signatures
        ),
    }


def fresh_world() -> World:
    """A new world on an emptied table."""
    client = boto3.client("dynamodb", region_name="us-east-1")
    with unobserved():
        if TABLE in client.list_tables()["TableNames"]:
            client.delete_table(TableName=TABLE)
        make_table(client)
        world = World()
        world.open()
    return world


@cache
def undisturbed(*sent: Sent, at: int = NOW + 60 * MINUTE_MS) -> dict[str, Any]:
    """What is seen when the same requests come one after the other, and one full sweep follows at time ``at``."""
    world = fresh_world()
    for request in sent:
        world.send(request)
    world.now = at
    world.run(PassOptions(full_sweep=True))
    return world.seen()


def quietly(work: Callable[[], object]) -> Callable[[], object]:
    """An actor's work whose refusals are part of the story: a busy store, a lost race, a reply that never came."""

    def attempt() -> object:
        try:
            return work()
        except LoopError as error:
            return error.code

    return attempt


__all__ = ["MEMORY", "MINUTE_MS", "NOW", "Row", "Sent", "World", "fresh_world", "quietly", "undisturbed"]

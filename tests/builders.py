"""Short builders: events, grains, principals, calls, and a desk from which one memory is driven through the services.

Everything has a sensible default; a test names what it is about. Time stands at ``NOW`` and moves one millisecond with
every call made through a desk. Nothing here is random.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from provenloop.adapters.dynamodb import keys, table
from provenloop.adapters.dynamodb.items import entity_of, row_of
from provenloop.adapters.dynamodb.store import DynamoStore
from provenloop.domain.address import Addresses
from provenloop.domain.canonical import canonical_json
from provenloop.domain.events import (
    Event,
    FactEvent,
    FreeEvent,
    GoalEvent,
    ObservationEvent,
    SkillEvent,
    ToolCallEvent,
)
from provenloop.domain.grain import Grain
from provenloop.domain.names import MemoryId
from provenloop.domain.policy import CLOSED, Policy
from provenloop.domain.principal import Principal, PrincipalKind, Scope
from provenloop.domain.recommendation import Recommendation
from provenloop.domain.remark import Remark
from provenloop.services import apply_change, audit_trail, findings_read, ingest, memories, review, roll_back
from provenloop.services.analyze_memory import run_pass
from provenloop.services.call import Call
from provenloop.services.outside_port import NOBODY, Outside
from provenloop.services.pass_gate import PassOptions
from provenloop.services.ports import Entity
from provenloop.services.remark_index import index_remark
from tests.faults import Snapshot, take_snapshot, unobserved
from tests.faults.hooks import ClientHooks, Exchange
from tests.faults.tables import TABLE

NOW = 1_800_000_000_000
"""2027-01-15T08:00:00Z."""
MINUTE_MS = 60_000
DAY_MS = 86_400_000
MEMORY = MemoryId("acme", "demo")
KEY = bytes(range(32))


def make_principal(
    name: str = "ann",
    *scopes: Scope,
    kind: PrincipalKind = "human",
    memories: str = "*",
    minted_by: tuple[str, ...] = (),
) -> Principal:
    """Somebody of the tenant; with no scope named, an admin. ``minted_by`` are the ids behind the token."""
    return Principal(
        id=f"p-{name}",
        label=name,
        kind=kind,
        tenant=MEMORY.tenant,
        memories=memories,
        scopes=frozenset(scopes or ("admin",)),
        token_id=f"tok-{name}",
        lineage=(f"p-{name}", *minted_by),
    )


ADMIN = make_principal()


def make_call(
    principal: Principal = ADMIN,
    *,
    now: int = NOW,
    number: int = 1,
    key: str | None = None,
    body: object = None,
    memory: MemoryId = MEMORY,
) -> Call:
    """One request; ``number`` gives its request id and its random bytes."""

    def entropy(size: int) -> bytes:
        return sha256(f"entropy {number} {size}".encode()).digest()[:size]

    digest = sha256(canonical_json(body).encode()).hexdigest()
    return Call(principal, memory, now, f"request-{number}", key, entropy, digest)


def make_fact(
    value: str = "Berlin", *, subject: str = "sam", relation: str = "lives_in", namespace: str = "shared", **more: Any
) -> FactEvent:
    """``sam lives_in Berlin``."""
    return FactEvent(namespace, subject, relation, value, **more)


def make_tool_call(
    call_id: str | None = None,
    *,
    error: object = None,
    result: object = "ok",
    tool: str = "refund",
    namespace: str = "shared",
    **more: Any,
) -> ToolCallEvent:
    """A call that worked, or with ``error`` one that failed so."""
    failed = error is not None
    return ToolCallEvent(namespace, tool, failed, error if failed else result, call_id=call_id, **more)


def make_calls(
    errors: int, successes: int = 0, *, name: str = "c", error: object = "card declined", **more: Any
) -> list[Event]:
    """That many failed calls and then that many good ones, each with a call id of its own."""
    failed = [make_tool_call(f"{name}-e{index}", error=error, **more) for index in range(errors)]
    return [*failed, *(make_tool_call(f"{name}-s{index}", **more) for index in range(successes))]


def make_observation(text: str = "the door was open", *, namespace: str = "shared", **more: Any) -> ObservationEvent:
    """Something noted."""
    return ObservationEvent(namespace, text, **more)


def make_skill(name: str = "refunds", *, namespace: str = "shared", **more: Any) -> SkillEvent:
    """A skill, its first revision."""
    return SkillEvent(namespace, name, **more)


def make_goal(name: str = "answer within a day", *, namespace: str = "shared", **more: Any) -> GoalEvent:
    """A goal of which only the name is given."""
    return GoalEvent(namespace, name, **more)


def make_free_event(body: Any = "thanks", event_id: str | None = None, **more: Any) -> FreeEvent:
    """Something else that happened."""
    return FreeEvent(more.pop("namespace", "shared"), body, event_id, **more)


def make_grain(
    value: str = "Berlin",
    *,
    subject: str = "sam",
    relation: str = "lives_in",
    namespace: str = "shared",
    address: str | None = None,
    at: int = NOW - DAY_MS,
    **more: Any,
) -> Grain:
    """A stored fact; its address is made of its texts, but not as the product makes it."""
    named = address or sha256(f"{namespace}|{subject}|{relation}|{value}".encode()).hexdigest()
    body = {"subject": subject, "relation": relation, "object": value, **more.pop("body", {})}
    fields: dict[str, Any] = {"recorded_at": at, "last_stated_at": at, "seq": 1, "by": "ann", **more}
    return Grain(address=named, kind="fact", namespace=namespace, body=body, **fields)


class CallCounter(ClientHooks):
    """Names of the AWS calls made while it is on, and the keys that queries asked for."""

    def __init__(self, client: Any) -> None:
        self.names: list[str] = []
        super().__init__(client)

    def before_call(self, exchange: Exchange) -> None:
        self.names.append(exchange.operation)


@dataclass
class Desk:
    """One memory on a table, and a clock that moves one millisecond with every call."""

    store: DynamoStore
    now: int = NOW
    principal: Principal = ADMIN
    memory: MemoryId = MEMORY
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    policy: Policy = CLOSED
    outside: Outside = NOBODY

    def open(self) -> Desk:
        """Make the memory."""
        memories.create_memory(self.store, self.call())
        return self

    def call(self, *, by: Principal | None = None, key: str | None = None, body: object = None) -> Call:
        """A request of the desk's principal, or of ``by``."""
        self.now += 1
        return make_call(
            by or self.principal, now=self.now, number=next(self.numbers), key=key, body=body, memory=self.memory
        )

    def record(self, *events: Event, key: str | None = None) -> dict[str, Any]:
        """Send events in one request."""
        return ingest.record_events(self.store, self.call(key=key), events)

    def statuses(self, *events: Event, key: str | None = None) -> list[str]:
        """Send events, and tell what became of each."""
        return [answer["status"] for answer in self.record(*events, key=key)["events"]]

    def run(self, *, at: int | None = None, by: Principal | None = None, **options: Any) -> dict[str, Any]:
        """Run a pass, at ``at`` if given, under the desk's policy and with whom it may ask."""
        self.now = self.now if at is None else at
        call = self.call(by=by)
        return run_pass(
            self.store,
            call,
            PassOptions(**options),
            run_id=f"run-{call.request_id}",
            policy=self.policy,
            outside=self.outside,
        )

    def queue(self, status: str = "pending", **filters: Any) -> list[dict[str, Any]]:
        """The review queue's first page of one status, ``open`` or ``all``."""
        found: list[dict[str, Any]] = findings_read.list_recommendations(
            self.store, self.call(), status=status, **filters
        )["recommendations"]
        return found

    def only(self, status: str = "pending") -> dict[str, Any]:
        """The one recommendation of that status."""
        [found] = self.queue(status)
        return found

    def finding(self, family: str, status: str = "pending") -> str:
        """The id of the one recommendation of an analyzer's family (without ``loop.``) in that status."""
        [row] = self.queue(status, analyzer=f"loop.{family}")
        return str(row["id"])

    def recommendation(self, rec_id: str) -> Recommendation:
        """A recommendation as stored."""
        return self.store.recommendations(self.memory, [rec_id])[rec_id]

    def approve(
        self, rec_id: str, because: str = "looks right", *, key: str | None = None, **more: Any
    ) -> dict[str, Any]:
        """Approve."""
        return review.approve(self.store, self.call(key=key), rec_id, because, **more)

    def reject(
        self, rec_id: str, because: str = "not for us", *, key: str | None = None, **more: Any
    ) -> dict[str, Any]:
        """Reject, or withdraw."""
        return review.reject(self.store, self.call(key=key), rec_id, because, **more)

    def apply(self, rec_id: str, because: str = "do it", *, key: str | None = None, **more: Any) -> dict[str, Any]:
        """Apply what is approved."""
        return apply_change.apply(self.store, self.call(key=key), rec_id, because, **more)

    def approve_and_apply(
        self, rec_id: str, because: str = "right, do it", *, key: str | None = None, **more: Any
    ) -> dict[str, Any]:
        """Both at once."""
        return apply_change.approve_and_apply(self.store, self.call(key=key), rec_id, because, **more)

    def verify(self) -> None:
        """Insist that the audit trail holds."""
        assert audit_trail.verify(self.store, self.call())["break"] is None

    def roll_back(self, rec_id: str, because: str = "it did harm", *, key: str | None = None) -> dict[str, Any]:
        """Undo."""
        return roll_back.roll_back(self.store, self.call(key=key), rec_id, because)

    def grains(self) -> dict[str, Grain]:
        """Every grain by address."""
        rows = table.query(keys.partition(self.memory, "GRAIN"))
        return {grain.address: grain for grain in map(entity_of, rows) if isinstance(grain, Grain)}

    def facts(self, subject: str = "sam", *, state: str = "current") -> dict[str, Grain]:
        """The facts about a subject by value."""
        return {
            str(grain.body["object"]): grain
            for grain in self.grains().values()
            if grain.kind == "fact" and grain.body["subject"] == subject and grain.state == state
        }

    def remarks(self) -> list[Remark]:
        """Everything that somebody outside said, erased or not, oldest first."""
        rows = table.query(keys.partition(self.memory, "LOOP"))
        return sorted((row for row in map(entity_of, rows) if isinstance(row, Remark)), key=lambda row: row.at)

    def say(self, *remarks: Remark) -> None:
        """Plant remarks where the index leads to them."""
        heads = self.store.heads(self.memory)
        assert heads is not None
        for remark in remarks:
            index_remark(self.store, self.memory, Addresses(heads.log.key), remark, self.now)
        self.plant(*remarks)

    def plant(self, *entities: Entity) -> None:
        """Write items straight into the table, behind every condition: quick, for tests that only read them."""
        plant(self.client, self.memory, entities)

    @property
    def client(self) -> Any:
        """The botocore client behind the store."""
        return table.connection().client

    def snapshot(self) -> Snapshot:
        """Every item of the table."""
        return take_snapshot(self.client, TABLE)

    @contextmanager
    def counted(self) -> Iterator[list[str]]:
        """The names of the AWS calls made inside."""
        with CallCounter(self.client) as counter:
            yield counter.names


def plant(client: Any, memory: MemoryId, entities: Sequence[Entity]) -> None:
    """Write the entities' items into the table, 25 at a time."""
    put_items(client, [row_of(memory, entity).serialize() for entity in entities])


def put_items(client: Any, items: Sequence[Any]) -> None:
    """Write items into the table, 25 at a time."""
    puts = [{"PutRequest": {"Item": item}} for item in items]
    with unobserved():
        for start in range(0, len(puts), 25):
            client.batch_write_item(RequestItems={TABLE: puts[start : start + 25]})


def by_address(answers: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Status by address, of an ingest answer's events."""
    return {answer["address"]: answer["status"] for answer in answers}


def grain_of(desk: Desk, event: Event) -> Grain:
    """The grain that an event, recorded now, becomes or is."""
    [address] = addresses(desk.record(event))
    return desk.grains()[address]


def addresses(answer: Mapping[str, Any]) -> list[str]:
    """The addresses of an ingest answer, in order."""
    return [event["address"] for event in answer["events"]]


Work = Callable[[], object]
Events = Sequence[Event]

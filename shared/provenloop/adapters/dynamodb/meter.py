"""Counts round trips, capacity units and bytes of a client's calls, from the sizes of what went over the wire.

Hangs on botocore's public events and changes nothing, so it may stay on in production: while no measurement is open
it does no work at all, and sizes are remembered only from calls inside one.

Where an exact size cannot be seen, it is estimated, and the call is counted as ``estimated``:

* an update or delete of an item this process has not seen: the size of its key and of the values written;
* a put without a condition over an item not seen: the size of the new one;
* a query with a filter or a projection: the average of what came back, or the sizes remembered.

A put whose condition asks for absence is taken to meet nothing, and a refused or cancelled write to cost as much as
the write itself (AWS bills it by the larger item). Throttled calls cost nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from provenloop.adapters.dynamodb.costs import Cost, Costing
from provenloop.adapters.dynamodb.shapes import Shapes
from provenloop.adapters.dynamodb.units import IndexSpec

_PARAMS = "provenloop.meter.params"

#: Price in US dollars of a million request units on demand, us-east-1, since November 2024.
READ_PRICE = 0.125
WRITE_PRICE = 0.625


@dataclass(slots=True)
class Usage:
    """What was used while a measurement was open.

    ``calls`` counts answered and failed calls by operation; ``retries`` further attempts inside the client;
    ``estimated`` the calls whose cost is partly guessed; ``unmeasured`` those the meter could not read.
    """

    calls: Counter[str] = field(default_factory=Counter)
    costs: dict[str, Cost] = field(default_factory=dict)
    retries: int = 0
    estimated: int = 0
    unmeasured: int = 0

    @property
    def round_trips(self) -> int:
        """Calls of every operation."""
        return self.calls.total()

    @property
    def reads(self) -> float:
        """Read units."""
        return sum(cost.reads for cost in self.costs.values())

    @property
    def writes(self) -> int:
        """Write units, those of the indexes included."""
        return sum(cost.writes for cost in self.costs.values())

    @property
    def bytes_read(self) -> int:
        """Bytes the read units stand for."""
        return sum(cost.bytes_read for cost in self.costs.values())

    @property
    def bytes_written(self) -> int:
        """Bytes the write units stand for."""
        return sum(cost.bytes_written for cost in self.costs.values())

    def dollars(self, read_price: float = READ_PRICE, write_price: float = WRITE_PRICE) -> float:
        """Cost on demand, at prices for a million units."""
        return (self.reads * read_price + self.writes * write_price) / 1_000_000

    def add(self, operation: str, cost: Cost) -> None:
        """Count one call."""
        self.calls[operation] += 1
        self.estimated += not cost.exact
        self.costs.setdefault(operation, Cost()).add(cost)


_open: ContextVar[tuple[tuple[Meter, Usage], ...]] = ContextVar("open_measurements", default=())


class Meter:
    """Measures the calls of some DynamoDB clients.

    Args:
        clients: botocore clients (pynamodb's is ``Connection.client``).
        indexes: the table's global secondary indexes, whose writes are billed too.
        capacity: how many items to remember sizes of.
    """

    def __init__(self, *clients: Any, indexes: Iterable[IndexSpec] = (), capacity: int = 4096) -> None:
        self.shapes = Shapes(indexes, capacity)
        self._costing = Costing(self.shapes)
        self._clients = clients
        for client in clients:
            events = client.meta.events
            events.register("before-parameter-build.dynamodb", self._keep)
            # First, so that the call is counted even where another handler then raises.
            events.register_first("after-call.dynamodb", self._answered)
            events.register_first("after-call-error.dynamodb", self._failed)

    def remove(self) -> None:
        """Stop measuring."""
        for client in self._clients:
            client.meta.events.unregister("before-parameter-build.dynamodb", self._keep)
            client.meta.events.unregister("after-call.dynamodb", self._answered)
            client.meta.events.unregister("after-call-error.dynamodb", self._failed)

    @contextmanager
    def measure(self) -> Iterator[Usage]:
        """What the calls made inside use. Measurements may be nested, or open in several contexts at once."""
        usage = Usage()
        token = _open.set((*_open.get(), (self, usage)))
        try:
            yield usage
        finally:
            _open.reset(token)

    def _usages(self) -> Iterator[Usage]:
        return (usage for meter, usage in _open.get() if meter is self)

    def _keep(self, params: Mapping[str, Any], context: dict[str, Any], **_: Any) -> None:
        context[_PARAMS] = params

    def _answered(self, parsed: Mapping[str, Any], model: Any, context: Mapping[str, Any], **_: Any) -> None:
        open_usages = tuple(self._usages())
        if not open_usages:
            return
        cost: Cost | None
        try:
            cost = self._costing.of(model.name, context[_PARAMS], parsed)
        except Exception:  # noqa: BLE001  the call is done: a fault in counting it must not undo that
            cost = None
        for usage in open_usages:
            usage.retries += parsed.get("ResponseMetadata", {}).get("RetryAttempts", 0)
            usage.unmeasured += cost is None
            usage.add(model.name, cost or Cost(exact=False))

    def _failed(self, context: Mapping[str, Any], event_name: str, **_: Any) -> None:
        del context
        for usage in self._usages():
            usage.add(event_name.rpartition(".")[2], Cost(exact=False))

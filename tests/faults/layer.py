"""The fault layer: counts the AWS calls of some clients and lets a plan of faults strike them.

A process that crashed stays dead: whatever its ``finally`` blocks still call raises ``Crash`` again and reaches
nothing, until ``restart()`` or the end of the ``with layer.faults(...)`` in which it died.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ConnectionClosedError, ReadTimeoutError

from tests.faults import canned
from tests.faults.calls import Call, describe, process_name
from tests.faults.hooks import ClientHooks, Exchange, Reply, register_retry, unregister_retry
from tests.faults.plan import Crash, Fault, Kind, Plan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_STRUCK = "faults.struck"


class FaultLayer(ClientHooks):
    """Strikes the calls of its clients as planned; without a plan it only records.

    ``calls`` holds every call since the plan was last set, ``fired`` the faults that struck.
    """

    def __init__(self, *clients: Any) -> None:
        self.calls: list[Call] = []
        self.fired: list[tuple[Call, Fault]] = []
        self._plan = Plan()
        self._dead: set[str] = set()
        super().__init__(*clients)
        for client in clients:
            register_retry(client, self._on_attempt)

    def remove(self) -> None:
        """Take the layer off its clients."""
        super().remove()
        for client in self.clients:
            unregister_retry(client, self._on_attempt)

    def arm(self, *faults: Fault) -> None:
        """Set the plan (none: count only), forget the calls so far, and bring dead processes back."""
        self._plan = Plan(faults)
        self.calls.clear()
        self.fired.clear()
        self._dead.clear()

    @contextmanager
    def faults(self, *faults: Fault) -> Iterator[FaultLayer]:
        """The plan holds inside the ``with``; ``calls`` and ``fired`` can be read afterwards."""
        self.arm(*faults)
        try:
            yield self
        finally:
            self._plan = Plan()
            self._dead.clear()

    def count(self, run: Callable[[], object]) -> list[Call]:
        """Run without faults, and give the calls that were made."""
        with self.faults():
            run()
        return list(self.calls)

    def survives(self, run: Callable[[], object], *faults: Fault) -> bool:
        """Run under the plan; whether it ended without ``Crash``. Other exceptions come through."""
        with self.faults(*faults):
            try:
                run()
            except Crash:
                return False
        return True

    def restart(self, process: str | None = None) -> None:
        """A new process takes the place of a dead one (default: of the caller's)."""
        self._dead.discard(process or process_name.get())

    def before_call(self, exchange: Exchange) -> Reply | None:
        """Record the call and let a fault that is due strike it."""
        if process_name.get() in self._dead:
            raise Crash(f"{process_name.get()} is dead and cannot call {exchange.operation}")
        call = describe(len(self.calls) + 1, exchange.operation, exchange.params)
        self.calls.append(call)
        fault = self._plan.due(call)
        if fault is None:
            return None
        exchange.context[_STRUCK] = (call, fault, exchange.params)
        self.fired.append((call, fault))
        return self._strike(call, fault, exchange.request)

    def after_call(self, exchange: Exchange) -> None:
        """What strikes once AWS has answered."""
        if _STRUCK not in exchange.context:
            return
        call, fault, _ = exchange.context[_STRUCK]
        if fault.kind is Kind.CRASH_AFTER:
            raise self._death(call)
        if fault.kind is Kind.LOST_REPLY:
            raise ConnectionClosedError(endpoint_url=self.clients[0].meta.endpoint_url)
        if fault.kind is Kind.LATE_SERVER_ERROR:
            raise canned.failure_of(call.operation)
        if fault.kind is Kind.UNPROCESSED and exchange.succeeded:
            _hand_back(call, fault.keep, exchange.parsed)

    def _strike(self, call: Call, fault: Fault, request: dict[str, Any]) -> Reply | None:
        match fault.kind:
            case Kind.CRASH_BEFORE:
                raise self._death(call)
            case Kind.LOST_REQUEST:
                raise ReadTimeoutError(endpoint_url=self.clients[0].meta.endpoint_url)
            case Kind.THROTTLE:
                return canned.refusal(fault.code)
            case Kind.SERVER_ERROR:
                return canned.failure()
            case Kind.CONFLICT:
                return canned.conflict_of(call.params, fault.item)
            case Kind.UNPROCESSED:
                _cut(request, fault.keep)
        return None

    def _death(self, call: Call) -> Crash:
        self._dead.add(call.process)
        return Crash(f"at {call}")

    def _on_attempt(self, response: Any, attempts: int, request_dict: dict[str, Any], **_: Any) -> float | None:
        _, fault, params = request_dict["context"].get(_STRUCK, (None, None, {}))
        if attempts > 1 or fault is None or fault.kind is not Kind.RESENT:
            return None
        done = response is not None and response[0].status_code < 300
        # botocore gives every TransactWriteItems a token, so AWS answers the second attempt without doing it again.
        return None if done and "ClientRequestToken" in params else 0.0


def _entries(wanted: Any) -> list[Any]:
    """The list of keys (batch get) or of requests (batch write) of one table."""
    entries: list[Any] = wanted["Keys"] if isinstance(wanted, dict) else wanted
    return entries


def _cut(request: dict[str, Any], keep: int) -> None:
    body = json.loads(request["body"])
    left = max(keep, 1)
    for table, wanted in list(body["RequestItems"].items()):
        entries = _entries(wanted)
        del entries[left:]
        left -= len(entries)
        if not entries:
            del body["RequestItems"][table]
    request["body"] = json.dumps(body).encode()


def _hand_back(call: Call, keep: int, parsed: dict[str, Any]) -> None:
    left = max(keep, 1)
    rest: dict[str, Any] = {}
    for table, wanted in call.params["RequestItems"].items():
        entries = _entries(wanted)
        if entries[left:]:
            rest[table] = {**wanted, "Keys": entries[left:]} if isinstance(wanted, dict) else entries[left:]
        left = max(left - len(entries), 0)
    parsed["UnprocessedKeys" if call.operation == "BatchGetItem" else "UnprocessedItems"] = rest

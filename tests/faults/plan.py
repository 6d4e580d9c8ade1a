"""Which fault strikes which call.

A fault counts the calls that match its operation and predicate, and strikes the ``nth`` of them and the ``times - 1``
after it. Where AWS could not answer like that to the operation (a transaction conflict on a query), it does not
strike; so ``range(1, calls + 1)`` may be tried with every kind.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from tests.faults.calls import Call

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

When = Callable[[Call], bool]

_TRANSACTIONS = frozenset({"TransactWriteItems", "TransactGetItems"})
_CONFLICTING = _TRANSACTIONS | {"PutItem", "UpdateItem", "DeleteItem"}
_BATCHES = frozenset({"BatchGetItem", "BatchWriteItem"})


class Crash(BaseException):
    """The process died here. Not an ``Exception``, so that no handler of the code under test survives it."""


class Kind(Enum):
    """What goes wrong."""

    CRASH_BEFORE = "the process dies before the call is sent"
    CRASH_AFTER = "the process dies after AWS has done the call"
    LOST_REQUEST = "the call times out and was never done"
    LOST_REPLY = "the call was done and the caller sees a broken connection"
    RESENT = "the first reply was lost inside the client, which sent the request again"
    THROTTLE = "AWS refuses: too many requests"
    SERVER_ERROR = "AWS fails, and the call was not done"
    LATE_SERVER_ERROR = "AWS fails once the call was done"
    CONFLICT = "AWS refuses: another transaction is under way on an item"
    UNPROCESSED = "AWS does a part of a batch and hands the rest back"

    def possible(self, operation: str) -> bool:
        """Whether AWS could treat this operation so."""
        if self is Kind.CONFLICT:
            return operation in _CONFLICTING
        return operation in _BATCHES if self is Kind.UNPROCESSED else True


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault of a plan.

    Args:
        kind: what goes wrong.
        nth: which of the matching calls is struck first, from 1.
        operation: only calls of this operation match, for example ``UpdateItem``.
        when: only calls for which this holds match.
        times: how many matching calls in a row are struck; ``None``: all from there on.
        code: error code of a throttle.
        item: position of the item a transaction conflicts on.
        keep: how many entries of a batch are done (at least one: AWS throttles rather than do none).
    """

    kind: Kind
    nth: int = 1
    operation: str | None = None
    when: When | None = None
    times: int | None = 1
    code: str = "ThrottlingException"
    item: int = 0
    keep: int = 1

    def matches(self, call: Call) -> bool:
        """Whether the call counts for this fault."""
        return self.operation in (None, call.operation) and (self.when is None or self.when(call))

    def strikes(self, count: int) -> bool:
        """Whether the ``count``-th matching call is struck."""
        return count >= self.nth and (self.times is None or count < self.nth + self.times)


@dataclass(slots=True)
class Plan:
    """Faults with the number of calls each has counted so far."""

    faults: tuple[Fault, ...] = ()
    counts: dict[int, int] = field(default_factory=dict)

    def due(self, call: Call) -> Fault | None:
        """Count the call, and give the first fault that strikes it."""
        found = None
        for place, fault in enumerate(self.faults):
            if fault.matches(call):
                count = self.counts[place] = self.counts.get(place, 0) + 1
                if found is None and fault.strikes(count) and fault.kind.possible(call.operation):
                    found = fault
        return found


def crash_before(nth: int = 1, operation: str | None = None, when: When | None = None) -> Fault:
    """The process dies before the nth call is sent."""
    return Fault(Kind.CRASH_BEFORE, nth, operation, when)


def crash_after(nth: int = 1, operation: str | None = None, when: When | None = None) -> Fault:
    """The process dies after AWS has done the nth call."""
    return Fault(Kind.CRASH_AFTER, nth, operation, when)


def lost_request(nth: int = 1, operation: str | None = None, when: When | None = None, times: int | None = 1) -> Fault:
    """The nth call ends in ``ReadTimeoutError`` and was not done."""
    return Fault(Kind.LOST_REQUEST, nth, operation, when, times)


def lost_reply(nth: int = 1, operation: str | None = None, when: When | None = None, times: int | None = 1) -> Fault:
    """The nth call is done (or refused) and ends in ``ConnectionClosedError``."""
    return Fault(Kind.LOST_REPLY, nth, operation, when, times)


def resent(nth: int = 1, operation: str | None = None, when: When | None = None, times: int | None = 1) -> Fault:
    """The client sends the nth call twice, and the caller sees the second reply.

    A ``TransactWriteItems`` that succeeded is not done again: botocore sends a client token, so AWS would not either.
    """
    return Fault(Kind.RESENT, nth, operation, when, times)


def throttle(
    nth: int = 1,
    operation: str | None = None,
    when: When | None = None,
    times: int | None = 1,
    code: str = "ThrottlingException",
) -> Fault:
    """The nth call is refused with ``code``; ``ProvisionedThroughputExceededException`` is the other one in use."""
    return Fault(Kind.THROTTLE, nth, operation, when, times, code=code)


def server_error(nth: int = 1, operation: str | None = None, when: When | None = None, times: int | None = 1) -> Fault:
    """The nth call ends in a status of 500 and was not done."""
    return Fault(Kind.SERVER_ERROR, nth, operation, when, times)


def late_server_error(
    nth: int = 1, operation: str | None = None, when: When | None = None, times: int | None = 1
) -> Fault:
    """The nth call is done (or refused) and ends in a status of 500."""
    return Fault(Kind.LATE_SERVER_ERROR, nth, operation, when, times)


def conflict(
    nth: int = 1, operation: str | None = None, when: When | None = None, times: int | None = 1, item: int = 0
) -> Fault:
    """The nth call meets another transaction on its item number ``item``.

    A transaction ends in ``TransactionCanceledException`` with the reasons, a single write in
    ``TransactionConflictException``.
    """
    return Fault(Kind.CONFLICT, nth, operation, when, times, item=item)


def unprocessed(
    nth: int = 1, operation: str | None = None, when: When | None = None, times: int | None = 1, keep: int = 1
) -> Fault:
    """Only the first ``keep`` entries of the nth batch get or batch write are done."""
    return Fault(Kind.UNPROCESSED, nth, operation, when, times, keep=keep)


def single_faults(calls: Iterable[Call], kinds: Iterable[Kind] = tuple(Kind)) -> Iterator[Fault]:
    """Every way one fault of these kinds can strike a run that made these calls."""
    listed = tuple(calls)
    for kind in kinds:
        yield from (Fault(kind, n) for n, call in enumerate(listed, start=1) if kind.possible(call.operation))

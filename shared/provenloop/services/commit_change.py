"""Decisions that change grains: reserve a number in the log, then one transaction.

Everything that can be refused is refused before the number is reserved. What is left are races: a grain that turned
out to be there is built in, a number that was given up is replaced, anything else is a lost race.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from provenloop.domain.address import Addresses
from provenloop.domain.commit import LogEntry
from provenloop.domain.errors import BusyError
from provenloop.services.call import Call
from provenloop.services.decision import Decision, lost_race
from provenloop.services.log_number import given_back_if_refused, next_slot
from provenloop.services.memories import unknown_memory
from provenloop.services.ports import Failure, Put, Reservation, Store, Write, WriteRefusedError
from provenloop.services.replay import answered_before, replay_of

Refused = Literal["again", "lost"]
_MAX_ROUNDS = 5


def commit_change(
    store: Store,
    call: Call,
    route: str,
    prepare: Callable[[], None],
    build: Callable[[int, Addresses], Decision],
    learn: Callable[[Sequence[Failure]], Refused],
) -> dict[str, Any]:
    """Check, reserve, write; the decision's answer.

    Args:
        prepare: reads and checks; whatever it raises is the answer, unless this request was answered before.
        build: the transaction for a number of the log.
        learn: takes in what a refused transaction found, or raises.

    Raises:
        LoopError: refused; nothing was written.
    """
    with answered_before(store, call, route) as earlier:
        prepare()
    if earlier.reply is not None:
        return earlier.reply
    for _ in range(_MAX_ROUNDS):
        seq, addresses = _reserve(store, call)
        with answered_before(store, call, route) as earlier, given_back_if_refused(store, call, seq):
            decision = build(seq, addresses)
            refusal = _write(store, call, route, decision)
            if refusal is None:
                return dict(decision.reply)
            _judge(refusal, learn)
        if earlier.reply is not None:
            return earlier.reply
    raise BusyError("other writers keep changing the same grains; try again")


def _reserve(store: Store, call: Call) -> tuple[int, Addresses]:
    """A number that counts no new grains: what the loop itself writes does not wake it."""
    wanted = Reservation(0, 0, frozenset(), call.now, next_slot(call.now))
    head = store.reserve(call.memory, wanted)
    if head is None:
        raise unknown_memory()
    return head.seq, Addresses(head.key)


def _write(store: Store, call: Call, route: str, decision: Decision) -> WriteRefusedError | None:
    writes: list[Write] = list(decision.writes)
    replay = replay_of(call, route, decision.reply)
    if replay is not None:
        writes.append(Put(replay))
    try:
        store.transact(call.memory, writes, call.now)
    except WriteRefusedError as refused:
        return refused
    return None


def _judge(refused: WriteRefusedError, learn: Callable[[Sequence[Failure]], Refused]) -> None:
    """Return to try again with another number, or raise."""
    others = [failure for failure in refused.failures if not _is_entry(failure)]
    if others and learn(others) == "lost":
        raise lost_race() from refused


def _is_entry(failure: Failure) -> bool:
    return isinstance(failure.write, Put) and isinstance(failure.write.entity, LogEntry)

"""Declaring, outside a pass, instants at which a memory will have something to do.

A pass sets the memory's timer to the earliest instant it saw declared, and takes away those it dealt with. So whoever
declares one moves the timer's revision in the same transaction, even where the timer's time stays: a pass that ends at
that moment then looks again, and no instant is ever left without a timer that leads to it.
"""

from __future__ import annotations

from provenloop.domain.commit import Heads
from provenloop.domain.names import MemoryId
from provenloop.domain.records import Due
from provenloop.services.memories import require_heads
from provenloop.services.ports import Put, Store, Wake, Write, WriteRefusedError


def declare(store: Store, memory: MemoryId, *dues: Due) -> list[Write]:
    """What declares instants of which some may be declared already.

    Raises:
        NotFoundError: there is no such memory.
    """
    # The timer is read first: what is there then stays there, or the timer's revision moves.
    heads = require_heads(store, memory)
    present = store.due_present(memory, dues)
    first = min(due.due_at for due in dues)
    return [*(Put(due) for due in dues if due not in present), Wake(heads.timer, first)]


def declare_new(heads: Heads, due: Due) -> list[Write]:
    """What declares an instant that is not declared yet."""
    return [Put(due), Wake(heads.timer, due.due_at)]


def only_the_timer(refused: WriteRefusedError) -> bool:
    """Whether nothing but the timer was in the way: doing it again finds it as it is now."""
    return all(isinstance(failure.write, Wake) for failure in refused.failures)

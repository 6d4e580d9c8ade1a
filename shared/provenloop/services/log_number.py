"""Numbers of the log: when a reserved one wakes the dispatcher, and what becomes of one that is not used.

A number without an entry is a hole that every pass looks for until it is given up. So a commit that is refused after
its number was reserved leaves an empty entry there.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from provenloop.domain.commit import LogEntry
from provenloop.domain.errors import (
    BusyError,
    ConflictError,
    IntegrityError,
    InvalidInputError,
    LoopError,
    NotFoundError,
    TooLargeError,
)
from provenloop.services.call import Call
from provenloop.services.ports import Put, Store, WriteRefusedError

WAKE_SLOT_MS = 300_000

#: After these it is certain that nothing was written under the number.
NOT_WRITTEN = (InvalidInputError, NotFoundError, ConflictError, TooLargeError, BusyError, IntegrityError)


def next_slot(now: int) -> int:
    """The next 5-minute mark: when the dispatcher looks at what was written now."""
    return (now // WAKE_SLOT_MS + 1) * WAKE_SLOT_MS


@contextmanager
def given_back_if_refused(store: Store, call: Call, seq: int) -> Iterator[None]:
    """Closes the number when the commit inside is refused; where that fails, it is a hole like any other."""
    try:
        yield
    except NOT_WRITTEN:
        with suppress(WriteRefusedError, LoopError):
            store.transact(call.memory, [Put(LogEntry(seq, "", call.now, call.principal.label))], call.now)
        raise

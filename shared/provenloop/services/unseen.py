"""What was committed since the last analyzed pass, for readers that must not wait for the next one."""

from __future__ import annotations

from collections.abc import Iterator

from provenloop.domain.commit import Change, Heads
from provenloop.domain.names import MemoryId
from provenloop.services.ports import Store

#: Of a memory that was not analyzed for long, a reader looks at the newest entries of the log only.
MAX_ENTRIES = 200


def unseen_changes(store: Store, memory: MemoryId, heads: Heads) -> Iterator[Change]:
    """Changes of entries that no pass has analyzed yet, newest entry first."""
    folds, last = heads.folds, heads.log.seq
    after = max(folds.analyzed, last - MAX_ENTRIES)
    entries = {entry.seq: entry for entry in store.log_entries(memory, after, last)}
    missed = {*folds.holes, *folds.late} - entries.keys()
    if missed:
        entries |= store.log_entries_at(memory, missed)
    for seq in sorted(entries, reverse=True):
        yield from entries[seq].changes

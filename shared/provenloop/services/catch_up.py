"""Catching up: a watch whose own commit was folded as a former hole counts what was folded before it.

An apply takes its number before it writes. A pass in between folds later commits without the watch, which is not there
yet, and the number becomes a hole. Who folds that hole sees the watch as well, since the two are one transaction, and
what it missed is in the log: all that came after it and is counted by now.
"""

from __future__ import annotations

from dataclasses import replace

from provenloop.domain.checkpoint import Watch, watched_by
from provenloop.domain.commit import LogEntry, PassHead
from provenloop.domain.names import MemoryId
from provenloop.services.ports import Store


def caught_up(store: Store, memory: MemoryId, watch: Watch, folds: PassHead) -> Watch:
    """The next version of a watch, with everything counted that was folded before its own commit.

    Args:
        folds: the head while the watch's commit is still a hole: nothing that is folded later may be in it.
    """
    upto = max((folds.folded, *folds.partial))
    fed = watch
    for entry in store.log_entries(memory, watch.seq, upto):
        for change in entry.changes[: _counted(entry, folds)]:
            if watched_by(change) == watch.watched:
                fed = fed.fed(entry, change) or fed
    return replace(fed, caught_up=True, rev=watch.rev + 1)


def _counted(entry: LogEntry, folds: PassHead) -> int:
    """How many of an entry's changes are counted by now."""
    if entry.seq in folds.partial:
        return folds.partial[entry.seq]
    return 0 if entry.seq in folds.holes or entry.seq > folds.folded else len(entry.changes)

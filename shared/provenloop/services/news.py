"""What is new to somebody who looks at grains now and then: the live grains that commits have touched since.

Reads what this pass has read already, and of older commits a bounded number; so looking follows new work, and one who
has never looked comes through the whole log in several passes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from provenloop.domain.commit import LogEntry
from provenloop.domain.grain import Grain
from provenloop.domain.names import MemoryId
from provenloop.services.ports import Store

MAX_ENTRIES = 500
#: Of ten pages for an analyzer that is sent two thousand at once.
MAX_GRAINS = 20_000


@dataclass(frozen=True, slots=True)
class News:
    """Live grains, oldest first, up to number ``upto`` of the log.

    ``more`` says that there is more behind that number, ``is_cut`` that there were more grains than fit.
    """

    grains: tuple[Grain, ...]
    upto: int
    more: bool = False
    is_cut: bool = False

    def within(self, admits: Callable[[str], bool]) -> News:
        """Without the grains of namespaces that are not admitted."""
        return replace(self, grains=tuple(grain for grain in self.grains if admits(grain.namespace)))


@dataclass(frozen=True, slots=True)
class Log:
    """The log as a pass has it in hand: ``entries`` are those behind ``analyzed``, up to ``folded``."""

    store: Store
    memory: MemoryId
    now: int
    entries: Sequence[LogEntry]
    analyzed: int
    folded: int

    def news(self, after: int, kinds: Collection[str], *, newest_only: bool = False) -> News:
        """What is new behind number ``after``, of some kinds of grains.

        Args:
            newest_only: look at the newest 500 commits instead of the next 500.
        """
        if newest_only:
            after = max(after, self.folded - MAX_ENTRIES)
        upto = self.folded if after >= self.analyzed else min(self.analyzed, after + MAX_ENTRIES)
        older = self.store.log_entries(self.memory, after, upto) if after < self.analyzed else ()
        if newest_only:
            upto = self.folded
        known = {entry.seq: entry for entry in (*older, *self.entries) if upto >= entry.seq}
        wanted, last = _as_many_as_fit(sorted(known, reverse=newest_only), known, kinds)
        if last is not None and not newest_only:
            upto = last
        return News(self.live(wanted), upto, more=upto < self.folded)

    def everything(self, kinds: Collection[str]) -> News:
        """Every live grain of some kinds, in address order; at most 20,000."""
        found = (grain for grain in self.store.all_grains(self.memory, "", self.now) if grain.kind in kinds)
        live = tuple(islice((grain for grain in found if grain.is_live(self.now)), MAX_GRAINS + 1))
        return News(live[:MAX_GRAINS], self.folded, is_cut=len(live) > MAX_GRAINS)

    def has_forgotten(self, shown: Collection[str]) -> bool:
        """Whether one of some grains was forgotten since this pass folded the log."""
        heads = self.store.heads(self.memory)
        if heads is None:
            return True
        since = self.store.log_entries(self.memory, self.folded, heads.log.seq)
        forgotten = {change.address for entry in since for change in entry.changes if change.op == "forget"}
        return bool(forgotten & set(shown))

    def live(self, addresses: Iterable[str]) -> tuple[Grain, ...]:
        """The live ones among some grains, oldest first."""
        wanted = list(addresses)
        found = self.store.grains(self.memory, wanted, self.now) if wanted else {}
        live = (grain for grain in found.values() if grain.is_live(self.now))
        return tuple(sorted(live, key=lambda grain: (grain.recorded_at, grain.place, grain.address)))


def _as_many_as_fit(
    numbers: Sequence[int], entries: Mapping[int, LogEntry], kinds: Collection[str]
) -> tuple[Iterable[str], int | None]:
    """The grains that entries touched, of as many whole entries as fit; the last one that does, where not all do.

    One entry alone always fits.
    """
    wanted: dict[str, None] = {}
    last: int | None = None
    for number in numbers:
        touched = [each.address for each in entries[number].changes if each.kind in kinds and each.op != "forget"]
        if last is not None and len(wanted) + len(touched) > MAX_GRAINS:
            return wanted, last
        wanted.update(dict.fromkeys(touched))
        last = number
    return wanted, None

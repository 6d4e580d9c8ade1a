"""Looking at groups: each is viewed, examined and settled; what cannot be done now is declared due again.

One failing group is reported and looked at again soon; it fails neither the pass nor the other groups. When the pass
has spent its time, the groups that are left fall due at once, for the next pass.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from provenloop.analyzers.contract import Source, View
from provenloop.domain.errors import LoopError
from provenloop.domain.records import Due
from provenloop.services.findings import DUE_EXPIRY, DUE_GROUP, DUE_WAKE, Findings, group_ref
from provenloop.services.groups import Groups, aged_grain, source_of
from provenloop.services.pass_settings import Setting
from provenloop.services.views import Views

RETRY_MS = 300_000
#: Sources whose groups may be others once more of a sweep's grains are judged or indexed.
_MOVED_BY_LOOKING: frozenset[Source] = frozenset({"aged", "near"})

_log = logging.getLogger(__name__)


def due_groups(due: Iterable[Due], family: str) -> list[str]:
    """The groups of one analyzer among the instants that have come."""
    refs = (row.ref.partition("|") for row in due if row.what == DUE_GROUP)
    return [group for name, _, group in refs if name == family]


@dataclass
class Examining:
    """The looking at of one pass.

    Args:
        spent: whether the pass has used up its time.
    """

    findings: Findings
    views: Views
    spent: Callable[[], bool]
    planted: dict[Due, None] = field(default_factory=dict)
    skipped: list[Mapping[str, str]] = field(default_factory=list)
    is_cut_short: bool = False
    _seen: dict[str, View | None] = field(default_factory=dict)

    @property
    def _now(self) -> int:
        return self.views.now

    def look_at(self, setting: Setting, groups: Groups, more: Iterable[str] = ()) -> None:
        """Look at the groups of one analyzer: those collected, and ``more``; at each once a pass."""
        manifest = setting.analyzer.manifest
        wanted: dict[tuple[Source, str], None] = dict.fromkeys(groups.of(manifest))
        wanted |= dict.fromkeys((source_of(manifest, group), group) for group in more)
        wanted = dict.fromkeys(self._rearranged(setting, wanted))
        for source, group in wanted:
            ref = group_ref(setting.family, group)
            if ref in self._seen and source not in _MOVED_BY_LOOKING:
                continue
            if self.spent():
                self.is_cut_short = True
                self._plant(self._now, setting, group)
            else:
                self._look_at(setting, source, group)

    def _rearranged(self, setting: Setting, wanted: Iterable[tuple[Source, str]]) -> Iterator[tuple[Source, str]]:
        """The groups to look at, once the sets and the index that some of them come from are brought in line."""
        by_source: dict[Source, list[str]] = {}
        for source, group in wanted:
            by_source.setdefault(source, []).append(group)
        for source, groups in by_source.items():
            try:
                yield from ((source, group) for group in self._brought_in_line(setting, source, groups))
            except LoopError as error:
                self.report(setting.analyzer.manifest.id, error)
                for group in groups:
                    self._plant(self._now + RETRY_MS, setting, group)

    def _brought_in_line(self, setting: Setting, source: Source, groups: Sequence[str]) -> Sequence[str]:
        if source == "near":
            return self.views.near.rearrange(setting, groups)
        if source != "aged":
            return groups
        namespaces, again = self.views.aging.rearrange(setting, groups)
        for at, address in again:
            self._plant(at, setting, aged_grain(address))
        return namespaces

    def _look_at(self, setting: Setting, source: Source, group: str) -> None:
        ref = group_ref(setting.family, group)
        try:
            view = self.views.view(source, group, setting)
            if self._seen.get(ref) == view:
                return
            self._seen[ref] = view
            examination = self.findings.settle(setting, group, view)
        except LoopError as error:
            self.report(setting.analyzer.manifest.id, error)
            self._plant(self._now + RETRY_MS, setting, group)
            return
        if examination.next_due_at is not None:
            self._plant(examination.next_due_at, setting, group)

    def _plant(self, at: int, setting: Setting, group: str) -> None:
        self.planted[Due(at, DUE_GROUP, group_ref(setting.family, group))] = None

    def expire(self, due: Iterable[Due]) -> None:
        """Let age out whatever is old enough."""
        self.take(due, DUE_EXPIRY, self.findings.expire)

    def wake(self, due: Iterable[Due]) -> None:
        """Let wait again whatever was snoozed until now."""
        self.take(due, DUE_WAKE, self.findings.wake)

    def take(self, due: Iterable[Due], what: str, step: Callable[[str], None]) -> None:
        """Take a step with whatever fell due of one sort. What cannot be settled now is tried again soon."""
        for row in due:
            if row.what == what:
                try:
                    step(row.ref)
                except LoopError as error:
                    self.report(what, error)
                    self.planted[Due(self._now + RETRY_MS, what, row.ref)] = None

    def report(self, what: str, error: LoopError) -> None:
        """Say that a part of the pass failed, once for each reason."""
        _log.warning("a part of a pass failed", extra={"part": what, "code": error.code})
        self.skip(what, error.code)

    def skip(self, what: str, reason: str) -> None:
        """Say that a part of the pass did not happen."""
        entry = {"id": what, "reason": reason}
        if entry not in self.skipped:
            self.skipped.append(entry)

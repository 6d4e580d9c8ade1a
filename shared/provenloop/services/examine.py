"""Looking at groups: each is viewed, examined and settled; what cannot be done now is declared due again.

One failing group is reported and looked at again soon; it fails neither the pass nor the other groups. When the pass
has spent its time, the groups that are left fall due at once, for the next pass.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from provenloop.analyzers.contract import Source
from provenloop.domain.errors import LoopError
from provenloop.domain.records import Due
from provenloop.services.findings import DUE_EXPIRY, DUE_GROUP, Findings, group_ref
from provenloop.services.groups import Groups, source_of
from provenloop.services.pass_settings import Setting
from provenloop.services.views import Views

RETRY_MS = 300_000

_log = logging.getLogger(__name__)


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
    _looked_at: set[str] = field(default_factory=set)

    @property
    def _now(self) -> int:
        return self.views.now

    def look_at(self, setting: Setting, groups: Groups, due: Sequence[Due] = ()) -> None:
        """Look at the groups of one analyzer: those collected, and those that fell due; at each once a pass."""
        manifest = setting.analyzer.manifest
        wanted: dict[tuple[Source, str], None] = dict.fromkeys(groups.of(manifest))
        for row in due:
            family, _, group = row.ref.partition("|")
            if row.what == DUE_GROUP and family == setting.family:
                wanted[source_of(manifest, group), group] = None
        for source, group in wanted:
            ref = group_ref(setting.family, group)
            if ref in self._looked_at:
                continue
            if self.spent():
                self.is_cut_short = True
                self._plant(self._now, setting, group)
            else:
                self._looked_at.add(ref)
                self._look_at(setting, source, group)

    def _look_at(self, setting: Setting, source: Source, group: str) -> None:
        try:
            view = self.views.view(source, group, setting.parameters)
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
        """Let age out whatever is old enough. What cannot be settled now is tried again soon."""
        for row in due:
            if row.what == DUE_EXPIRY:
                try:
                    self.findings.expire(row.ref)
                except LoopError as error:
                    self.report("expiry", error)
                    self.planted[Due(self._now + RETRY_MS, DUE_EXPIRY, row.ref)] = None

    def report(self, what: str, error: LoopError) -> None:
        """Say that a part of the pass failed, once for each reason."""
        _log.warning("a part of a pass failed", extra={"part": what, "code": error.code})
        self.skip(what, error.code)

    def skip(self, what: str, reason: str) -> None:
        """Say that a part of the pass did not happen."""
        entry = {"id": what, "reason": reason}
        if entry not in self.skipped:
            self.skipped.append(entry)

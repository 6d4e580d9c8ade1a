"""Whose turn it is among those outside: how each is set in a memory, how far in the log it has looked, and for whom.

That is stored before anybody is asked, so passes that die while they wait do not ask about the same for ever. Who asked
for a pass is kept until what came of it is stored, also where nobody could be asked in it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from provenloop.analyzers.contract import Manifest
from provenloop.domain.memory_config import MemoryConfig
from provenloop.domain.policy import Policy
from provenloop.domain.records import Due
from provenloop.domain.remark import Looked
from provenloop.services.call import Call
from provenloop.services.examine import Examining
from provenloop.services.news import Log, News
from provenloop.services.outside_findings import OutsideAnalyzer
from provenloop.services.pass_settings import CAPABILITIES, Setting, setting_of
from provenloop.services.pass_writes import PassWrites
from provenloop.services.ports import Put, Replace, Write

DUE_OUTSIDE = "outside"
#: When what failed and may succeed later is tried again for the first time, and how often it is.
AGAIN_MS = 3_600_000
MAX_TRIES = 5
ENGINE_PREFIX = "engine:"


@dataclass
class Turn:
    """The turn of one outside analyzer: how it is set, how far it has looked as stored, and how far it had."""

    setting: Setting
    looked: Looked
    began_at: int

    @property
    def analyzer(self) -> str:
        """Its id."""
        return self.setting.analyzer.manifest.id


@dataclass
class Turns:
    """The turns of one pass. ``ran`` are the ids of those that answered, or had nothing to look at."""

    call: Call
    policy: Policy
    config: MemoryConfig
    log: Log
    examining: Examining
    writes: PassWrites
    is_full: bool
    ran: list[str] = field(default_factory=list)

    def setting(self, manifest: Manifest, origin: str) -> Setting | None:
        """How one is set that may run in this memory; None, and the reason is told, for one that may not."""
        setting = setting_of(OutsideAnalyzer(manifest), self.config, CAPABILITIES | {"model"}, self.policy)
        if setting.skip_reason is not None:
            self.examining.skip(manifest.id, setting.skip_reason)
            return None
        return replace(setting, origin=origin, sees_news=True)

    def turn(self, setting: Setting) -> Turn:
        """The turn of one."""
        manifest = setting.analyzer.manifest
        looked = self.log.store.looked(self.log.memory, setting.family) or Looked(setting.family)
        if looked.version != manifest.id:
            looked = replace(looked, version=manifest.id, seq=0)
        askers = dict.fromkeys((*self._trigger(), *looked.askers))
        return Turn(replace(setting, co_creators=tuple(askers)), looked, looked.seq)

    def _trigger(self) -> tuple[str, ...]:
        """Whoever asked for this pass; nobody where the schedule did."""
        principal = self.call.principal.id
        return () if principal.startswith(ENGINE_PREFIX) else (principal,)

    def is_in_time(self, turn: Turn, *, is_enough: bool) -> bool:
        """Whether one may be asked now; what there is to look at is read only then.

        Args:
            is_enough: whether there is enough time left of the pass.
        """
        if self.log.now < turn.looked.not_before:
            self.postpone(turn)
            self.examining.skip(turn.analyzer, "waits after a failure")
            return False
        if not self._has_news(turn):
            self.ran.append(turn.analyzer)
            return False
        if not is_enough:
            self.postpone(turn)
            self._plant(turn, self.log.now)
            self.examining.skip(turn.analyzer, "left to a later pass: too little time")
        return is_enough

    def wait(self, turn: Turn) -> None:
        """Leave to passes from an hour on what nobody can be asked about now."""
        at = turn.looked.not_before
        if self._has_news(turn) and self.log.now >= at:
            at = self.log.now + AGAIN_MS
            self._plant(turn, at)
        self.postpone(turn, not_before=at)

    def postpone(self, turn: Turn, *, not_before: int | None = None) -> None:
        """Leave what is to be looked at to later passes, and remember for whom."""
        if not self._has_news(turn):
            return
        # In a sweep all there is has to be looked at, and so it is left.
        seq, at = 0 if self.is_full else turn.looked.seq, not_before or turn.looked.not_before
        self._note(turn, replace(turn.looked, seq=seq, askers=turn.setting.co_creators, not_before=at))

    def _has_news(self, turn: Turn) -> bool:
        return self.is_full or bool(self.log.entries) or turn.looked.seq < self.log.folded

    def _plant(self, turn: Turn, at: int) -> None:
        self.examining.planted[Due(at, DUE_OUTSIDE, turn.setting.family)] = None

    def begins(self, turn: Turn, news: News) -> bool:
        """Whether there is something to ask about. How far was looked, and for whom, is written first."""
        if news.more:
            self._plant(turn, self.log.now)
        askers = turn.setting.co_creators if news.grains or news.more else ()
        self._note(turn, replace(turn.looked, seq=max(news.upto, turn.looked.seq), askers=askers))
        if not news.grains:
            self.ran.append(turn.analyzer)
        return bool(news.grains)

    def _note(self, turn: Turn, looked: Looked) -> None:
        """Store how far one has looked; raises LeaseLostError where another pass took over."""
        if looked == turn.looked and looked.rev:
            return
        before, turn.looked = turn.looked, replace(looked, rev=looked.rev + 1)
        write: Write = Replace(turn.looked, expected=before.rev) if before.rev else Put(turn.looked)
        self.writes.make(lambda: [write])

    def settled(self, turn: Turn, *, more: bool) -> None:
        """What came of looking is stored; ``more`` is left to look at, for those who asked."""
        askers = turn.setting.co_creators if more else ()
        self._note(turn, replace(turn.looked, askers=askers, tries=0, not_before=0))

    def leave(self, turn: Turn, reason: str, *, again: bool) -> None:
        """Say why one gave nothing; where that may pass, later passes ask about the same, each after twice as long."""
        self.examining.skip(turn.analyzer, reason)
        tries = turn.looked.tries
        if not again or tries >= MAX_TRIES:
            self._note(turn, replace(turn.looked, askers=(), tries=0, not_before=0))
            return
        at = self.log.now + AGAIN_MS * 2**tries
        kept = replace(turn.looked, seq=turn.began_at, askers=turn.setting.co_creators, tries=tries + 1, not_before=at)
        self._note(turn, kept)
        self._plant(turn, at)

"""Asking those outside, once a pass has stored what its own analyzers found: external analyzers, then models.

Nothing of it fails a pass or changes what was stored. How far one has looked is written before it is asked, so passes
that die while they wait do not ask about the same for ever; what may succeed later is left to a later pass. Who asked
for a pass is kept until what came of it is stored, and never decides about that.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from provenloop.analyzers.contract import Manifest
from provenloop.analyzers.model_findings import LLM
from provenloop.domain.errors import AnalyzerError, LoopError
from provenloop.domain.memory_config import MemoryConfig
from provenloop.domain.outside import OutsideFinding
from provenloop.domain.policy import Policy
from provenloop.domain.records import Due
from provenloop.domain.registered import RegisteredAnalyzer
from provenloop.domain.remark import Looked
from provenloop.reflection.bundle import Bundle, limits_from
from provenloop.services.ask_analyzer import ask_analyzer
from provenloop.services.call import Call
from provenloop.services.examine import Examining
from provenloop.services.external_port import ExternalAnalyzers
from provenloop.services.gather_evidence import SHOWN_KINDS, gather
from provenloop.services.keep_ledger import count_rows, new_call_id
from provenloop.services.lease import LeaseLostError
from provenloop.services.news import Log, News
from provenloop.services.outside_findings import (
    MAX_REMARKS,
    MAX_REMARKS_OF_A_SWEEP,
    OutsideAnalyzer,
    OutsideFindings,
    said_before,
)
from provenloop.services.outside_port import Outside
from provenloop.services.pass_settings import CAPABILITIES, Setting, setting_of
from provenloop.services.pass_writes import PassWrites
from provenloop.services.ports import Put, Replace, Write
from provenloop.services.reflect import UNKNOWN_POLICY, Reflected, reflect, unasked
from provenloop.services.reflect_port import ReflectionModels
from provenloop.services.roster import manifest_of

DUE_OUTSIDE = "outside"
#: What is left of the pass has to be at least so long before a model, or an external analyzer, is asked.
MODEL_NEEDS_MS = 30_000
ANALYZER_NEEDS_MS = 12_000
#: When what failed and may succeed later is tried again for the first time, and how often it is.
AGAIN_MS = 3_600_000
MAX_TRIES = 5
ENGINE_PREFIX = "engine:"
#: Failures of an external analyzer that a later pass may not meet.
MAY_PASS = frozenset({"timeout", "unreachable", "failed", "time", "no key"})

_log = logging.getLogger(__name__)


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
class LookOutside:
    """The asking of one pass. ``ran`` are the ids of those that answered, or had nothing to look at, ``told`` what the
    outcome of the pass says of them.
    """

    call: Call
    policy: Policy
    config: MemoryConfig
    outside: Outside
    log: Log
    findings: OutsideFindings
    examining: Examining
    writes: PassWrites
    is_full: bool
    ran: list[str] = field(default_factory=list)
    told: dict[str, Any] = field(default_factory=dict)

    def look(self) -> None:
        """Ask everybody there is to ask.

        Raises:
            LeaseLostError: another pass took over.
        """
        settled = tuple(self.findings.findings.settled)
        analyzers, models = self.outside.analyzers, self.outside.models
        if analyzers is not None:
            for registered in self.policy.analyzers:
                self._softly(registered.id, partial(self._ask_analyzer, registered, analyzers))
        if models is not None:
            self._softly(LLM.id, partial(self._ask_models, models, settled))

    def _softly(self, analyzer: str, ask: Callable[[], None]) -> None:
        try:
            ask()
        except LeaseLostError:
            raise
        except LoopError as error:
            self.examining.report(analyzer, error)
        except Exception as error:  # noqa: BLE001 - whatever goes wrong there, the pass stands
            # What an unexpected error says may be text of the memory.
            _log.warning("asking outside failed", extra={"analyzer": analyzer, "error": type(error).__name__})
            self.examining.skip(analyzer, AnalyzerError.code)

    def _ask_analyzer(self, registered: RegisteredAnalyzer, analyzers: ExternalAnalyzers) -> None:
        turn = self._turn(manifest_of(registered), f"command:{registered.id}")
        if turn is None:
            return
        if not self._is_in_time(turn, ANALYZER_NEEDS_MS):
            return
        kinds = frozenset(registered.needs)
        news = self.log.everything(kinds) if self.is_full else self.log.news(turn.looked.seq, kinds)
        news = news.within(turn.setting.admits)
        if not self._begins(turn, news):
            return
        asked = ask_analyzer(registered, analyzers, news.grains, now=self.log.now, left_ms=self.outside.left_ms)
        if asked.skipped is not None:
            self._leave(turn, asked.skipped, again=asked.skipped in MAY_PASS)
        else:
            self.ran.append(turn.analyzer)
            is_whole = self.is_full and asked.is_whole and not news.is_cut
            turn.setting = replace(turn.setting, sees_news=not is_whole)
            kept = {"id": registered.id, "title": asked.title, "kept": len(asked.findings), "dropped": asked.dropped}
            self.told.setdefault("external", []).append(kept)
            self._settle(turn, asked.findings, news, [grain.address for grain in news.grains])

    def _ask_models(self, models: ReflectionModels, settled: Sequence[str]) -> None:
        # Without a key models are switched off, and nothing tells that there could be any.
        has_keys = all(asked.key.current() for asked in (models.main, models.ground))
        if has_keys and not self.policy.pseudonymize.is_known:
            # Which names are to be kept from models nobody knows; what is new waits until somebody does.
            self.told["model"] = _told(unasked(models, UNKNOWN_POLICY))
            self.examining.skip(LLM.id, UNKNOWN_POLICY)
            return
        turn = self._turn(LLM, f"llm:{models.main.model}") if has_keys else None
        if turn is None or not self._is_in_time(turn, MODEL_NEEDS_MS):
            return
        news = self.log.news(0 if self.is_full else turn.looked.seq, SHOWN_KINDS, newest_only=True)
        news = news.within(turn.setting.admits)
        if not self._begins(turn, news):
            return
        try:
            said = said_before(self.log.store, self.log.memory, turn.setting.family)
            bundle = gather(self.log, self.findings.addresses, news, settled, said, turn.setting.admits)
        except LoopError as error:
            self._leave(turn, error.code, again=True)
            return
        limits = limits_from(turn.setting.parameters)
        models = self._under_policy(models, bundle)
        reflected = reflect(
            bundle, models, limits, left_ms=self.outside.left_ms, row_id=new_call_id(self.call), now=self.log.now
        )
        self.ran.append(turn.analyzer)
        count_rows(self.log.store, self.call, self.outside.tell_lost, reflected.rows)
        self.told["model"] = _told(reflected)
        turn.setting = replace(turn.setting, origin=f"llm:{reflected.model or models.main.model}")
        if reflected.retry or _is_refused_key(reflected):
            self._leave(turn, reflected.stopped or "", again=True)
        else:
            self._settle(turn, reflected.findings, news, [shown.address for shown in bundle.evidence])

    def _under_policy(self, models: ReflectionModels, bundle: Bundle) -> ReflectionModels:
        # The patterns that find people take nearly a fifth of a cold start, and few passes ask models.
        from provenloop.reflection.people import people_shown  # noqa: PLC0415
        from provenloop.services.pseudonymous_model import pseudonymous  # noqa: PLC0415

        return pseudonymous(models, self.policy, people_shown(bundle))

    def _turn(self, manifest: Manifest, origin: str) -> Turn | None:
        """The turn of one that may run in this memory; None, and the reason is told, for one that may not."""
        setting = setting_of(OutsideAnalyzer(manifest), self.config, CAPABILITIES | {"model"}, self.policy)
        if setting.skip_reason is not None:
            self.examining.skip(manifest.id, setting.skip_reason)
            return None
        looked = self.log.store.looked(self.log.memory, setting.family) or Looked(setting.family)
        if looked.version != manifest.id:
            looked = replace(looked, version=manifest.id, seq=0)
        askers = dict.fromkeys((*self._trigger(), *looked.askers))
        setting = replace(setting, origin=origin, co_creators=tuple(askers), sees_news=True)
        return Turn(setting, looked, looked.seq)

    def _trigger(self) -> tuple[str, ...]:
        """Whoever asked for this pass; nobody where the schedule did."""
        principal = self.call.principal.id
        return () if principal.startswith(ENGINE_PREFIX) else (principal,)

    def _is_in_time(self, turn: Turn, needs_ms: int) -> bool:
        """Whether one may be asked now; what there is to look at is read only then."""
        if self.log.now < turn.looked.not_before:
            self.examining.skip(turn.analyzer, "waits after a failure")
            return False
        if not self.is_full and not self.log.entries and turn.looked.seq >= self.log.folded:
            self.ran.append(turn.analyzer)
            return False
        if self.outside.left_ms() >= needs_ms:
            return True
        # In a sweep all there is has to be looked at, and so it is left.
        seq = 0 if self.is_full else turn.looked.seq
        self._note(turn, replace(turn.looked, seq=seq, askers=turn.setting.co_creators))
        self.examining.planted[Due(self.log.now, DUE_OUTSIDE, turn.setting.family)] = None
        self.examining.skip(turn.analyzer, "left to a later pass: too little time")
        return False

    def _begins(self, turn: Turn, news: News) -> bool:
        """Whether there is something to ask about. How far was looked, and for whom, is written first."""
        if news.more:
            self.examining.planted[Due(self.log.now, DUE_OUTSIDE, turn.setting.family)] = None
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

    def _settle(self, turn: Turn, found: Sequence[OutsideFinding], news: News, shown: Sequence[str]) -> None:
        """Store what was found, unless something was forgotten meanwhile that its author was shown."""
        store, memory, family = self.log.store, self.log.memory, turn.setting.family
        try:
            if self.log.has_forgotten(shown):
                self._leave(turn, "forgotten meanwhile", again=True)
                return
            whole = not turn.setting.sees_news
            said = said_before(store, memory, family, MAX_REMARKS_OF_A_SWEEP if whole else MAX_REMARKS)
            self.findings.settle(turn.setting, found, said)
            if found and self.log.has_forgotten(shown):
                self.findings.erase_new(family)
        except LoopError as error:
            self._leave(turn, error.code, again=True)
        else:
            askers = turn.setting.co_creators if news.more else ()
            self._note(turn, replace(turn.looked, askers=askers, tries=0, not_before=0))

    def _leave(self, turn: Turn, reason: str, *, again: bool) -> None:
        """Say why one gave nothing; where that may pass, later passes ask about the same, each after twice as long."""
        self.examining.skip(turn.analyzer, reason)
        tries = turn.looked.tries
        if not again or tries >= MAX_TRIES:
            self._note(turn, replace(turn.looked, askers=(), tries=0, not_before=0))
            return
        at = self.log.now + AGAIN_MS * 2**tries
        kept = replace(turn.looked, seq=turn.began_at, askers=turn.setting.co_creators, tries=tries + 1, not_before=at)
        self._note(turn, kept)
        self.examining.planted[Due(at, DUE_OUTSIDE, turn.setting.family)] = None


def _is_refused_key(reflected: Reflected) -> bool:
    """Whether the key did not serve: what was to be asked can be asked with the next one."""
    return reflected.stopped is not None and reflected.stopped.endswith(":auth")


def _told(reflected: Reflected) -> dict[str, Any]:
    """What the outcome of a pass says of models: counts, why they stopped, what they cost in nano-dollars."""
    cost = sum(row.cost_nano_usd or 0 for row in reflected.rows)
    return {"model": reflected.model, **reflected.counts, "stopped": reflected.stopped, "cost_nano_usd": cost}

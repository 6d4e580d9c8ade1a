"""Asking those outside, once a pass has stored what its own analyzers found: external analyzers, then models.

Nothing of it fails a pass or changes what was stored; what may succeed later is left to a later pass. Whoever asked for
a pass never decides about what came of it. Keys of models are read once a pass, and only where models may be asked.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from provenloop.analyzers.model_findings import LLM
from provenloop.domain.errors import AnalyzerError, LoopError
from provenloop.domain.outside import OutsideFinding
from provenloop.domain.policy import Policy
from provenloop.domain.registered import RegisteredAnalyzer
from provenloop.reflection.bundle import Bundle, limits_from
from provenloop.services.ask_analyzer import ask_analyzer
from provenloop.services.ask_stage import Keys, keys_of
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
    OutsideFindings,
    said_before,
)
from provenloop.services.outside_port import Outside
from provenloop.services.outside_turn import Turn, Turns
from provenloop.services.pass_settings import Setting
from provenloop.services.reflect import UNKNOWN_POLICY, Reflected, reflect, unasked
from provenloop.services.reflect_port import ReflectionModels
from provenloop.services.roster import manifest_of

#: What is left of the pass has to be at least so long before a model, or an external analyzer, is asked.
MODEL_NEEDS_MS = 30_000
ANALYZER_NEEDS_MS = 12_000
#: Failures of an external analyzer that a later pass may not meet.
MAY_PASS = frozenset({"timeout", "unreachable", "failed", "time", "no key"})

_log = logging.getLogger(__name__)


@dataclass
class LookOutside:
    """The asking of one pass. ``told`` is what the outcome of the pass says of it."""

    call: Call
    policy: Policy
    outside: Outside
    log: Log
    findings: OutsideFindings
    examining: Examining
    turns: Turns
    is_full: bool
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
        setting = self.turns.setting(manifest_of(registered), f"command:{registered.id}")
        turn = self.turns.turn(setting) if setting is not None else None
        if turn is None or not self._is_in_time(turn, ANALYZER_NEEDS_MS):
            return
        kinds = frozenset(registered.needs)
        news = self.log.everything(kinds) if self.is_full else self.log.news(turn.looked.seq, kinds)
        news = news.within(turn.setting.admits)
        if not self.turns.begins(turn, news):
            return
        asked = ask_analyzer(registered, analyzers, news.grains, now=self.log.now, left_ms=self.outside.left_ms)
        if asked.skipped is not None:
            self.turns.leave(turn, asked.skipped, again=asked.skipped in MAY_PASS)
        else:
            self.turns.ran.append(turn.analyzer)
            is_whole = self.is_full and asked.is_whole and not news.is_cut
            turn.setting = replace(turn.setting, sees_news=not is_whole)
            kept = {"id": registered.id, "title": asked.title, "kept": len(asked.findings), "dropped": asked.dropped}
            self.told.setdefault("external", []).append(kept)
            self._settle(turn, asked.findings, news, [grain.address for grain in news.grains])

    def _ask_models(self, models: ReflectionModels, settled: Sequence[str]) -> None:
        setting = self.turns.setting(LLM, f"llm:{models.main.model}")
        keys = self._keys(models, setting) if setting is not None else None
        # Without a key models are switched off, and nothing tells that there could be any.
        if setting is None or keys is None:
            return
        turn = self.turns.turn(setting)
        if not self.policy.pseudonymize.is_known:
            # Which names are to be kept from models nobody knows; what is new waits until somebody does.
            self.told["model"] = _told(unasked(models, UNKNOWN_POLICY))
            self.examining.skip(LLM.id, UNKNOWN_POLICY)
            self.turns.postpone(turn)
        elif self._is_in_time(turn, MODEL_NEEDS_MS):
            self._ask_about_news(turn, models, keys, settled)

    def _keys(self, models: ReflectionModels, setting: Setting) -> Keys | None:
        """The keys of this pass; raises LoopError where they cannot be read, and leaves what is new to later ones."""
        try:
            return keys_of(models)
        except LoopError:
            self.turns.wait(self.turns.turn(setting))
            raise

    def _ask_about_news(self, turn: Turn, models: ReflectionModels, keys: Keys, settled: Sequence[str]) -> None:
        news = self.log.news(0 if self.is_full else turn.looked.seq, SHOWN_KINDS, newest_only=True)
        news = news.within(turn.setting.admits)
        if not self.turns.begins(turn, news):
            return
        try:
            said = said_before(self.log.store, self.log.memory, turn.setting.family)
            bundle = gather(self.log, self.findings.addresses, news, settled, said, turn.setting.admits)
        except LoopError as error:
            self.turns.leave(turn, error.code, again=True)
            return
        limits = limits_from(turn.setting.parameters)
        models = self._under_policy(models, bundle)
        reflected = reflect(
            bundle, models, keys, limits, left_ms=self.outside.left_ms, row_id=new_call_id(self.call), now=self.log.now
        )
        self.turns.ran.append(turn.analyzer)
        count_rows(self.log.store, self.call, self.outside.tell_lost, reflected.rows)
        self.told["model"] = _told(reflected)
        turn.setting = replace(turn.setting, origin=f"llm:{reflected.model or models.main.model}")
        if reflected.retry or _is_refused_key(reflected):
            self.turns.leave(turn, reflected.stopped or "", again=True)
        else:
            self._settle(turn, reflected.findings, news, [shown.address for shown in bundle.evidence])

    def _under_policy(self, models: ReflectionModels, bundle: Bundle) -> ReflectionModels:
        # The patterns that find people take nearly a fifth of a cold start, and few passes ask models.
        from provenloop.reflection.people import people_shown  # noqa: PLC0415
        from provenloop.services.pseudonymous_model import pseudonymous  # noqa: PLC0415

        return pseudonymous(models, self.policy, people_shown(bundle))

    def _is_in_time(self, turn: Turn, needs_ms: int) -> bool:
        return self.turns.is_in_time(turn, is_enough=self.outside.left_ms() >= needs_ms)

    def _settle(self, turn: Turn, found: Sequence[OutsideFinding], news: News, shown: Sequence[str]) -> None:
        """Store what was found, unless something was forgotten meanwhile that its author was shown."""
        store, memory, family = self.log.store, self.log.memory, turn.setting.family
        try:
            if self.log.has_forgotten(shown):
                self.turns.leave(turn, "forgotten meanwhile", again=True)
                return
            whole = not turn.setting.sees_news
            said = said_before(store, memory, family, MAX_REMARKS_OF_A_SWEEP if whole else MAX_REMARKS)
            self.findings.settle(turn.setting, found, said)
            if found and self.log.has_forgotten(shown):
                self.findings.erase_new(family)
        except LoopError as error:
            self.turns.leave(turn, error.code, again=True)
        else:
            self.turns.settled(turn, more=news.more)


def _is_refused_key(reflected: Reflected) -> bool:
    """Whether the key did not serve: what was to be asked can be asked with the next one."""
    return reflected.stopped is not None and reflected.stopped.endswith(":auth")


def _told(reflected: Reflected) -> dict[str, Any]:
    """What the outcome of a pass says of models: counts, why they stopped, what they cost in nano-dollars."""
    cost = sum(row.cost_nano_usd or 0 for row in reflected.rows)
    return {"model": reflected.model, **reflected.counts, "stopped": reflected.stopped, "cost_nano_usd": cost}

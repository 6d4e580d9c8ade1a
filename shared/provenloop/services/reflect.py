"""Asking models about a memory: what they propose and others of them bear out, or nothing. It never fails a pass.

Each stage is a call of its own that is shown only what it needs, so who proposes never judges. Whatever is not plainly
said to be supported and sound is dropped, and a call that fails or cannot be read drops all that it was asked about;
only what to do about a finding may stay open.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from provenloop.domain.ledger import LedgerRow
from provenloop.domain.outside import OutsideFinding, plain_text
from provenloop.domain.quoting import Quoted
from provenloop.reflection.budget import first_that_fits
from provenloop.reflection.bundle import Bundle, Limits, less_and_less
from provenloop.reflection.draft import ModelDraft
from provenloop.reflection.quoting import quoted_bundle, quoted_claims, quoted_findings
from provenloop.reflection.reading import guided, kept, read_drafts, supported
from provenloop.reflection.stages import DISCOVER, ENRICH, GROUND, VERIFY, Stage
from provenloop.services.ask_stage import KeyedModel, Keys, StageCalls, StageStoppedError
from provenloop.services.model_port import ModelAnswer
from provenloop.services.reflect_port import ReflectionModels

MAX_MODEL_CHARS = 100
#: Why no model is asked while nobody knows which names the host policy lists.
UNKNOWN_POLICY = "policy"
_COUNTS = ("left_out", "drafts", "grounded", "kept")
_T = TypeVar("_T")
_Drafts = Sequence[ModelDraft]


@dataclass(frozen=True, slots=True)
class Reflected:
    """What came of asking models.

    ``rows`` are for the ledger, one for each call. ``counts`` holds ``calls``, ``drafts``, ``grounded``, ``kept``,
    and ``left_out``: what a model was to be shown and was not, for the limits had no room for it.
    ``stopped`` says why it ended early: ``no_evidence``, ``abstained`` (nothing was proposed),
    ``ungrounded``, ``dropped`` (nothing usable was proposed, or nothing was kept), ``budget``, ``time``,
    ``policy`` (nobody knows which names it lists), or ``<stage>:<kind>`` of a call that failed. ``retry``: nothing
    came of it, and the cause may pass. ``model`` is the one that proposes, as it calls itself once it answered.
    """

    findings: tuple[OutsideFinding, ...]
    rows: tuple[LedgerRow, ...]
    counts: Mapping[str, int]
    stopped: str | None
    retry: bool
    model: str


def reflect(
    bundle: Bundle,
    models: ReflectionModels,
    keys: Keys,
    limits: Limits,
    *,
    left_ms: Callable[[], int],
    row_id: str,
    now: int,
) -> Reflected:
    """Ask models about a memory. Never raises.

    Args:
        keys: those of the models.
        left_ms: how much time the pass has left, in milliseconds.
        row_id: what the ids of the ledger's rows begin with; the same for the same pass.
        now: epoch ms.
    """
    reflection = _Reflection(bundle, limits, StageCalls(limits, left_ms, row_id, now), models.main.model)
    if not bundle.evidence:
        return reflection.ended((), "no_evidence")
    return reflection.run(KeyedModel(models.main, keys.main), KeyedModel(models.ground, keys.ground))


def unasked(models: ReflectionModels, stopped: str) -> Reflected:
    """Nothing, for no model is asked."""
    counts = dict.fromkeys(("calls", *_COUNTS), 0)
    return Reflected((), (), counts, stopped, retry=False, model=models.main.model)


class _Reflection:
    """The stages of one pass, in their order."""

    def __init__(self, bundle: Bundle, limits: Limits, calls: StageCalls, model: str) -> None:
        self._bundle = bundle
        self._limits = limits
        self._calls = calls
        self._model = model
        self._counts = dict.fromkeys(_COUNTS, 0)

    def ended(self, findings: _Drafts, stopped: str | None, *, retry: bool = False) -> Reflected:
        """What came of it so far."""
        rows = tuple(self._calls.rows)
        counts = {"calls": len(rows), **self._counts}
        return Reflected(tuple(draft.finding for draft in findings), rows, counts, stopped, retry, self._model)

    def run(self, main: KeyedModel, ground: KeyedModel) -> Reflected:
        """All stages, or as many as it takes to know that nothing comes of it."""
        try:
            verified = self._verified(self._grounded(self._discovered(main), ground), main)
        except StageStoppedError as stopped:
            return self.ended((), stopped.reason, retry=stopped.may_pass)
        try:
            return self.ended(self._enriched(verified, main), None)
        except StageStoppedError as stopped:
            return self.ended(verified, stopped.reason)

    def _discovered(self, main: KeyedModel) -> _Drafts:
        shown = self._chosen(DISCOVER, less_and_less(self._bundle), quoted_bundle, main)
        self._counts["left_out"] = self._bundle.pieces - shown.pieces
        answer = self._calls.ask(DISCOVER, quoted_bundle(shown), main)
        self._model = plain_text(answer.model, MAX_MODEL_CHARS) or self._model
        drafts = _required(DISCOVER, read_drafts(answer.value, shown))
        self._counts["drafts"] = len(drafts)
        return _some(drafts, "dropped" if answer.value[DISCOVER.answers] else "abstained")

    def _grounded(self, drafts: _Drafts, ground: KeyedModel) -> _Drafts:
        claims, answer = self._asked(GROUND, _fewer_and_fewer(drafts), quoted_claims, ground)
        found = _required(GROUND, supported(answer.value, claims))
        self._counts["grounded"] = len(found)
        return _some(found, "ungrounded")

    def _verified(self, drafts: _Drafts, main: KeyedModel) -> _Drafts:
        judged, answer = self._asked(VERIFY, _fewer_and_fewer(drafts), quoted_findings, main)
        found = _required(VERIFY, kept(answer.value, judged, self._limits.min_confidence))
        self._counts["kept"] = len(found)
        return _some(found, "dropped")

    def _enriched(self, drafts: _Drafts, main: KeyedModel) -> _Drafts:
        bare = [draft for draft in drafts if not draft.guidance]
        if not bare:
            return drafts
        _, answer = self._asked(ENRICH, _fewer_and_fewer(bare), quoted_findings, main)
        return _required(ENRICH, guided(answer.value, drafts))

    def _asked(
        self, stage: Stage, choices: Sequence[_T], quoted: Callable[[_T], Sequence[Quoted]], asked: KeyedModel
    ) -> tuple[_T, ModelAnswer]:
        """What was asked about, and the answer."""
        chosen = self._chosen(stage, choices, quoted, asked)
        return chosen, self._calls.ask(stage, quoted(chosen), asked)

    def _chosen(
        self, stage: Stage, choices: Sequence[_T], quoted: Callable[[_T], Sequence[Quoted]], asked: KeyedModel
    ) -> _T:
        """The first choice of what to ask about that leaves enough for the stages to come."""
        budget = self._calls.budget.half if stage in (DISCOVER, GROUND) else self._calls.budget
        return first_that_fits(choices, lambda each: asked.bound(stage, quoted(each)), budget)


def _fewer_and_fewer(drafts: _Drafts) -> Sequence[_Drafts]:
    return [drafts[:many] for many in range(len(drafts), 0, -1)]


def _required(stage: Stage, read: _Drafts | None) -> _Drafts:
    if read is None:
        raise StageStoppedError(f"{stage.op}:parse")
    return read


def _some(drafts: _Drafts, otherwise: str) -> _Drafts:
    if not drafts:
        raise StageStoppedError(otherwise)
    return drafts

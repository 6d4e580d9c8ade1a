"""The calls of models that one pass makes: each within what is left of budget and time, each a row of the ledger."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from provenloop.domain.ledger import About, LedgerRow, loop_stage
from provenloop.domain.quoting import Quoted
from provenloop.reflection.budget import Bound, Budget, bound_of
from provenloop.reflection.bundle import Limits
from provenloop.reflection.stages import Stage
from provenloop.services.keep_ledger import row_of_call
from provenloop.services.model_port import FailureKind, ModelAnswer, ModelFailure, ModelOutcome, ModelRequest
from provenloop.services.reflect_port import ReflectionModel, ReflectionModels

MAX_CALL_MS = 45_000
#: A stage with less time is not begun.
MIN_CALL_MS = 2_000
#: What the pass needs after the last call.
RESERVE_MS = 3_000
_MAY_PASS: tuple[FailureKind, ...] = ("network", "rate_limit", "server")


class StageStoppedError(Exception):
    """A stage was not begun, or gave nothing; it never leaves ``reflect``.

    Attributes:
        reason: ``budget``, ``time``, or ``<stage>:<kind>``.
        may_pass: whether it is worth trying again later.
    """

    def __init__(self, reason: str, *, may_pass: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.may_pass = may_pass


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of one pass, which live no longer than it; shown to nobody."""

    main: str = field(repr=False)
    ground: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class KeyedModel:
    """A model with the key of this pass."""

    model: ReflectionModel
    key: str = field(repr=False)

    def ask(self, request: ModelRequest) -> ModelOutcome:
        """One call; a provider that breaks its word and raises has failed."""
        try:
            return self.model.provider.ask(request, self.key)
        except Exception:  # noqa: BLE001 - what a model does never fails a pass, and what is in there is not shown
            return ModelFailure("unknown")

    def bound(self, stage: Stage, quoted: Sequence[Quoted]) -> Bound:
        """The most that one call can use, with the texts as they are sent.

        Raises:
            StageStoppedError: nobody knows how they are sent.
        """
        try:
            shown = self.model.shown(quoted)
        except Exception:  # noqa: BLE001 - as above
            raise StageStoppedError(f"{stage.op}:unknown") from None
        return bound_of(stage, shown, self.model.model)


def keys_of(models: ReflectionModels) -> Keys | None:
    """The keys of the models as they are now, one that both have read once; None where one is empty.

    Raises:
        LoopError: one cannot be read.
    """
    main = models.main.key.current()
    ground = main if models.ground.key == models.main.key or not main else models.ground.key.current()
    return Keys(main, ground) if main and ground else None


class StageCalls:
    """What was asked so far, and what may still be.

    Args:
        left_ms: how much time the pass has left.
        row_id: what the ids of the rows begin with.
        now: epoch ms.
    """

    def __init__(self, limits: Limits, left_ms: Callable[[], int], row_id: str, now: int) -> None:
        self.budget = Budget(limits.max_tokens, limits.max_cost_nano_usd)
        self.rows: list[LedgerRow] = []
        self._left_ms = left_ms
        self._ends_at_ms_left = left_ms() - limits.max_ms
        self._row_id, self._now = row_id, now

    def ask(self, stage: Stage, quoted: Sequence[Quoted], asked: KeyedModel) -> ModelAnswer:
        """One call.

        Raises:
            StageStoppedError: it was not made, or failed.
        """
        bound = asked.bound(stage, quoted)
        if not self.budget.holds(bound):
            raise StageStoppedError("budget")
        outcome = asked.ask(_request(stage, quoted, asked.model.model, self._timeout_ms()))
        self._count(stage, bound, outcome)
        if isinstance(outcome, ModelFailure):
            raise StageStoppedError(f"{stage.op}:{outcome.kind}", may_pass=outcome.kind in _MAY_PASS)
        return outcome

    def _timeout_ms(self) -> int:
        left = self._left_ms()
        timeout = min(MAX_CALL_MS, left - self._ends_at_ms_left, left - RESERVE_MS)
        if timeout < MIN_CALL_MS:
            raise StageStoppedError("time", may_pass=True)
        return timeout

    def _count(self, stage: Stage, bound: Bound, outcome: ModelOutcome) -> None:
        answer = outcome.text if isinstance(outcome, ModelAnswer) else ""
        self.budget = self.budget.after(bound, outcome.usage, answer, outcome.model)
        row_id, component = f"{self._row_id}.{stage.op}", loop_stage(stage.op)
        self.rows.append(row_of_call(row_id, self._now, component, About(), outcome, bound.model))


def _request(stage: Stage, quoted: Sequence[Quoted], model: str, timeout_ms: int) -> ModelRequest:
    return ModelRequest(
        model=model,
        instructions=stage.instructions,
        quoted=tuple(quoted),
        schema=stage.schema,
        max_tokens=stage.max_tokens,
        timeout_ms=timeout_ms,
        cached=True,
        op=stage.op,
    )

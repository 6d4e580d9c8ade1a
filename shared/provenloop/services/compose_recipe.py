"""The composer rung: one call of a small model, and its rows of the ledger. It never fails the caller's turn.

Each call has an attempt row with what it cost, whatever came of it, and an escalate row where nothing is served. The
hit row belongs to the commit of what was delivered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from provenloop.domain.errors import LoopError
from provenloop.domain.ledger import COMPOSER_ATTEMPT, COMPOSER_ESCALATE, About, LedgerRow, free_row
from provenloop.recipes.composer import (
    INSTRUCTIONS,
    MAX_TOKENS,
    SCHEMA,
    Chosen,
    ComposerSettings,
    EscalateReason,
    Offered,
    quoted,
    read_choice,
)
from provenloop.services.call import Call
from provenloop.services.keep_ledger import count_rows, new_call_id, row_of_call
from provenloop.services.model_port import ModelAccess, ModelAnswer, ModelOutcome, ModelRequest
from provenloop.services.ports import Store


@dataclass(frozen=True, slots=True)
class Composed:
    """What the rung gives: ``chosen``, or else ``reason``.

    ``is_off``: no model was asked, for there is no key (or it cannot be read: ``auth``).
    """

    chosen: Chosen | None
    reason: EscalateReason | None = None
    is_off: bool = False


def compose_recipe(
    store: Store,
    call: Call,
    models: ModelAccess,
    request: str,
    offered: Sequence[Offered],
    *,
    settings: ComposerSettings,
    about: About,
) -> Composed:
    """Ask whether one of the recipes serves the request. Never raises for a model or a ledger that fails.

    Args:
        offered: at least one; the nearest first.
        about: what the ledger's rows are about; the recipe that was chosen is named by this.
    """
    try:
        key = models.key()
    except LoopError:
        return Composed(None, "auth", is_off=True)
    if not key or not offered:
        return Composed(None, is_off=True)
    outcome = models.provider.ask(_question(request, offered, settings), key)
    read = _read(outcome, offered, settings)
    chosen, reason = (read, None) if isinstance(read, Chosen) else (None, read)
    count_rows(store, call, models.tell_lost, _rows(call, outcome, settings.model, reason, about))
    return Composed(chosen, reason)


def _question(request: str, offered: Sequence[Offered], settings: ComposerSettings) -> ModelRequest:
    return ModelRequest(
        model=settings.model,
        instructions=INSTRUCTIONS,
        quoted=quoted(request, offered),
        schema=SCHEMA,
        max_tokens=MAX_TOKENS,
        timeout_ms=settings.timeout_ms,
        effort="low",
    )


def _read(outcome: ModelOutcome, offered: Sequence[Offered], settings: ComposerSettings) -> Chosen | EscalateReason:
    if isinstance(outcome, ModelAnswer):
        return read_choice(outcome.value, offered, settings.min_confidence)
    return "timeout" if outcome.timed_out else outcome.kind


def _rows(
    call: Call, outcome: ModelOutcome, asked: str, reason: EscalateReason | None, about: About
) -> list[LedgerRow]:
    call_id = new_call_id(call)
    rows = [row_of_call(f"{call_id}.attempt", call.now, COMPOSER_ATTEMPT, about, outcome, asked)]
    if reason is not None:
        rows.append(free_row(f"{call_id}.escalate", call.now, COMPOSER_ESCALATE, about, kind=reason))
    return rows

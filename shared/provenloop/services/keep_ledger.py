"""Writing the ledger: the row of a model's call, and rows put once, however often they are counted.

What was paid for is never taken away because a row cannot be written: whoever runs this is told instead.
"""

from __future__ import annotations

from collections.abc import Sequence

from provenloop.domain.errors import LoopError
from provenloop.domain.ledger import About, LedgerRow, metered_row
from provenloop.services.call import Call
from provenloop.services.model_port import ModelFailure, ModelOutcome, TellLost
from provenloop.services.ports import Put, Store, WriteRefusedError

_ID_BYTES = 16


def new_call_id(call: Call) -> str:
    """What the ids of rows begin with whose call of a model nothing else names."""
    return call.entropy(_ID_BYTES).hex()


def row_of_call(row_id: str, at: int, component: str, about: About, outcome: ModelOutcome, asked: str) -> LedgerRow:
    """The row of one call of a model, whatever came of it: its tokens, what they cost, and why it failed if it did.

    Args:
        at: epoch ms.
        asked: the model that was asked; a failure need not say which one was.
    """
    failed = outcome.kind if isinstance(outcome, ModelFailure) else ""
    models = (outcome.model, asked) if outcome.model else (asked,)
    return metered_row(row_id, at, component, about, usage=outcome.usage, models=models, kind=failed)


def count_rows(store: Store, call: Call, tell_lost: TellLost, rows: Sequence[LedgerRow]) -> None:
    """Put the rows of one call, all or none, unless they are there. Never raises for a ledger that fails."""
    try:
        store.transact(call.memory, [Put(row) for row in rows], call.now)
    except WriteRefusedError:
        # The client sent the same transaction twice, and the first was done.
        return
    except LoopError:
        tell_lost(call, rows)

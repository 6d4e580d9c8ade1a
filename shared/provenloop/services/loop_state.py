"""How a memory's loop is doing, which analyzers there are, and what a pass came to."""

from __future__ import annotations

from typing import Any

from provenloop.domain.errors import NotFoundError
from provenloop.domain.instants import format_instant
from provenloop.domain.policy import CLOSED, HostPolicy, Policy
from provenloop.domain.recommendation import DAY_MS
from provenloop.services.analyzer_counts import outside_findings
from provenloop.services.call import Call
from provenloop.services.memories import require_heads
from provenloop.services.pass_gate import new_at_most
from provenloop.services.pass_settings import CAPABILITIES, settings_of, shown
from provenloop.services.policy import told
from provenloop.services.ports import Store
from provenloop.services.regressions import unhandled_regressions
from provenloop.services.roster import analyzers_of, outside_families

STALE_AFTER_MS = 7 * DAY_MS
STALE_GRAINS = 100


def health(store: Store, call: Call, host: HostPolicy | None = None) -> dict[str, Any]:
    """Watermarks, what waits, and what went wrong.

    Returns:
        ``{stale, last_run_at, new_grains, new_error_events, seq, folded, analyzed, holes, holes_dropped, set_aside,
        next_due_at, namespaces, policy: {state, faults}, unhandled_regressions, outside_findings}``; where the host
        policy does not hold, ``faults`` say why; ``unhandled_regressions`` are ids of applied recommendations that did
        not hold and that nobody is asked to undo; see :func:`~provenloop.services.analyzer_counts.outside_findings`.

    Raises:
        ScopeDeniedError, NotFoundError.
    """
    call.require("read")
    heads = require_heads(store, call.memory)
    folds, known = heads.folds, host or HostPolicy()
    grains, errors = new_at_most(heads)
    is_old = folds.last_run_at is None or call.now - folds.last_run_at >= STALE_AFTER_MS
    return {
        "stale": is_old or grains >= STALE_GRAINS,
        "last_run_at": _shown(folds.last_run_at),
        "new_grains": grains,
        "new_error_events": errors,
        "seq": heads.log.seq,
        "folded": folds.folded,
        "analyzed": folds.analyzed,
        "holes": sorted(folds.holes),
        "holes_dropped": folds.dropped,
        "set_aside": list(folds.set_aside),
        "next_due_at": _shown(heads.timer.due_at),
        "namespaces": sorted(heads.log.namespaces),
        "policy": told(known),
        "unhandled_regressions": unhandled_regressions(store, call.memory),
        "outside_findings": outside_findings(store, call.memory, outside_families(known.policy)),
    }


def _shown(at: int | None) -> str | None:
    return None if at is None else format_instant(at)


def analyzers(
    store: Store, call: Call, policy: Policy = CLOSED, capabilities: frozenset[str] = CAPABILITIES
) -> dict[str, Any]:
    """Every analyzer's manifest and how it is set in this memory, in the order in which a pass runs them.

    Raises:
        ScopeDeniedError, NotFoundError.
    """
    call.require("read")
    require_heads(store, call.memory)
    config = store.memory_config(call.memory)
    settings = settings_of(analyzers_of(policy), config, capabilities, policy)
    return {"analyzers": [shown(setting) for setting in settings]}


def show_run(store: Store, call: Call, run_id: str) -> dict[str, Any]:
    """The outcome of a pass.

    Raises:
        ScopeDeniedError, NotFoundError.
    """
    call.require("read")
    run = store.run(call.memory, run_id)
    if run is None:
        raise NotFoundError("no such run; a skipped one leaves nothing behind", field="run")
    return dict(run.outcome)

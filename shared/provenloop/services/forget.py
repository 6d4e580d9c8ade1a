"""Forget: content is erased everywhere, a tombstone and an audit entry with addresses and digests stay.

The heads, the log entry, the audit entry and the answer to a repeated request are one transaction, with as many earlier
versions and reasons as it has room for. The rest is erased right after. Where that is interrupted, forgetting the same
again finishes it. What is too much for one transaction is the work of a job.
"""

from __future__ import annotations

from typing import Any

from provenloop.services.call import Call
from provenloop.services.commit_change import commit_change
from provenloop.services.decision import require_because
from provenloop.services.erasing import erase
from provenloop.services.forget_plan import Plan, Wanted, plan_of
from provenloop.services.forgetting import Forgetting, reply_of
from provenloop.services.ports import Store
from provenloop.services.replay import earlier_reply

ROUTE = "forget"


def forget(store: Store, call: Call, wanted: Wanted, because: str) -> dict[str, Any]:
    """Forget one grain, or everything held about a subject.

    Returns:
        ``{forgotten, addresses, versions, questions, reasons, lessons, seq, audit}``: how many grains, which, how many
        of their earlier versions, of agents' questions and of people's reasons were erased with them; addresses of
        lessons that repeat a forgotten error and stay; ``seq`` and ``audit`` are None where nothing was left to forget.

    Raises:
        ScopeDeniedError, InvalidInputError, NotFoundError: nothing was erased.
        TooManyGrainsError: nothing was erased either; a job can do it.
        ConflictError: somebody forgot the same at the same time.
    """
    call.require("admin")
    reason = require_because(because)

    def look() -> Plan:
        return plan_of(store, call, wanted)

    forgetting = Forgetting(store, call, reason, look(), look)
    if forgetting.plan.is_empty:
        erase(store, call, forgetting.plan.with_them.writes)
        return earlier_reply(store, call, ROUTE) or reply_of(forgetting.plan, None, None)
    reply = commit_change(store, call, ROUTE, lambda: None, forgetting.build, forgetting.learn)
    # Another number is that of this very request, answered before: what is there now was said since.
    if reply["seq"] == forgetting.seq:
        erase(store, call, forgetting.rest)
        forgetting.scrub()
    return reply


def would_forget(store: Store, call: Call, wanted: Wanted) -> dict[str, Any]:
    """What forgetting would erase now, however much it is; nothing is written.

    Returns:
        as :func:`forget`, with ``dry_run``.

    Raises:
        ScopeDeniedError, InvalidInputError, NotFoundError.
    """
    call.require("admin")
    return {**reply_of(plan_of(store, call, wanted, however_many=True), None, None), "dry_run": True}

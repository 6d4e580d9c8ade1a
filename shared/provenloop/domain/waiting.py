"""Reviews that wait: which workflow execution waits for what is decided on a recommendation, and what it is told.

A workflow grants nothing. It waits, reminds, and may carry out what a decision asked for; every gate stays in the use
cases. Its execution is named after the recommendation and the attempt, so that starting it twice starts it once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from provenloop.domain.instants import DAY_MS
from provenloop.domain.lifecycle import Status

#: What a state of the workflow waits for, and the status of a recommendation on which that is still to come.
WaitedFor = Literal["decision", "apply"]
STILL_WAITING: dict[WaitedFor, Status] = {"decision": "pending", "apply": "approved"}
#: Statuses with which an execution goes on; after any other one it ends.
GOES_ON: frozenset[Status] = frozenset({"pending", "approved"})
CLOSED_KEPT_MS = 90 * DAY_MS


@dataclass(frozen=True, slots=True)
class Wait:
    """One execution and the recommendation it is about.

    ``chain_n`` is how long the recommendation's audit chain was when it was started, ``token`` the callback token of
    the state that waits now, None while none does; ``closed_at`` (epoch ms) is set with the ``outcome`` it ends with.
    """

    recommendation: str
    execution: str
    asked_at: int
    asked_by: str
    chain_n: int
    token: str | None = None
    closed_at: int | None = None
    outcome: str | None = None
    rev: int = 1


@dataclass(frozen=True, slots=True)
class Callback:
    """What a waiting execution is to be told; ``id`` is that of the audit entry that it tells of."""

    id: str
    execution: str
    token: str
    at: int
    outcome: str
    then_apply: bool = False


def execution_name(recommendation: str, attempt: int) -> str:
    """The execution of one attempt (from 1) to have a recommendation reviewed."""
    return f"{recommendation}-{attempt}"

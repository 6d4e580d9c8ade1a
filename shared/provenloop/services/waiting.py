"""Telling workflows that wait for a recommendation what became of it, in the transaction that decides it.

The transaction takes the callback token off the waiting row and leaves what its holder is to be told in the outbox, so
an execution is told if and only if the step happened. It insists on the row's revision: an execution that begins to
wait at that very moment is either told, or meets the decided recommendation when it looks again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from provenloop.domain.errors import InvalidInputError, LoopError
from provenloop.domain.names import MemoryId
from provenloop.domain.recommendation import Recommendation
from provenloop.domain.waiting import GOES_ON, Callback, Wait
from provenloop.services.call import Call
from provenloop.services.ports import Put, Remove, Replace, Store, Write, WriteRefusedError
from provenloop.services.review_port import ReviewWorkflow, Untold, Untolds

#: Decisions younger than this are still being told by whoever made them.
LEFT_BEHIND_MS = 60_000
TOLD_AT_ONCE = 100


def open_waits(store: Store, memory: MemoryId, rec: Recommendation) -> tuple[Wait, ...]:
    """The executions that a recommendation is waited for by; costs nothing where none was ever started."""
    if not rec.reviews:
        return ()
    return tuple(wait for wait in store.waits(memory, rec.id) if wait.closed_at is None)


def told(store: Store, memory: MemoryId, before: Recommendation, after: Recommendation) -> list[Write]:
    """What a step of a recommendation writes for those who wait for it; nothing where its status stays."""
    if before.status == after.status:
        return []
    writes: list[Write] = []
    for wait in open_waits(store, memory, before):
        writes.append(Replace(_answered(wait, after), expected=wait.rev))
        if wait.token is not None:
            writes.append(Put(_callback(wait, wait.token, after)))
    return writes


@dataclass(frozen=True, slots=True)
class Wish:
    """That the workflow which waits for an approval shall apply it, too; a removal only if it is said to be wanted."""

    allow_destructive: bool = False


def wished(
    store: Store, call: Call, before: Recommendation, approved: Recommendation, wish: Wish | None
) -> Recommendation:
    """The approved recommendation with what the workflow shall do about it.

    Raises:
        InvalidInputError: no workflow waits for it, so nobody would.
    """
    if wish is None or approved.approval is None:
        return approved
    if not open_waits(store, call.memory, before):
        raise InvalidInputError("no review waits for this; use approve-and-apply", field="then_apply")
    approval = replace(
        approved.approval,
        then_apply=True,
        allow_destructive=wish.allow_destructive,
        credential=call.principal.credential,
    )
    return replace(approved, approval=approval)


def then_apply(rec: Recommendation) -> bool:
    """Whether a recommendation was approved so that the workflow shall apply it too."""
    return rec.status == "approved" and rec.approval is not None and rec.approval.then_apply


def closed(wait: Wait, outcome: str, at: int) -> Wait:
    """The row of an execution that ends; ``at`` in epoch ms."""
    return replace(wait, token=None, closed_at=at, outcome=outcome, rev=wait.rev + 1)


def _answered(wait: Wait, rec: Recommendation) -> Wait:
    if rec.status in GOES_ON:
        return replace(wait, token=None, rev=wait.rev + 1)
    return closed(wait, rec.status, rec.updated_at)


def _callback(wait: Wait, token: str, rec: Recommendation) -> Callback:
    return Callback(rec.chain.id, wait.execution, token, rec.updated_at, rec.status, then_apply=then_apply(rec))


class Teller:
    """Collects what committed transactions left to be told, and tells it when the work is done.

    Args:
        store: where the outbox is; asked for when there is something to remove.
        workflow: who is told; asked for when there is something to tell.
    """

    def __init__(self, store: Callable[[], Store], workflow: Callable[[], ReviewWorkflow]) -> None:
        self._store = store
        self._workflow = workflow
        self._committed: list[Untold] = []

    def note(self, memory: MemoryId, writes: Sequence[Write]) -> None:
        """Take in a transaction that was committed."""
        entities = (write.entity for write in writes if isinstance(write, Put))
        self._committed.extend(Untold(memory, entity) for entity in entities if isinstance(entity, Callback))

    def flush(self, now: int) -> int:
        """Tell what was committed since the last time; how many were told."""
        committed, self._committed = self._committed, []
        return self._tell(committed, now)

    def sweep(self, untolds: Untolds, now: int) -> int:
        """Tell what others left behind; how many were told."""
        return self._tell(untolds.untold(now - LEFT_BEHIND_MS, TOLD_AT_ONCE), now)

    def _tell(self, untolds: Sequence[Untold], now: int) -> int:
        told_ones = [each for each in untolds if self._is_told(each.callback)]
        for each in told_ones:
            try:
                self._store().transact(each.memory, [Remove(each.callback)], now, tries=2)
            except (LoopError, WriteRefusedError):
                # Told again by the next sweep, which the workflow answers by knowing nobody who waits.
                continue
        return len(told_ones)

    def _is_told(self, callback: Callback) -> bool:
        return self._workflow().tell(callback.token, callback.outcome, then_apply=callback.then_apply)

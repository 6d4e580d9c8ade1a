"""One commit that forgets: tombstones, log entry, audit entry and reason are one transaction.

With as many erasures of earlier versions, questions and reasons as it has room for; who builds one sees to the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from provenloop.domain.address import Addresses
from provenloop.domain.audit import AuditEntry, author_of
from provenloop.domain.commit import LogEntry
from provenloop.domain.records import Replay
from provenloop.services.call import Call
from provenloop.services.commit_change import Refused
from provenloop.services.decision import Decision
from provenloop.services.erasing import WRITES_AT_ONCE, forgotten_change, tombstone
from provenloop.services.forget_plan import Plan
from provenloop.services.outbox import ChainStep, chain_step, reason_on
from provenloop.services.ports import Failure, Put, Replace, Store, Write
from provenloop.services.scrub_use import scrub_use

FORGOTTEN = "forgotten"


@dataclass
class Forgetting:
    """One plan on its way into a transaction.

    ``look`` makes the plan anew where something moved in between; None where that is for the caller to do. ``beside``
    are further writes of the same transaction.
    """

    store: Store
    call: Call
    because: str
    plan: Plan
    look: Callable[[], Plan] | None = None
    beside: Sequence[Write] = ()
    seq: int = 0
    rest: Sequence[Write] = ()
    _addresses: Addresses | None = None

    def build(self, seq: int, addresses: Addresses) -> Decision:
        """The transaction under a number of the log."""
        step = self._step(seq)
        writes: list[Write] = [
            Put(self._log_entry(seq, addresses)),
            *step.writes,
            *self.beside,
            *(
                Replace(tombstone(grain, seq=seq, at=self.call.now), expected=grain.head_rev)
                for grain in self.plan.grains
            ),
        ]
        self._addresses = addresses
        room, erasures = max(WRITES_AT_ONCE - len(writes), 0), self.plan.with_them.writes
        self.seq, self.rest = seq, erasures[room:]
        writes += erasures[:room]
        return Decision(writes, reply_of(self.plan, seq, step.entry))

    def scrub(self) -> None:
        """Take what was said out of what recall keeps; left there, addresses and figures tell nothing."""
        said = (*self.plan.grains, *self.plan.with_them.texts)
        if self._addresses is not None:
            scrub_use(self.store, self.call, self._addresses, said, self.plan.with_them.remarks)

    def learn(self, failures: Sequence[Failure]) -> Refused:
        """Something moved in between: look again, unless this request was answered or nothing is left to forget."""
        if self.look is None or any(isinstance(failure.found, Replay) for failure in failures):
            return "lost"
        self.plan = self.look()
        return "lost" if self.plan.is_empty else "again"

    def _step(self, seq: int) -> ChainStep:
        effects = {key: value for key, value in reply_of(self.plan, seq, None).items() if key != "audit"}
        note = reason_on(self.plan.end, self.because, self.call.entropy)
        return chain_step(self.plan.end, FORGOTTEN, author_of(self.call.principal), self.call.now, effects, note)

    def _log_entry(self, seq: int, addresses: Addresses) -> LogEntry:
        grains = (*self.plan.grains, *self.plan.with_them.questions)
        changes = tuple(forgotten_change(grain, addresses, self.plan.with_them.calls) for grain in grains)
        return LogEntry(seq, f"{self.call.request_id}/{seq}", self.call.now, self.call.principal.label, changes)


def reply_of(plan: Plan, seq: int | None, entry: AuditEntry | None) -> dict[str, Any]:
    """What is told of a plan that was carried out in commit ``seq``."""
    return {
        "forgotten": len(plan.grains),
        "addresses": sorted(grain.address for grain in plan.grains),
        "versions": len(plan.with_them.versions),
        "questions": len(plan.with_them.questions),
        "reasons": len(plan.with_them.notes),
        "lessons": list(plan.lessons),
        "seq": seq,
        "audit": entry.id if entry is not None else None,
    }

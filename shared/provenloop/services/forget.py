"""Forget: content is erased everywhere, a tombstone and an audit entry with addresses and digests stay.

The heads, the log entry, the audit entry and the answer to a repeated request are one transaction, with as many earlier
versions and reasons as it has room for. The rest is erased right after. Where that is interrupted, forgetting the same
again finishes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from provenloop.domain.address import Addresses
from provenloop.domain.audit import AuditEntry, ChainEnd, ChainHead, Note, author_of, head_after, next_entry
from provenloop.domain.commit import LogEntry
from provenloop.domain.records import Replay
from provenloop.services.call import Call
from provenloop.services.commit_change import Refused, commit_change
from provenloop.services.decision import Decision, require_because
from provenloop.services.erasing import WRITES_AT_ONCE, erase, forgotten_change, tombstone
from provenloop.services.forget_plan import Plan, Wanted, plan_of
from provenloop.services.outbox import audited
from provenloop.services.ports import Failure, Put, Replace, Store, Write
from provenloop.services.replay import earlier_reply
from provenloop.services.scrub_use import scrub_use

ROUTE = "forget"
FORGOTTEN = "forgotten"
_SALT_BYTES = 16


def forget(store: Store, call: Call, wanted: Wanted, because: str) -> dict[str, Any]:
    """Forget one grain, or everything held about a subject.

    Returns:
        ``{forgotten, addresses, versions, questions, reasons, lessons, seq, audit}``: how many grains, which, how many
        of their earlier versions, of agents' questions and of people's reasons were erased with them; addresses of
        lessons that repeat a forgotten error and stay; ``seq`` and ``audit`` are None where nothing was left to forget.

    Raises:
        ScopeDeniedError, InvalidInputError, NotFoundError, TooLargeError: nothing was erased.
        ConflictError: somebody forgot the same at the same time.
    """
    call.require("admin")
    reason = require_because(because)
    forgetting = _Forgetting(store, call, wanted, reason, plan_of(store, call, wanted))
    if forgetting.plan.is_empty:
        erase(store, call, forgetting.plan.with_them.writes)
        return earlier_reply(store, call, ROUTE) or _reply(forgetting.plan, None, None)
    reply = commit_change(store, call, ROUTE, lambda: None, forgetting.build, forgetting.learn)
    # Another number is that of this very request, answered before: what is there now was said since.
    if reply["seq"] == forgetting.seq:
        erase(store, call, forgetting.rest)
        forgetting.scrub()
    return reply


@dataclass
class _Forgetting:
    """One request on its way into a transaction."""

    store: Store
    call: Call
    wanted: Wanted
    because: str
    plan: Plan
    seq: int = 0
    rest: Sequence[Write] = ()
    _addresses: Addresses | None = None

    def build(self, seq: int, addresses: Addresses) -> Decision:
        """The transaction under a number of the log."""
        entry, note = self._audited(seq)
        end = self.plan.end
        moved = ChainEnd(self.plan.chain, head_after(entry), FORGOTTEN, rev=end.rev + 1 if end else 1)
        writes: list[Write] = [
            Put(self._log_entry(seq, addresses)),
            Replace(moved, expected=end.rev) if end else Put(moved),
            *audited(entry, note),
            *(
                Replace(tombstone(grain, seq=seq, at=self.call.now), expected=grain.head_rev)
                for grain in self.plan.grains
            ),
        ]
        self._addresses = addresses
        room, erasures = WRITES_AT_ONCE - len(writes), self.plan.with_them.writes
        self.seq, self.rest = seq, erasures[room:]
        writes += erasures[:room]
        return Decision(writes, _reply(self.plan, seq, entry))

    def scrub(self) -> None:
        """Take what was said out of what recall keeps; left there, addresses and figures tell nothing."""
        said = (*self.plan.grains, *self.plan.with_them.texts)
        if self._addresses is not None:
            scrub_use(self.store, self.call, self._addresses, said)

    def learn(self, failures: Sequence[Failure]) -> Refused:
        """Something moved in between: look again, unless this request was answered or nothing is left to forget."""
        if any(isinstance(failure.found, Replay) for failure in failures):
            return "lost"
        self.plan = plan_of(self.store, self.call, self.wanted)
        return "lost" if self.plan.is_empty else "again"

    def _audited(self, seq: int) -> tuple[AuditEntry, Note]:
        end = self.plan.end
        head = end.head if end else ChainHead()
        note = Note(self.plan.chain, head.n + 1, self.call.entropy(_SALT_BYTES).hex(), self.because)
        effects = {key: value for key, value in _reply(self.plan, seq, None).items() if key != "audit"}
        entry = next_entry(
            head,
            subject=self.plan.chain,
            before=end.status if end else "",
            after=FORGOTTEN,
            by=author_of(self.call.principal),
            at=self.call.now,
            note=note,
            effects=effects,
        )
        return entry, note

    def _log_entry(self, seq: int, addresses: Addresses) -> LogEntry:
        grains = (*self.plan.grains, *self.plan.with_them.questions)
        changes = tuple(forgotten_change(grain, addresses, self.plan.with_them.calls) for grain in grains)
        return LogEntry(seq, f"{self.call.request_id}/{seq}", self.call.now, self.call.principal.label, changes)


def _reply(plan: Plan, seq: int | None, entry: AuditEntry | None) -> dict[str, Any]:
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

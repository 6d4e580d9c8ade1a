"""Findings: drafts become stored recommendations, are refreshed, or are resolved when their cause is gone.

Each change of a recommendation, its dedup key and its audit entry is one transaction, conditional on both revisions
and on the pass's head: a pass that lost its lease stores nothing. Done twice with one evidence, it changes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from provenloop.analyzers.contract import AppliedMark, Examination, View
from provenloop.domain.address import Addresses
from provenloop.domain.audit import AuditEntry, engine_author, head_after, next_entry
from provenloop.domain.checkpoint import Watch
from provenloop.domain.commit import PassHead
from provenloop.domain.cooldown import ACKNOWLEDGED_MS
from provenloop.domain.errors import BusyError, IntegrityError
from provenloop.domain.lifecycle import NEW, OPEN, Status, require_step
from provenloop.domain.names import MemoryId
from provenloop.domain.proposal import digest_of, refs_of, shape_of
from provenloop.domain.recommendation import (
    Draft,
    FindingKey,
    Recommendation,
    expiry_of,
)
from provenloop.domain.records import Due
from provenloop.domain.remark import is_remark
from provenloop.services.decision import effects_of
from provenloop.services.drafts import (
    examined,
    has_moved,
    in_the_words_of,
    is_quiet,
    refreshed,
    says_something_new,
    stamp,
)
from provenloop.services.lease import LeaseLostError, is_lost
from provenloop.services.outbox import audited
from provenloop.services.pass_settings import Setting
from provenloop.services.ports import Put, Replace, Require, Store, Write, WriteRefusedError
from provenloop.services.remark_index import DUE_SAID, index_remark
from provenloop.services.waiting import told

_MAX_ROUNDS = 5
DUE_EXPIRY = "expiry"
DUE_WAKE = "wake"
DUE_GROUP = "group"


def group_ref(family: str, group: str) -> str:
    """How a declared instant names one analyzer's group."""
    return f"{family}|{group}"


@dataclass
class Findings:
    """Settles the findings of one pass.

    Args:
        folds: gives the pass's head as it is now; every write requires its revision.
        watches: by recommendation, with everything counted so far.

    ``settled`` are the recommendations that a draft was found for, by id; ``waiting`` those of them about which the
    host policy has something to say.
    """

    store: Store
    memory: MemoryId
    addresses: Addresses
    now: int
    folds: Callable[[], PassHead]
    watches: Mapping[str, Watch] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    settled: dict[str, None] = field(default_factory=dict)
    waiting: dict[str, Setting] = field(default_factory=dict)
    _stored: set[str] = field(default_factory=set)
    _keys: dict[str, Sequence[FindingKey]] = field(default_factory=dict)

    def settle(self, setting: Setting, group: str, view: View) -> Examination:
        """Examine one group and bring its recommendations into line; what was examined.

        Raises:
            LeaseLostError: another pass took over.
            BusyError: decisions on the same findings kept coming in between.
        """
        for _ in range(_MAX_ROUNDS):
            before = Counter(self.counts)
            try:
                return self._settle_once(setting, group, view)
            except WriteRefusedError as refused:
                # What was stored before the collision stays counted; the rest is looked at again.
                self.counts.update({name: before[name] - self.counts[name] for name in ("deduped", "suppressed")})
                if is_lost(refused):
                    raise LeaseLostError from refused
        raise BusyError("decisions on the same findings keep coming in")

    def _settle_once(self, setting: Setting, group: str, view: View) -> Examination:
        family = setting.family
        keys = {key.dedup_key: key for key in self._keys_of(group) if key.family == family}
        examination = examined(setting, view, self.now, lambda ns, parts: self._mark(family, keys, ns, parts))
        drafts = {
            self._dedup_key(family, draft.namespace, draft.parts): draft
            for draft in examination.drafts
            if setting.admits(draft.namespace)
        }
        wanted = [key.open_id for key in keys.values() if key.open_id]
        opened = self.store.recommendations(self.memory, wanted) if wanted else {}
        for dedup_key, draft in drafts.items():
            key = keys.get(dedup_key) or FindingKey(dedup_key, family, group, rev=0)
            self._settle_draft(setting, key, draft, opened.get(key.open_id or ""))
        for dedup_key, key in keys.items():
            rec = opened.get(key.open_id or "")
            if rec is not None and dedup_key not in drafts and not setting.sees_news:
                self._close(rec, key, "resolved")
        self.counts["proposed"] += len(drafts)
        return examination

    def _keys_of(self, group: str) -> Sequence[FindingKey]:
        """The dedup keys of a group, read once until one of them is written or found to have moved."""
        if group not in self._keys:
            self._keys[group] = self.store.finding_keys(self.memory, group)
        return self._keys[group]

    def _dedup_key(self, family: str, namespace: str, parts: Sequence[str]) -> str:
        return self.addresses.short("finding", family, namespace, *parts)

    def _mark(
        self, family: str, keys: Mapping[str, FindingKey], namespace: str, parts: Sequence[str]
    ) -> AppliedMark | None:
        key = keys.get(self._dedup_key(family, namespace, parts))
        if key is None or key.applied_at is None or key.applied_seq is None:
            return None
        return AppliedMark(key.applied_at, key.applied_seq, self.watches.get(key.applied_id or ""))

    def _settle_draft(self, setting: Setting, key: FindingKey, draft: Draft, rec: Recommendation | None) -> None:
        if rec is not None:
            draft = draft if draft.remark is None else in_the_words_of(rec, draft)
            self.counts["deduped"] += rec.id not in self._stored
            self.settled[rec.id] = None
            self._refresh(setting, rec, draft)
            if setting.grants or rec.held_back is not None:
                self.waiting[rec.id] = setting
        elif setting.is_below_floor(draft.severity) or is_quiet(key, draft, self.now):
            self.counts["suppressed"] += 1
        else:
            self._propose(setting, key, draft)
            self.counts["stored"] += 1

    def _propose(self, setting: Setting, key: FindingKey, draft: Draft) -> None:
        rec = stamp(setting, key, draft, memory=self.memory, now=self.now)
        entry = next_entry(
            rec.chain,
            subject=rec.id,
            before=NEW,
            after="pending",
            by=engine_author(rec.creators[0]),
            at=self.now,
            effects=effects_of(rec),
        )
        rec = replace(rec, chain=head_after(entry))
        opened = replace(key, open_id=rec.id, occurrences=key.occurrences + 1, rev=key.rev + 1)
        self._write(
            [
                Put(rec),
                Put(opened) if key.rev == 0 else Replace(opened, expected=key.rev),
                *audited(entry),
                Put(Due(rec.expires_at, DUE_EXPIRY, rec.id)),
                *self._said(draft, rec.id),
            ]
        )
        self._stored.add(rec.id)
        self.settled[rec.id] = None
        if setting.grants:
            self.waiting[rec.id] = setting

    def _said(self, draft: Draft, rec_id: str) -> Iterator[Write]:
        """The words of somebody outside, found by the index before they are there."""
        if draft.remark is not None:
            index_remark(self.store, self.memory, self.addresses, draft.remark, self.now)
            yield Put(replace(draft.remark, recommendation=rec_id))
        if draft.lapses_at is not None:
            yield Put(Due(draft.lapses_at, DUE_SAID, rec_id))

    def _refresh(self, setting: Setting, rec: Recommendation, draft: Draft) -> None:
        """Bring an open recommendation up to date; frozen once approved, until its proposal would differ."""
        differs = shape_of(draft.proposal) != shape_of(rec.proposal) or not self._is_told(rec, draft)
        if rec.status == "approved" and differs:
            self._revise(setting, rec, draft, "changed")
        elif rec.status == "pending" and (differs or says_something_new(rec, draft)):
            self._revise(setting, rec, draft, "revised")
        elif rec.status == "pending" and has_moved(rec, draft, setting.co_creators):
            moved = refreshed(rec, draft, self.now, setting.co_creators)
            self._write([Replace(replace(moved, rev=rec.rev + 1), expected=rec.rev), *self._new_expiry(rec)])
            self.counts["refreshed"] += 1
        elif rec.status == "snoozed" and not set(setting.co_creators) <= set(rec.creators):
            found_by = tuple(dict.fromkeys((*rec.creators, *setting.co_creators)))
            self._write([Replace(replace(rec, creators=found_by, rev=rec.rev + 1), expected=rec.rev)])

    def _is_told(self, rec: Recommendation, draft: Draft) -> bool:
        """Whether the texts of a proposal are still there: a call it quotes may be forgotten, or have expired."""
        quoted = {ref.grain for ref in refs_of(rec.proposal) if not is_remark(ref.grain)}
        if not quoted or set(rec.evidence) <= set(draft.evidence):
            return True
        found = self.store.grains(self.memory, quoted, self.now)
        return all(address in found and found[address].body for address in quoted)

    def _new_expiry(self, rec: Recommendation) -> list[Write]:
        expires_at = expiry_of(self.now)
        return [Put(Due(expires_at, DUE_EXPIRY, rec.id))] if expires_at > rec.expires_at else []

    def _revise(self, setting: Setting, rec: Recommendation, draft: Draft, reason: str) -> None:
        """A revision: the proposal as of now, which waits for a decision, and an audit entry that says so."""
        status: Status = "pending"
        require_step(rec.status, status, "engine")
        revised = replace(
            refreshed(rec, draft, self.now, setting.co_creators),
            severity=draft.severity,
            proposal=draft.proposal,
            proposal_digest=digest_of(draft.proposal),
            destructive=draft.proposal.is_destructive,
            rollbackable=draft.proposal.is_rollbackable,
            count_at_revision=draft.count,
            revision=rec.revision + 1,
            rev=rec.rev + 1,
            status=status,
            reason=reason,
            approval=None,
        )
        entry = self._entry(rec, status, {**effects_of(revised), "reason": reason})
        revised = replace(revised, chain=head_after(entry))
        waiting = told(self.store, self.memory, rec, revised)
        self._write([Replace(revised, expected=rec.rev), *audited(entry), *self._new_expiry(rec), *waiting])
        self.counts["refreshed"] += 1

    def expire(self, rec_id: str) -> None:
        """Let a recommendation age out, unless it was decided or refreshed meanwhile; raises as :meth:`settle`."""
        self._insist(rec_id, self._expire)

    def _expire(self, rec: Recommendation) -> None:
        if rec.status not in OPEN or rec.expires_at > self.now:
            return
        self._close(rec, replace(self._key_of(rec), cooldown_until=self.now + ACKNOWLEDGED_MS), "aged")

    def resolve(self, rec_id: str) -> None:
        """Close a recommendation whose cause is gone, unless it was decided meanwhile; raises as :meth:`settle`."""
        self._insist(rec_id, self._resolve)

    def _resolve(self, rec: Recommendation) -> None:
        if rec.status in OPEN:
            self._close(rec, self._key_of(rec), "resolved")

    def _key_of(self, rec: Recommendation) -> FindingKey:
        key = self.store.finding_key(self.memory, rec.family, rec.group, rec.dedup_key)
        if key is None:
            raise IntegrityError("a recommendation's dedup key is missing")
        return key

    def wake(self, rec_id: str) -> None:
        """Let a snoozed recommendation wait again, once its time has come; raises as :meth:`settle`."""
        self._insist(rec_id, self._wake)

    def _wake(self, rec: Recommendation) -> None:
        if rec.status != "snoozed" or rec.snoozed_until is None or rec.snoozed_until > self.now:
            return
        require_step(rec.status, "pending", "engine")
        entry = self._entry(rec, "pending", {**effects_of(rec), "reason": "woken"})
        awake = replace(
            rec, status="pending", snoozed_until=None, updated_at=self.now, chain=head_after(entry), rev=rec.rev + 1,
            expires_at=max(rec.expires_at, expiry_of(self.now)),
        )  # fmt: skip
        writes: list[Write] = [Replace(awake, expected=rec.rev), *audited(entry), *self._new_expiry(rec)]
        self._write(writes + told(self.store, self.memory, rec, awake))

    def _insist(self, rec_id: str, step: Callable[[Recommendation], None]) -> None:
        """Take a step with a recommendation as it is, again where a decision came in between."""
        for _ in range(_MAX_ROUNDS):
            rec = self.store.recommendations(self.memory, [rec_id]).get(rec_id)
            try:
                if rec is not None:
                    step(rec)
            except WriteRefusedError as refused:
                if is_lost(refused):
                    raise LeaseLostError from refused
            else:
                return
        raise BusyError("decisions on one finding keep coming in")

    def _entry(self, rec: Recommendation, after: Status, effects: Mapping[str, Any]) -> AuditEntry:
        """The audit entry of a step that the engine takes."""
        return next_entry(
            rec.chain,
            subject=rec.id,
            before=rec.status,
            after=after,
            by=engine_author(rec.creators[0]),
            at=self.now,
            effects=effects,
        )

    def _close(self, rec: Recommendation, key: FindingKey, reason: str) -> None:
        require_step(rec.status, "expired", "engine")
        entry = self._entry(rec, "expired", {"reason": reason})
        closed = replace(
            rec, status="expired", reason=reason, updated_at=self.now, rev=rec.rev + 1, chain=head_after(entry)
        )
        freed = replace(key, open_id=None, last_id=rec.id, last_status="expired", rev=key.rev + 1)
        writes: list[Write] = [Replace(closed, expected=rec.rev), Replace(freed, expected=key.rev), *audited(entry)]
        writes += told(self.store, self.memory, rec, closed)
        if freed.cooldown_until is not None and freed.cooldown_until > self.now:
            due = Due(freed.cooldown_until, DUE_GROUP, group_ref(rec.family, rec.group))
            writes += [] if self.store.due_present(self.memory, [due]) else [Put(due)]
        self._write(writes)
        self.counts["expired"] += 1

    def _write(self, writes: list[Write]) -> None:
        self._keys.clear()
        head = self.folds()
        self.store.transact(self.memory, [Require(head, expected=head.rev), *writes], self.now)

"""A batch on its way into one transaction: which events fold together, and what each becomes.

Events with one address fold into one slot's write. What is found in the store where a grain was to be put decides
between duplicate, restatement, change and revival; the batch learns it from a refused transaction and is sent again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from provenloop.domain.address import Addresses
from provenloop.domain.commit import Change, ChangeOp
from provenloop.domain.errors import TooLargeError
from provenloop.domain.events import Event, SupersedeEvent
from provenloop.domain.grain import DEFAULT_FIELDS, OCCURRENCES, Grain, GrainDraft
from provenloop.domain.prepare import Prepared
from provenloop.domain.recommendation import DAY_MS
from provenloop.domain.records import History
from provenloop.services.ports import Failure, Put, Replace, Restate, Write
from provenloop.services.statements import held_at, restated_as, said_together, says_nothing_new
from provenloop.services.superseding import Step, require_apart, supersede_changes, supersede_writes

TOOL_CALL_KEPT_MS = 90 * DAY_MS
_SECOND_MS = 1000
MAX_WRITES = 98

Outcome = Literal["stored", "duplicate", "restated", "changed", "revived"]
_OPS: Mapping[Outcome, ChangeOp] = {
    "stored": "add", "revived": "revive", "changed": "change", "restated": "restate",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Slot:
    """One event of the batch with the address it gets."""

    index: int
    draft: GrainDraft
    address: str
    redacted: Mapping[str, int]
    supersede: Step | None = None

    @classmethod
    def of(
        cls, index: int, event: Event, prepared: Prepared, addresses: Addresses, occurrence: tuple[str, ...]
    ) -> Slot:
        """The slot of an event; ``occurrence`` identifies an event that has no identity of its own."""
        draft, address = prepared.draft, addresses.address(prepared.draft, occurrence)
        step = Step.of(index, event, address, draft.kind) if isinstance(event, SupersedeEvent) else None
        return cls(index, draft, address, prepared.redacted, step)


class Batch:
    """Slots folded by address, and what was found in the store so far.

    Args:
        seq, by, now: the commit's number, its principal's label, its time.
        request: names the request; what it made itself is a duplicate when it is sent again.
        targets: the stored grains that supersede events name.
    """

    def __init__(
        self,
        slots: Sequence[Slot],
        addresses: Addresses,
        *,
        seq: int,
        by: str,
        now: int,
        request: str,
        targets: Mapping[str, Grain],
    ) -> None:
        self._slots = slots
        self._addresses = addresses
        self._seq, self._by, self._now, self._request = seq, by, now, request
        self._is_repeat = False
        self._found: dict[str, Grain] = {}
        self._targets = dict(targets)
        self._groups: dict[str, list[Slot]] = {}
        for slot in slots:
            self._groups.setdefault(slot.address, []).append(slot)
        require_apart(self._steps, self._groups)

    @property
    def _steps(self) -> list[Step]:
        return [slot.supersede for slot in self._slots if slot.supersede is not None]

    def learn(self, failures: Iterable[Failure]) -> None:
        """Take in what a refused transaction found."""
        for failure in failures:
            wanted = failure.write.grain if isinstance(failure.write, Restate) else failure.write.entity
            if not isinstance(wanted, Grain):
                continue
            known = self._targets if wanted.address in self._targets else self._found
            if isinstance(failure.found, Grain):
                known[wanted.address] = failure.found
            else:
                known.pop(wanted.address, None)

    def writes(self) -> list[Write]:
        """The grain writes of the transaction.

        Raises:
            NotFoundError, TargetChangedError, InvalidInputError: a supersede's target is not there or not current.
            TooLargeError: the stored grains that change need more room than one transaction has.
        """
        writes: list[Write] = []
        for slots in self._groups.values():
            writes.extend(self._grain_writes(slots))
        writes.extend(supersede_writes(self._superseding(), self._targets, self._seq, self._now))
        if len(writes) > MAX_WRITES:
            raise TooLargeError("too many stored grains change in one request; send fewer events", field="events")
        return writes

    def _outcome(self, slots: Sequence[Slot]) -> Outcome:
        """What the first event of a group becomes."""
        if self._is_repeat:
            return "duplicate"
        found, draft = self._found.get(slots[0].address), said_together([slot.draft for slot in slots], self._now)
        if found is None:
            return "stored"
        if draft.kind in OCCURRENCES or found.request == self._request:
            return "duplicate"
        if not found.is_current:
            return "revived"
        return "restated" if says_nothing_new(found, draft) else "changed"

    def _grain_writes(self, slots: Sequence[Slot]) -> Iterator[Write]:
        outcome = self._outcome(slots)
        if outcome == "duplicate":
            return
        grain = self._grain(slots)
        found = self._found.get(grain.address)
        if found is None:
            yield Put(_with_defaults(grain))
        elif outcome == "restated" and held_at(grain, found) != found.occurred_at:
            later = replace(found, occurred_at=held_at(grain, found), head_rev=found.head_rev + 1, seq=self._seq)
            yield Replace(
                replace(later, last_stated_at=self._now, place=grain.place),
                expected=found.head_rev,
                restated=len(slots),
            )
        elif outcome == "restated":
            yield Restate(found, times=len(slots), at=self._now, expected=found.head_rev, place=grain.place)
        elif outcome == "changed":
            yield Put(History(found))
            yield Replace(restated_as(found, grain), expected=found.head_rev, restated=len(slots))
        else:
            revived = replace(_with_defaults(grain), head_rev=found.head_rev + 1, generation=found.generation + 1)
            yield Put(History(found))
            yield Replace(revived, expected=found.head_rev, counters=True)

    def _grain(self, slots: Sequence[Slot]) -> Grain:
        """The group as a grain."""
        draft = said_together([slot.draft for slot in slots], self._now)
        is_once = draft.kind in OCCURRENCES
        redacted: Counter[str] = Counter()
        for slot in slots[:1] if is_once else slots:
            redacted.update(slot.redacted)
        return Grain(
            address=slots[0].address,
            kind=draft.kind,
            namespace=draft.namespace,
            body=draft.body,
            recorded_at=self._now,
            last_stated_at=self._now,
            seq=self._seq,
            by=self._by,
            request=self._request,
            stated=1 if is_once else len(slots),
            occurred_at=draft.occurred_at,
            valid_from=draft.valid_from,
            valid_to=draft.valid_to,
            expires_at=_full_second(self._now + TOOL_CALL_KEPT_MS) if draft.kind == "tool_call" else None,
            place=0 if is_once else slots[-1].index,
            redacted=dict(redacted),
        )

    @property
    def counts_again(self) -> bool:
        """Whether sending this batch twice would count something twice: then the request has to be remembered."""
        return any(self._outcome(slots) in ("restated", "changed", "revived") for slots in self._groups.values())

    def mark_repeated(self) -> None:
        """This very request was stored before: nothing is left to do."""
        self._is_repeat = True

    def _superseding(self) -> list[Step]:
        """The supersedes that still have something to do."""
        if self._is_repeat:
            return []
        return [step for step in self._steps if not step.is_done(self._targets.get(step.target))]

    def changes(self) -> tuple[Change, ...]:
        """What the commit changes, in the order of the events."""
        changes: list[Change] = []
        for slots in self._groups.values():
            outcome = self._outcome(slots)
            if outcome != "duplicate":
                changes.append(
                    self._change(
                        slots[0].address, said_together([slot.draft for slot in slots], self._now), _OPS[outcome]
                    )
                )
        changes.extend(supersede_changes(self._superseding(), self._targets))
        return tuple(changes)

    def _change(self, address: str, draft: GrainDraft, op: ChangeOp) -> Change:
        is_call = draft.kind == "tool_call"
        return Change(
            op=op,
            kind=draft.kind,
            address=address,
            namespace=draft.namespace,
            tool_key=self._addresses.tool_key(draft.namespace, draft.topic) if is_call else None,
            signature=draft.signature,
            is_error=draft.is_error,
            occurred_at=draft.occurred_at,
            valid_from=draft.valid_from,
            valid_to=draft.valid_to,
            session=self._addresses.short("session", draft.session) if draft.session else None,
        )

    def answers(self) -> list[Mapping[str, Any]]:
        """One answer per event, in order."""
        return [self._answer(slot) for slot in self._slots]

    def _answer(self, slot: Slot) -> Mapping[str, Any]:
        group = self._groups[slot.address]
        outcome: str = self._outcome(group)
        answer: dict[str, Any] = {"index": slot.index, "kind": slot.draft.kind, "address": slot.address}
        if slot is not group[0]:
            outcome = "restated" if outcome != "duplicate" and slot.draft.kind not in OCCURRENCES else "duplicate"
            answer["same_as"] = group[0].index
        answer["status"] = outcome
        if slot.supersede is not None:
            answer["superseded"] = slot.supersede.target
        if outcome == "duplicate" and self._differs(slot, group[0]):
            answer["differs"] = True
        return answer

    def _differs(self, slot: Slot, leader: Slot) -> bool:
        """Whether a duplicate says something else than what is kept: the first is kept, the sender is told."""
        found = self._found.get(slot.address)
        if found is not None and found.state == "forgotten":
            return False
        kept = found.body if found is not None else leader.draft.body
        if slot.draft.kind in OCCURRENCES:
            return dict(slot.draft.body) != dict(kept)
        return {**kept, **slot.draft.body} != dict(kept)


def _with_defaults(grain: Grain) -> Grain:
    """A grain that begins: what its kind has where nothing is given."""
    defaults = DEFAULT_FIELDS.get(grain.kind)
    return replace(grain, body={**defaults, **grain.body}) if defaults else grain


def _full_second(at: int) -> int:
    """Expiry is stored in whole seconds; rounded up, so that nothing goes early."""
    return -(-at // _SECOND_MS) * _SECOND_MS

"""A proposal as grain writes, with the images that undo them.

The grains are read before anything is written: each target must still be current and at the revision the proposal
names. What an ADD would create is written on the assumption that it is not there; where it is, the refused transaction
tells, and the set is built again with what was found.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from provenloop.domain.address import Addresses
from provenloop.domain.commit import Change, ChangeOp
from provenloop.domain.errors import InvalidInputError, TargetChangedError
from provenloop.domain.events import FactEvent
from provenloop.domain.grain import Grain, GrainDraft, text_of, with_successor
from provenloop.domain.merging import merged
from provenloop.domain.prepare import prepare
from provenloop.domain.proposal import NewFact, Operation, Proposal, TextRef, plain, refs_of
from provenloop.domain.records import BeforeImage, History, Predecessors
from provenloop.services.erasing import forgotten_change, tombstone
from provenloop.services.ports import Put, Replace, Require, Write

#: What a fact that an apply made gives as its source.
LESSON_SOURCE = "provenloop"
_HEAD_FIELDS = ("state", "superseded_by", "head_rev", "seq", "changed_at")


@dataclass
class ChangeSet:
    """Writes, log changes and before-images of one apply."""

    writes: list[Write] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    images: list[BeforeImage] = field(default_factory=list)
    created: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)


def addresses_read(proposal: Proposal) -> frozenset[str]:
    """Every grain that applying needs to see: targets, and grains whose text is used."""
    named = {address for operation in proposal.operations for address in (*operation.expects, *_named(operation))}
    return frozenset(named | {ref.grain for ref in refs_of(proposal)})


def _named(operation: Operation) -> Iterator[str]:
    return (address for address in (operation.target, operation.into) if address is not None)


def forgotten_by(proposal: Proposal) -> tuple[str, ...]:
    """The grains that applying would forget."""
    return tuple(operation.target for operation in proposal.operations if operation.op == "FORGET" and operation.target)


def require_unchanged(proposal: Proposal, grains: Mapping[str, Grain]) -> None:
    """Refuse unless every target is current and at the revision the proposal names, and every text is there.

    Raises:
        TargetChangedError: naming the addresses.
    """
    gone = {
        address
        for operation in proposal.operations
        for address, head_rev in operation.expects.items()
        if not _is_as_expected(grains.get(address), head_rev)
    }
    gone |= {address for operation in proposal.operations for address in _named(operation) if address not in grains}
    gone |= {
        ref.grain for ref in refs_of(proposal) if ref.grain not in grains or not text_of(grains[ref.grain], ref.field)
    }
    if gone:
        raise TargetChangedError(f"changed since it was proposed: {', '.join(sorted(gone))}")


def _is_as_expected(grain: Grain | None, head_rev: int) -> bool:
    return grain is not None and grain.is_current and grain.head_rev == head_rev


@dataclass(frozen=True)
class ChangeContext:
    """What a change set is built from: the commit's number, author and time, and the grains as read.

    ``calls`` are the tool calls among them that are to be forgotten, as they were counted. ``lesson_of`` is the
    recommendation, where what it makes is a lesson.
    """

    addresses: Addresses
    seq: int
    by: str
    now: int
    grains: Mapping[str, Grain]
    found: Mapping[str, Grain]
    calls: Mapping[str, Change] = field(default_factory=dict)
    lesson_of: str | None = None


def build_change_set(proposal: Proposal, context: ChangeContext) -> ChangeSet:
    """The grain writes of a proposal.

    Raises:
        InvalidInputError: an operation that has no execution, a merge of grains of different kinds or namespaces, or a
            grain that would be written twice.
    """
    result = ChangeSet()
    required: set[str] = set()
    merges: dict[str, list[str]] = {}
    for operation in proposal.operations:
        if operation.op == "ADD" and operation.fact is not None:
            _add(result, operation.fact, context)
        elif operation.op == "SUPERSEDE" and operation.target and operation.fact is not None:
            _supersede(result, context.grains[operation.target], operation.fact, context)
        elif operation.op == "POINT" and operation.target and operation.into:
            _point(result, operation, context, required)
        elif operation.op == "MERGE" and operation.target and operation.into:
            merges.setdefault(operation.into, []).append(operation.target)
        elif operation.op == "FORGET" and operation.target:
            _forget(result, context.grains[operation.target], context)
        else:
            raise InvalidInputError(f"{operation.op} cannot be applied", field="proposal")
    for into, targets in merges.items():
        _merge(result, context.grains[into], [context.grains[target] for target in targets], context)
    _require_apart(result)
    result.writes += _ways_back(result.changes, context.seq)
    return result


def _ways_back(changes: Iterable[Change], seq: int) -> list[Write]:
    """From each winner to those that were pointed at it."""
    back: dict[str, list[str]] = {}
    for change in changes:
        if change.into is not None:
            back.setdefault(change.into, []).append(change.address)
    return [Put(Predecessors(winner, seq, tuple(losers))) for winner, losers in back.items()]


def _require_apart(result: ChangeSet) -> None:
    """One transaction cannot write one grain twice."""
    written = [
        write.entity.address
        for write in result.writes
        if isinstance(write, Put | Replace | Require) and isinstance(write.entity, Grain)
    ]
    if len(set(written)) < len(written):
        raise InvalidInputError("one grain would be changed twice", field="proposal")


def _merge(result: ChangeSet, kept: Grain, losers: Sequence[Grain], context: ChangeContext) -> None:
    """Point grains at the one that is kept, which takes over what only they have and counts their statements."""
    if any((loser.kind, loser.namespace) != (kept.kind, kept.namespace) for loser in losers):
        raise InvalidInputError("only grains of one kind and one namespace can be merged", field="proposal")
    for loser in losers:
        _point_away(result, loser, kept.address, context)
    outcome = merged(kept, losers)
    after = replace(outcome.grain, head_rev=kept.head_rev + 1, seq=context.seq, changed_at=context.now)
    result.writes += [Put(History(kept)), Replace(after, expected=kept.head_rev, restated=outcome.stated)]
    result.images.append(
        BeforeImage(
            kept.address,
            after.head_rev,
            {},
            history_rev=kept.head_rev,
            left_stated=kept.stated + outcome.stated,
            gained=outcome.stated,
        )
    )
    result.changes.append(Change("merge", kept.kind, kept.address, kept.namespace))
    result.changed.append(kept.address)


def _forget(result: ChangeSet, grain: Grain, context: ChangeContext) -> None:
    """A tombstone, for which there is no inverse."""
    after = tombstone(grain, seq=context.seq, at=context.now)
    result.writes.append(Replace(after, expected=grain.head_rev))
    result.changes.append(forgotten_change(grain, context.addresses, context.calls))
    result.changed.append(grain.address)


def _point(result: ChangeSet, operation: Operation, context: ChangeContext, required: set[str]) -> None:
    """Supersede a grain by one that exists."""
    loser, winner = context.grains[operation.target or ""], context.grains[operation.into or ""]
    _point_away(result, loser, winner.address, context)
    if winner.address not in required:
        required.add(winner.address)
        result.writes.append(Require(winner, expected=winner.head_rev))


def _supersede(result: ChangeSet, loser: Grain, fact: NewFact, context: ChangeContext) -> None:
    """Supersede a fact by one that is made, or made current again."""
    if (loser.kind, loser.namespace) != ("fact", fact.namespace):
        raise InvalidInputError("only a fact of the same namespace can be superseded by a fact", field="proposal")
    winner = _add(result, fact, context)
    _point_away(result, loser, winner, context)


def _point_away(result: ChangeSet, loser: Grain, winner: str, context: ChangeContext) -> None:
    after = with_successor(loser, winner, seq=context.seq, at=context.now)
    result.writes.append(Replace(after, expected=loser.head_rev))
    result.images.append(BeforeImage(loser.address, after.head_rev, _head_fields(loser)))
    result.changes.append(Change("point", loser.kind, loser.address, loser.namespace, into=winner))
    result.changed.append(loser.address)


def _add(result: ChangeSet, fact: NewFact, context: ChangeContext) -> str:
    """Make a fact current: new, or a new generation of one that was superseded. One that is current stays as it is.

    Returns:
        its address.
    """
    draft = _fact_draft(fact, context.grains, context.now)
    address = context.addresses.address(draft)
    found = context.found.get(address)
    grain = Grain(
        address=address,
        kind="fact",
        namespace=draft.namespace,
        body=draft.body,
        recorded_at=context.now,
        last_stated_at=context.now,
        seq=context.seq,
        by=context.by,
        lesson_of=context.lesson_of,
    )
    if found is None:
        result.writes.append(Put(grain))
        result.images.append(BeforeImage(address, grain.head_rev, None))
        _note_created(result, grain, "add")
    elif found.is_current:
        result.writes.append(Require(found, expected=found.head_rev))
    else:
        revived = replace(grain, head_rev=found.head_rev + 1, generation=found.generation + 1)
        result.writes += [Put(History(found)), Replace(revived, expected=found.head_rev, counters=True)]
        result.images.append(BeforeImage(address, revived.head_rev, {}, history_rev=found.head_rev))
        _note_created(result, revived, "revive")
    return address


def _note_created(result: ChangeSet, grain: Grain, op: ChangeOp) -> None:
    result.changes.append(Change(op, grain.kind, grain.address, grain.namespace))
    result.created.append(grain.address)


def _fact_draft(fact: NewFact, grains: Mapping[str, Grain], now: int) -> GrainDraft:
    def resolve(ref: TextRef) -> str:
        return text_of(grains[ref.grain], ref.field)

    event = FactEvent(
        namespace=fact.namespace,
        subject=plain(fact.subject, resolve),
        relation=plain(fact.relation, resolve),
        object=plain(fact.object, resolve),
        confidence=fact.confidence,
        source=LESSON_SOURCE,
    )
    return prepare(event, now).draft


def _head_fields(grain: Grain) -> dict[str, str | int | None]:
    return {name: getattr(grain, name) for name in _HEAD_FIELDS}

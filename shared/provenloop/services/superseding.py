"""Superseding: a current grain gets a successor; with ``allow_fork`` a superseded one gets one more.

Writers who name ``if_head``, or no fork, never make one: two writers who replace the same grain at once are a 409 for
the second. A true fork comes from imports and offline writers, and is found by its two current successors.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from provenloop.domain.commit import Change, ChangeOp
from provenloop.domain.errors import InvalidInputError, NotFoundError, TargetChangedError
from provenloop.domain.events import SupersedeEvent
from provenloop.domain.grain import Grain, with_successor
from provenloop.domain.records import History, Predecessors
from provenloop.services.ports import Put, Replace, Write


@dataclass(frozen=True, slots=True)
class Step:
    """One supersede of a batch: event ``index`` replaces ``target`` by the grain at ``by``, which is of ``kind``."""

    index: int
    target: str
    by: str
    kind: str
    if_head: int | None
    allow_fork: bool

    @classmethod
    def of(cls, index: int, event: SupersedeEvent, by: str, kind: str) -> Step:
        """The step of an event whose replacement has that address and kind."""
        return cls(index, event.target, by, kind, event.if_head, event.allow_fork)

    def is_done(self, target: Grain | None) -> bool:
        """Whether the target has this very successor already."""
        return target is not None and target.state == "superseded" and self.by in target.successors


def require_apart(steps: Iterable[Step], written: Iterable[str]) -> None:
    """One transaction cannot write one grain twice.

    Args:
        written: addresses that the batch writes itself.

    Raises:
        InvalidInputError: naming the event.
    """
    taken = set(written)
    seen: set[str] = set()
    for step in steps:
        field = f"events[{step.index}].target"
        if step.target == step.by:
            raise InvalidInputError("a grain cannot replace itself: state it again instead", field=field)
        if step.target in taken:
            raise InvalidInputError("another event of this request writes the same grain", field=field)
        if step.target in seen:
            raise InvalidInputError("another event of this request supersedes the same grain", field=field)
        seen.add(step.target)


def supersede_writes(steps: Iterable[Step], targets: Mapping[str, Grain], seq: int, now: int) -> Iterator[Write]:
    """The targets with their new successors, how they were before, and the ways back.

    Raises:
        NotFoundError, InvalidInputError, TargetChangedError: a target is not there, of another kind, or not current.
    """
    back: dict[str, list[str]] = {}
    for step in steps:
        target = _required(step, targets.get(step.target))
        yield Put(History(target))
        yield Replace(with_successor(target, step.by, seq=seq, at=now), expected=target.head_rev)
        back.setdefault(step.by, []).append(step.target)
    for address, superseded in back.items():
        yield Put(Predecessors(address, seq, tuple(superseded)))


def _required(step: Step, target: Grain | None) -> Grain:
    field = f"events[{step.index}].target"
    if target is None:
        raise NotFoundError("no such grain", field=field)
    if target.kind != step.kind:
        raise InvalidInputError(f"a {target.kind} is superseded by a {target.kind} only", field=field)
    if target.state == "superseded" and not step.allow_fork:
        raise TargetChangedError("the grain is superseded already; allow_fork: true gives it one more", field=field)
    if target.state == "forgotten":
        raise TargetChangedError("the grain is forgotten", field=field)
    if step.if_head is not None and step.if_head != target.head_rev:
        raise TargetChangedError(f"the grain's head_rev is {target.head_rev}", field=f"events[{step.index}].if_head")
    return target


def supersede_changes(steps: Iterable[Step], targets: Mapping[str, Grain]) -> Iterator[Change]:
    """What a fold needs to know: which grain got which successor, and whether that makes a fork."""
    for step in steps:
        target = targets.get(step.target)
        if target is not None:
            op: ChangeOp = "supersede" if target.is_current else "fork"
            yield Change(op, target.kind, target.address, target.namespace, into=step.by)

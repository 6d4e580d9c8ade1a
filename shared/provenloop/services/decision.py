"""What every decision on a recommendation has in common.

Checks run in one order: scope, because, known, step allowed, who may, what was seen; a refusal writes nothing. The
change, its audit entry, its note and the answer to a repeated request are one transaction.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from provenloop.domain.audit import AuditEntry, Note, author_of, head_after, next_entry
from provenloop.domain.errors import (
    AmbiguousPrefixError,
    BusyError,
    ConflictError,
    InvalidInputError,
    NotFoundError,
    SelfApprovalError,
    StaleDecisionError,
    TargetChangedError,
)
from provenloop.domain.lifecycle import Status
from provenloop.domain.recommendation import ID_CHARS, Recommendation
from provenloop.services.call import Call
from provenloop.services.declare import only_the_timer
from provenloop.services.outbox import salted
from provenloop.services.ports import Put, Store, Write, WriteRefusedError
from provenloop.services.replay import answered_before, replay_of

MAX_BECAUSE_CHARS = 500
_MAX_ROUNDS = 5
_PREFIX = re.compile(rf"[a-z2-7]{{1,{ID_CHARS}}}\Z")


@dataclass(frozen=True, slots=True)
class Decision:
    """What a decision writes (its audit entries and notes among it) and what it answers."""

    writes: Sequence[Write]
    reply: Mapping[str, Any]


def require_because(because: str) -> str:
    """The written reason, trimmed.

    Raises:
        InvalidInputError: blank, or over 500 characters.
    """
    trimmed = because.strip()
    if not 1 <= len(trimmed) <= MAX_BECAUSE_CHARS:
        raise InvalidInputError(f"a reason of 1 to {MAX_BECAUSE_CHARS} characters is needed", field="because")
    return trimmed


def find_recommendation(store: Store, call: Call, prefix: str, *, field: str = "id") -> Recommendation:
    """The one recommendation whose id starts with ``prefix``; ``field`` is where the caller gave it.

    Raises:
        NotFoundError: there is none.
        AmbiguousPrefixError: there are several; the message says how many.
    """
    wanted = prefix.lower()
    found = store.recommendations_by_prefix(call.memory, wanted, 2) if _PREFIX.match(wanted) else ()
    if not found:
        raise NotFoundError("no recommendation has that id", field=field)
    if len(found) > 1:
        count = store.count_recommendations(call.memory, wanted)
        raise AmbiguousPrefixError(f"{count} recommendations have an id that starts so", field=field)
    return found[0]


def require_other_author(call: Call, rec: Recommendation) -> None:
    """Refuse self-approval, also through a token that the creator minted.

    Raises:
        SelfApprovalError: somebody in the decider's lineage created the recommendation.
    """
    if set(call.principal.lineage) & set(rec.creators):
        raise SelfApprovalError("whoever brought a finding up cannot approve it")


def require_seen(rec: Recommendation, proposal_digest: str | None) -> None:
    """Refuse a decision about another proposal than the stored one.

    Raises:
        StaleDecisionError: the digest the decider names is not the proposal's.
    """
    if proposal_digest is not None and proposal_digest != rec.proposal_digest:
        raise StaleDecisionError("the proposal has changed since it was shown", field="proposal_digest")


def transition(
    call: Call, rec: Recommendation, after: Status, because: str, effects: Mapping[str, Any]
) -> tuple[Recommendation, AuditEntry, Note]:
    """The recommendation one step on, with the audit entry and note of that step. ``rev`` is moved by the writer."""
    note = salted(rec.id, rec.chain.n + 1, because, call.entropy)
    entry = next_entry(
        rec.chain,
        subject=rec.id,
        before=rec.status,
        after=after,
        by=author_of(call.principal),
        at=call.now,
        note=note,
        effects={**effects_of(rec), **effects},
    )
    moved = replace(rec, status=after, updated_at=call.now, snoozed_until=None, chain=head_after(entry))
    return moved, entry, note


def effects_of(rec: Recommendation) -> dict[str, Any]:
    """What every entry says of the recommendation, beside what the step did: which proposal it was about."""
    return {"revision": rec.revision, "severity": rec.severity, "proposal": rec.proposal_digest}


def decide(store: Store, call: Call, route: str, build: Callable[[], Decision]) -> dict[str, Any]:
    """Build a decision and write it, or answer again what the same request was answered before.

    Raises:
        LoopError: the decision is refused; nothing was written.
        ConflictError: somebody decided about the same thing at the same time.
        BusyError: decisions about others kept setting the memory's timer.
        IdempotencyMismatchError: the Idempotency-Key came with another body before.
    """
    for _ in range(_MAX_ROUNDS):
        decision: Decision | None = None
        with answered_before(store, call, route) as earlier:
            decision = build()
        if earlier.reply is not None or decision is None:
            return earlier.reply or {}
        replay = replay_of(call, route, decision.reply)
        writes = [*decision.writes, *([Put(replay)] if replay is not None else [])]
        with answered_before(store, call, route) as earlier:
            try:
                store.transact(call.memory, writes, call.now)
            except WriteRefusedError as refused:
                if only_the_timer(refused):
                    continue
                raise lost_race() from refused
        return earlier.reply if earlier.reply is not None else dict(decision.reply)
    raise BusyError("other decisions keep moving the memory's timer; try again")


@contextmanager
def unless_decided(store: Store, call: Call, rec: Recommendation) -> Iterator[None]:
    """Tells a target that changed from a race that was lost: where the recommendation has moved since it was read, it
    was a decision about it that changed what is found now.

    Raises:
        ConflictError: it has moved.
        TargetChangedError: as the checks inside raise it, where it has not.
    """
    try:
        yield
    except TargetChangedError as error:
        stored = store.recommendations(call.memory, [rec.id]).get(rec.id)
        if stored is None or stored.rev == rec.rev:
            raise
        raise lost_race() from error


def lost_race() -> ConflictError:
    """The error for a decision that came second."""
    return ConflictError("somebody changed it at the same time; look at it again")

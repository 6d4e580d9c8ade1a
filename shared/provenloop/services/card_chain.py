"""Steps of cards: the card's head, its audit entry, its rule and its event are one transaction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from provenloop.domain.audit import (
    AuditEntry,
    ChainEnd,
    ChainHead,
    Note,
    author_of,
    engine_author,
    head_after,
    next_entry,
)
from provenloop.domain.canonical import sha256_hex
from provenloop.lessons.actions import EngineStep, moved_by_engine
from provenloop.lessons.card import Card, rule_of
from provenloop.lessons.judgement import tally_of
from provenloop.services.call import Call
from provenloop.services.card_count import Count, Within
from provenloop.services.outbox import audited
from provenloop.services.ports import Put, Remove, Replace, Store, Write

ENGINE = "engine:lessons"
_SALT_BYTES = 16


class CardStep(NamedTuple):
    """The card after a step, the entry of it, and what it writes."""

    card: Card
    entry: AuditEntry
    writes: list[Write]


def step_of_person(store: Store, call: Call, card: Card, after: Card, action: str, because: str) -> CardStep:
    """What a person's action on a card writes. Counters that it rests on must be what was read."""
    end = _end(store, call, card)
    note = Note(card.chain, end.head.n + 1, call.entropy(_SALT_BYTES).hex(), because)
    entry = _entry(end, card, after, author_of(call.principal), call.now, {"action": action}, note)
    reset: dict[str, Any] = {"reset": ("since_rejection",)} if action == "reject" else {}
    within = unmoved(card) if action == "arm" else ()
    count = Count(after, card.rev, within=within, **reset)
    return CardStep(
        after, entry, [count, *_ended(end, entry, after.status), *audited(entry, note), *rules(card, after)]
    )


def step_of_engine(
    store: Store, call: Call, card: Card, step: EngineStep, count: Count, effects: Mapping[str, Any] | None = None
) -> CardStep:
    """What a step of the engine on a card writes; ``count`` is what is counted with it.

    Raises:
        IllegalTransitionError: its status does not allow that.
    """
    after = moved_by_engine(card, step, call.now)
    end = _end(store, call, card)
    entry = _entry(end, card, after, engine_author(ENGINE), call.now, {"action": step, **(effects or {})}, None)
    moved = Count(
        after,
        card.rev,
        add=count.add,
        within=count.within,
        last_at=count.last_at,
        clean_at=count.clean_at,
        suggests=count.suggests,
    )
    return CardStep(after, entry, [moved, *_ended(end, entry, after.status), *audited(entry), *rules(card, after)])


def put_as_ready(store: Store, call: Call, card: Card, effects: Mapping[str, Any]) -> CardStep:
    """What a new card writes that is ready with its first report."""
    end = _end(store, call, card)
    entry = _entry(end, card, card, engine_author(ENGINE), call.now, {"action": "ready", **effects}, None)
    return CardStep(card, entry, [Put(card), *_ended(end, entry, card.status), *audited(entry)])


def chained(
    store: Store, call: Call, before: Card, after: Card, effects: Mapping[str, Any], because: str | None
) -> list[Write]:
    """The entry of a person's step on the card's chain, its note and event, and where the chain ends.

    Without a ``because`` it is the engine's.
    """
    end = _end(store, call, after)
    if because is None:
        entry = _entry(end, before, after, engine_author(ENGINE), call.now, effects, None)
        return [*_ended(end, entry, after.status), *audited(entry)]
    note = Note(after.chain, end.head.n + 1, call.entropy(_SALT_BYTES).hex(), because)
    entry = _entry(end, before, after, author_of(call.principal), call.now, effects, note)
    return [*_ended(end, entry, after.status), *audited(entry, note)]


def rules(before: Card, after: Card) -> list[Write]:
    """How the rules of the project change where an armed card moves, or a card is armed."""
    if before.status != "armed" and after.status != "armed":
        return []
    old, new = rule_of(before), rule_of(after)
    if before.status == after.status == "armed" and old.armed_at == new.armed_at:
        return [_replaced(before, after)]
    removed: list[Write] = [Remove(old, expected=old.rev)] if before.status == "armed" else []
    return [*removed, *([Put(new)] if after.status == "armed" else [])]


def _replaced(before: Card, after: Card) -> Write:
    return Replace(rule_of(after), expected=before.rev)


def unmoved(card: Card) -> tuple[Within, ...]:
    """The baselines of an arming are the counters that were read."""
    return (
        Within("violations", card.violations, card.violations),
        Within("suppressed", card.suppressed, card.suppressed),
        Within("samples", card.samples, card.samples),
    )


def _end(store: Store, call: Call, card: Card) -> ChainEnd:
    return store.chain_end(call.memory, card.chain) or ChainEnd(card.chain, ChainHead(), "", rev=0)


def _entry(
    end: ChainEnd,
    before: Card,
    after: Card,
    by: Mapping[str, str],
    at: int,
    effects: Mapping[str, Any],
    note: Note | None,
) -> AuditEntry:
    tally = tally_of(before)
    told = {
        "project": after.project_key,
        "reports": after.reports,
        "violations": tally.violations,
        "suppressed": tally.suppressed,
        "samples": tally.samples,
        **({"statement": sha256_hex(after.statement)} if after.statement is not None else {}),
        **effects,
    }
    return next_entry(
        end.head, subject=end.subject, before=end.status, after=after.status, by=by, at=at, note=note, effects=told
    )


def _ended(end: ChainEnd, entry: AuditEntry, status: str) -> list[Write]:
    moved = ChainEnd(end.subject, head_after(entry), status, rev=end.rev + 1)
    return [Replace(moved, expected=end.rev) if end.rev else Put(moved)]

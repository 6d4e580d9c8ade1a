"""Steps of cards: the card's head, its audit entry, its rule and its event are one transaction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from provenloop.domain.audit import AuditEntry, author_of, engine_author, new_chain
from provenloop.domain.canonical import sha256_hex
from provenloop.lessons.actions import EngineStep, moved_by_engine
from provenloop.lessons.card import Card, rule_of
from provenloop.lessons.judgement import tally_of
from provenloop.services.call import Call
from provenloop.services.card_count import Count, Within
from provenloop.services.outbox import ChainStep, chain_step, reason_on
from provenloop.services.ports import Put, Remove, Replace, Store, Write

ENGINE = "engine:lessons"


class CardStep(NamedTuple):
    """The card after a step, the entry of it, and what it writes."""

    card: Card
    entry: AuditEntry
    writes: list[Write]


def step_of_person(store: Store, call: Call, card: Card, after: Card, action: str, because: str) -> CardStep:
    """What a person's action on a card writes. Counters that it rests on must be what was read."""
    reset: dict[str, Any] = {"reset": ("since_rejection",)} if action == "reject" else {}
    within = unmoved(card) if action == "arm" else ()
    count = Count(after, card.rev, within=within, **reset)
    step = chained(store, call, card, after, {"action": action}, because)
    return CardStep(after, step.entry, [count, *step.writes, *rules(card, after)])


def step_of_engine(
    store: Store, call: Call, card: Card, step: EngineStep, count: Count, effects: Mapping[str, Any] | None = None
) -> CardStep:
    """What a step of the engine on a card writes; ``count`` is what is counted with it.

    Raises:
        IllegalTransitionError: its status does not allow that.
    """
    after = moved_by_engine(card, step, call.now)
    told = chained(store, call, card, after, {"action": step, **(effects or {})}, None)
    moved = replace(count, card=after, expected=card.rev)
    return CardStep(after, told.entry, [moved, *told.writes, *rules(card, after)])


def put_as_ready(store: Store, call: Call, card: Card, effects: Mapping[str, Any]) -> CardStep:
    """What a new card writes that is ready with its first report."""
    step = chained(store, call, card, card, {"action": "ready", **effects}, None)
    return CardStep(card, step.entry, [Put(card), *step.writes])


def chained(
    store: Store, call: Call, before: Card, after: Card, effects: Mapping[str, Any], because: str | None
) -> ChainStep:
    """The next step on the card's chain: a person's, or without a ``because`` the engine's."""
    end = store.chain_end(call.memory, after.chain) or new_chain(after.chain)
    by = engine_author(ENGINE) if because is None else author_of(call.principal)
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
    return chain_step(end, after.status, by, call.now, told, reason_on(end, because, call.entropy))


def rules(before: Card, after: Card) -> list[Write]:
    """How the rules of the project change where an armed card moves, or a card is armed."""
    if before.status != "armed" and after.status != "armed":
        return []
    old, new = rule_of(before), rule_of(after)
    if before.status == after.status == "armed" and old.armed_at == new.armed_at:
        return [Replace(new, expected=before.rev)]
    removed: list[Write] = [Remove(old, expected=old.rev)] if before.status == "armed" else []
    return [*removed, *([Put(new)] if after.status == "armed" else [])]


def unmoved(card: Card) -> tuple[Within, ...]:
    """The baselines of an arming are the counters that were read."""
    return (
        Within("violations", card.violations, card.violations),
        Within("suppressed", card.suppressed, card.suppressed),
        Within("samples", card.samples, card.samples),
    )

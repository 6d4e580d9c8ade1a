"""Merging cards that fold to one key: counters add, evidence joins, an armed state is carried over.

A memory's own folds may make one lesson of what was two. Each merge is one transaction, with an entry on both chains.
The card that is merged away stays, archived, and says into which one. The next pass after the folds were changed merges
by itself what leaves the status of the card that stays as it is; whatever moves a status, an armed one above all, only
a person does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from provenloop.domain.address import Addresses
from provenloop.lessons.card import KEPT_EVIDENCE, Card, CardStatus, card_id, counters_of, counting
from provenloop.lessons.folding import CardKey, fold
from provenloop.lessons.line import Line
from provenloop.services.call import Call
from provenloop.services.card_actions import require_person
from provenloop.services.card_chain import chained, rules, unmoved
from provenloop.services.card_count import Count, Within
from provenloop.services.decision import require_because
from provenloop.services.lesson_settings import settings_in_force
from provenloop.services.memories import require_heads
from provenloop.services.ports import Put, Remove, Store, Write, WriteRefusedError
from provenloop.services.ready_cards import readiness_wanted

DUE_MIGRATION = "migration"
#: Most merges of one request; the next one goes on.
AT_ONCE = 25
_MAX_ROUNDS = 5
_MOVED_AT_ONCE = 25
#: Which status two cards have once they are one: the first of these that either has.
PRECEDENCE: tuple[CardStatus, ...] = ("armed", "candidate", "demoted", "rejected", "archived")


def migrate_cards(store: Store, call: Call, because: str) -> dict[str, Any]:
    """Merge every card whose key folds into another one as the folds are now.

    Returns:
        ``{merged: [{from, into}], left: [...], more}``: ids; ``left`` are cards that others kept moving, ``more`` says
        that there are more than one request merges. Asked again it goes on, and in the end has nothing to do.

    Raises:
        ScopeDeniedError, PrincipalKindError, InvalidInputError, NotFoundError, IntegrityError: nothing was merged.
    """
    call.require("review")
    require_person(call)
    reason = require_because(because)
    addresses = Addresses(require_heads(store, call.memory).log.key)
    folds = settings_in_force(store, call.memory).folds
    merged: list[dict[str, str]] = []
    left: list[str] = []
    for source, key in _foldable(store, call, addresses, folds):
        if len(merged) + len(left) >= AT_ONCE:
            return {"merged": merged, "left": left, "more": True}
        into = card_id(addresses, source.project, key)
        if _merge(store, call, source.id, into, key, reason):
            merged.append({"from": source.id, "into": into})
        else:
            left.append(source.id)
    return {"merged": merged, "left": left, "more": False}


def migrate_quietly(store: Store, call: Call, spent: Callable[[], bool]) -> bool:
    """Merge what the engine may merge; whether it came to an end before the time was over.

    Raises:
        IntegrityError: the settings cannot be read; nothing was merged.
    """
    addresses = Addresses(require_heads(store, call.memory).log.key)
    folds = settings_in_force(store, call.memory).folds
    for source, key in _foldable(store, call, addresses, folds):
        if spent():
            return False
        _merge(store, call, source.id, card_id(addresses, source.project, key), key, None)
    return True


def _is_quiet(source: Card, target: Card | None) -> bool:
    """Whether a merge leaves the status of the card that stays as it is."""
    if target is None:
        return source.status != "armed"
    return min(source.status, target.status, key=PRECEDENCE.index) == target.status


def _foldable(
    store: Store, call: Call, addresses: Addresses, folds: Mapping[str, str]
) -> Iterator[tuple[Card, CardKey]]:
    for card in store.all_cards(call.memory):
        line = Line(card.project, card.category, card.signature, "", "")
        key = fold(line, folds).key
        if card.merged_into is None and card_id(addresses, card.project, key) != card.id:
            yield card, key


def _merge(store: Store, call: Call, source_id: str, into: str, key: CardKey, because: str | None) -> bool:
    """Whether it is merged; the engine, which gives no reason, leaves what only a person may merge."""
    for _ in range(_MAX_ROUNDS):
        found = store.cards(call.memory, [source_id, into])
        source, target = found.get(source_id), found.get(into)
        if source is None or source.merged_into is not None:
            return True
        if because is None and not _is_quiet(source, target):
            return False
        try:
            store.transact(call.memory, _writes(store, call, source, target, into, key, because), call.now)
        except WriteRefusedError:
            continue
        return True
    return False


def _writes(
    store: Store, call: Call, source: Card, target: Card | None, into: str, key: CardKey, because: str | None
) -> list[Write]:
    before = target or replace(
        source,
        id=into,
        category=key.category,
        signature=key.signature,
        status="archived",
        rev=0,
        armed_at=None,
        reports=0,
        violations=0,
        suppressed=0,
        samples=0,
        since_rejection=0,
    )
    after = _joined(source, before, call.now)
    away = replace(source, status="archived", changed_at=call.now, ready_at=None, merged_into=into, rev=source.rev + 1)
    if target is None:
        head: Write = Put(counting(after, counters_of(source)))
    else:
        head = Count(
            after,
            target.rev,
            add=counters_of(source),
            within=unmoved(target),
            last_at=max(source.last_at or 0, target.last_at or 0) or None,
            clean_at=max(source.clean_at or 0, target.clean_at or 0) or None,
            suggests=target.suggestion is None and source.suggestion is not None,
        )
    still = tuple(Within(name, n, n) for name, n in counters_of(source).items())
    return [
        head,
        Count(away, source.rev, within=still),
        *rules(source, away),
        *(rules(before, after) if target is not None else rules(replace(before, status="archived"), after)),
        *chained(store, call, before, after, {"action": "merge", "from_card": source.id}, because).writes,
        *chained(store, call, source, away, {"action": "merged", "into": into}, because).writes,
        *_evidence(store, call, source.id, into),
        # The pass that merges looks itself which cards are ready then.
        *(readiness_wanted(store, call.memory, call.now) if because is not None else ()),
    ]


def _joined(source: Card, target: Card, now: int) -> Card:
    """The head of the two as one; counters are added where it is written."""
    status = min(source.status, target.status, key=PRECEDENCE.index)
    armed = [card for card in (target, source) if card.status == "armed"]
    ready_at = next((card.ready_at for card in (target, source) if card.status == status and card.ready_at), None)
    return replace(
        target,
        status=status,
        statement=(armed[0].statement if armed else None) or target.statement or source.statement,
        suggestion=target.suggestion or source.suggestion,
        suggested_by=target.suggested_by or source.suggested_by,
        changed_at=now,
        ready_at=ready_at,
        armed_at=armed[0].armed_at if armed else target.armed_at or source.armed_at,
        violations_before=sum(_before(card, "violations") for card in (source, target)),
        suppressed_before=sum(_before(card, "suppressed") for card in (source, target)),
        samples_before=sum(_before(card, "samples") for card in (source, target)),
        rev=target.rev + 1,
    )


def _before(card: Card, counter: str) -> int:
    """What of a counter is not held against the rule: of one that is not armed, all of it."""
    return int(getattr(card, f"{counter}_before" if card.status == "armed" else counter))


def _evidence(store: Store, call: Call, source: str, into: str) -> Iterator[Write]:
    """The newest evidence of both moves to the card that stays; what is older than that goes."""
    theirs = store.card_evidence(call.memory, into, KEPT_EVIDENCE)
    ours = store.card_evidence(call.memory, source)[:_MOVED_AT_ONCE]
    newest = sorted((*theirs, *ours), key=lambda row: row.seq, reverse=True)[:KEPT_EVIDENCE]
    for row in ours:
        yield Remove(row)
        if row in newest:
            yield Put(replace(row, card=into))

"""Reading cards: a list without evidence, and one card with its evidence and its audit trail.

Where the settings cannot be read there is nothing to show: flags and figures would be guesses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from provenloop.domain.address import Addresses
from provenloop.domain.chain_check import verify_chain
from provenloop.domain.errors import InvalidInputError
from provenloop.domain.instants import format_instant
from provenloop.domain.visible import visible
from provenloop.lessons.actions import actions_of
from provenloop.lessons.card import CARD_STATUSES, COUNTERS, KEPT_EVIDENCE, Card, CardEvidence, CardStatus, project_key
from provenloop.lessons.judgement import is_ready, is_undeterminable, tally_of
from provenloop.lessons.line import key_text
from provenloop.services.audit_trail import entry_told
from provenloop.services.call import Call
from provenloop.services.card_find import find_card
from provenloop.services.lesson_settings import InForce, settings_if_readable, settings_in_force
from provenloop.services.memories import require_heads
from provenloop.services.ports import Store

MAX_LIMIT = 100
ALL = "all"


def list_cards(
    store: Store,
    call: Call,
    *,
    project: str | None = None,
    status: str = ALL,
    limit: int = MAX_LIMIT,
    cursor: str | None = None,
) -> dict[str, Any]:
    """One page of cards, by project, then age; the rules are those that are armed.

    Args:
        status: one status, or ``all``.

    Returns:
        ``{cards: [...], cursor}``; the cursor is None on the last page. A card that moves on meanwhile may be missing.

    Raises:
        ScopeDeniedError, NotFoundError, InvalidInputError.
    """
    call.require("read")
    statuses = _statuses(status)
    if not 1 <= limit <= MAX_LIMIT:
        raise InvalidInputError(f"1 to {MAX_LIMIT}", field="limit")
    addresses = Addresses(require_heads(store, call.memory).log.key)
    in_force = settings_if_readable(store, call.memory)
    if in_force is None:
        return {"cards": [], "cursor": None}
    place = None if project is None else project_key(addresses, project_name(project))
    page = store.card_page(call.memory, statuses, place, limit=limit, cursor=cursor)
    found = store.cards(call.memory, page.ids)
    rows = (found[card_id] for card_id in page.ids if card_id in found)
    shown = [card_told(card, in_force, call.now) for card in rows if card.status in statuses]
    return {"cards": shown, "cursor": page.cursor}


def show_card(store: Store, call: Call, prefix: str) -> dict[str, Any]:
    """One card with its newest evidence, its audit trail, and the actions that its status allows.

    Raises:
        ScopeDeniedError, NotFoundError, AmbiguousPrefixError.
        IntegrityError: the settings cannot be read.
    """
    call.require("read")
    require_heads(store, call.memory)
    card = find_card(store, call, prefix)
    in_force = settings_in_force(store, call.memory)
    entries = tuple(store.audit_entries(call.memory, card.chain))
    notes, end = store.notes(call.memory, card.chain), store.chain_end(call.memory, card.chain)
    broken = verify_chain(card.chain, entries, head=end.head if end else None, status=end.status if end else "")
    return {
        **card_told(card, in_force, call.now),
        "evidence": [_evidence(row) for row in store.card_evidence(call.memory, card.id, KEPT_EVIDENCE)],
        "audit": [entry_told(entry, notes.get(entry.n)) for entry in entries],
        "verified": broken is None,
        "next": list(actions_of(card.status)),
    }


def card_told(card: Card, in_force: InForce, now: int) -> dict[str, Any]:
    """A card as it is shown: its fields and what follows from them at ``now``."""
    tally = tally_of(card)
    return {
        **card_fields(card),
        "ready": is_ready(card) and card.id not in in_force.not_rules,
        "not_a_rule": card.id in in_force.not_rules,
        "undeterminable": is_undeterminable(card, in_force.settings, now),
        "since_armed": {**asdict(tally), "ratio": tally.ratio} if card.armed_at is not None else None,
    }


def card_fields(card: Card) -> dict[str, Any]:
    """The stored fields of a card, with texts that a reader can see through."""
    texts = {name: visible(getattr(card, name)) for name in _TEXTS}
    times = {name: _time(getattr(card, name)) for name in _TIMES}
    counters: dict[str, int] = {name: getattr(card, name) for name in COUNTERS}
    return {"id": card.id, "status": card.status, **texts, **counters, **times, "merged_into": card.merged_into}


_TEXTS = ("project", "category", "signature", "statement", "suggestion")
_TIMES = ("created_at", "changed_at", "ready_at", "armed_at", "last_at", "clean_at")


def project_name(project: str) -> str:
    """A project as it is kept.

    Raises:
        InvalidInputError: blank.
    """
    return key_text(project, "project")


def _statuses(status: str) -> Sequence[CardStatus]:
    if status == ALL:
        return CARD_STATUSES
    chosen = tuple(known for known in CARD_STATUSES if known == status)
    if not chosen:
        raise InvalidInputError(f"unknown status; one of {', '.join(CARD_STATUSES)}, {ALL}", field="status")
    return chosen


def _evidence(row: CardEvidence) -> dict[str, Any]:
    fields = {name: value for name, value in asdict(row).items() if name != "card"}
    return {**visible(fields), "at": format_instant(row.at)}


def _time(at: int | None) -> str | None:
    return None if at is None else format_instant(at)

"""Finding cards: by an id or a prefix of it, and by the ids that they had before they were merged."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from provenloop.domain.errors import AmbiguousPrefixError, NotFoundError
from provenloop.domain.names import MemoryId
from provenloop.lessons.card import ID_CHARS, Card
from provenloop.services.call import Call
from provenloop.services.ports import Store

_PREFIX = re.compile(rf"[a-z2-7]{{1,{ID_CHARS}}}\Z")

#: So many times a card can have been merged into another that was merged then.
_MAX_MERGES = 5


def find_card(store: Store, call: Call, prefix: str) -> Card:
    """The one card whose id starts with ``prefix``.

    Raises:
        NotFoundError: there is none.
        AmbiguousPrefixError: there are several; the message says how many.
    """
    wanted = prefix.lower()
    found = store.cards_by_prefix(call.memory, wanted, 2) if _PREFIX.match(wanted) else ()
    if not found:
        raise NotFoundError("no card has that id", field="id")
    if len(found) > 1:
        count = store.count_cards_by_prefix(call.memory, wanted)
        raise AmbiguousPrefixError(f"{count} cards have an id that starts so", field="id")
    return found[0]


def cards_through_merging(store: Store, memory: MemoryId, card_id: str | None) -> Iterator[Card]:
    """The card of an id, the one that it was merged into, and so on."""
    seen: set[str] = set()
    while card_id is not None and card_id not in seen:
        seen.add(card_id)
        card = store.card(memory, card_id)
        if card is None:
            return
        yield card
        card_id = card.merged_into


def cards_that_stand(store: Store, memory: MemoryId, ids: Collection[str]) -> Mapping[str, Card]:
    """By id the card, or the one that it was merged into in the end."""
    cards = dict(store.cards(memory, ids)) if ids else {}
    for _ in range(_MAX_MERGES):
        merged = {name: card.merged_into for name, card in cards.items() if card.merged_into is not None}
        if not merged:
            break
        into = store.cards(memory, set(merged.values()))
        cards |= {name: into[target] for name, target in merged.items() if target in into}
    return cards

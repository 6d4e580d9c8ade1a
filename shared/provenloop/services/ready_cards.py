"""Making ready what is reported often enough once the settings have changed, or cards have become one.

A report makes its own card ready. Where a threshold was lowered, or a card may be a rule again, nobody reports: then
the next pass looks at all cards, and each that is due takes its step with its entry and its event, once.
"""

from __future__ import annotations

from collections.abc import Callable

from provenloop.domain.errors import BusyError
from provenloop.domain.names import MemoryId
from provenloop.domain.records import Due
from provenloop.lessons.card import Card
from provenloop.services.call import Call
from provenloop.services.card_chain import step_of_engine
from provenloop.services.card_count import Count
from provenloop.services.declare import declare
from provenloop.services.lesson_settings import InForce, settings_if_readable
from provenloop.services.ports import Store, Write, WriteRefusedError

DUE_READINESS = "readiness"
_MAX_ROUNDS = 5


def readiness_wanted(store: Store, memory: MemoryId, now: int) -> list[Write]:
    """What has the next pass look which cards are ready."""
    return declare(store, memory, Due(now, DUE_READINESS, ""))


def make_ready(store: Store, call: Call, spent: Callable[[], bool]) -> bool:
    """Take the step that is due of each card; whether that came to an end before the time was over.

    Raises:
        BusyError: others kept moving a card.
    """
    in_force = settings_if_readable(store, call.memory)
    if in_force is None or not in_force.settings.enabled:
        return True
    for card in store.all_cards(call.memory):
        if spent():
            return False
        _take_step(store, call, card, in_force)
    return True


def _take_step(store: Store, call: Call, read: Card, in_force: InForce) -> None:
    card: Card | None = read
    for _ in range(_MAX_ROUNDS):
        due = None if card is None else in_force.step_due(card)
        if card is None or due is None:
            return
        step = step_of_engine(store, call, card, due, Count(card, card.rev), {"reason": due})
        try:
            store.transact(call.memory, step.writes, call.now)
        except WriteRefusedError:
            card = store.card(call.memory, read.id)
            continue
        return
    raise BusyError("others keep moving one card")

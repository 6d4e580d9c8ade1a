"""Judging rules by the clock of the memory: the machine demotes what is broken more often than it is followed.

The instants stand on a grid of the set interval, so that however many settled sessions ask for one there is one. Rules
are read in the order of their keys, so many at a time; where there are more, the instant that is declared next says
where to go on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from provenloop.domain.errors import BusyError
from provenloop.domain.names import MemoryId
from provenloop.domain.records import Due
from provenloop.lessons.card import Card
from provenloop.lessons.judgement import is_to_be_demoted
from provenloop.lessons.settings import LessonSettings
from provenloop.services.call import Call
from provenloop.services.card_chain import step_of_engine, unmoved
from provenloop.services.card_count import Count
from provenloop.services.declare import declare_new
from provenloop.services.lesson_settings import settings_if_readable
from provenloop.services.memories import require_heads
from provenloop.services.ports import Store, Write, WriteRefusedError

DUE_JUDGEMENT = "judgement"
TICK_MS = 300_000
"""How often the dispatcher looks; nothing happens more often."""
MAX_JUDGED = 200
_MAX_ROUNDS = 5


@dataclass(frozen=True, slots=True)
class Judged:
    """How many rules were demoted, and when to judge again; None where there is no rule."""

    demoted: int
    again: Due | None


def next_judgement(settings: LessonSettings, now: int) -> Due:
    """The next instant of the grid."""
    interval = max(settings.decay_interval_ms, TICK_MS)
    return Due((now // interval + 1) * interval, DUE_JUDGEMENT, "")


def judgement_wanted(store: Store, memory: MemoryId, now: int) -> list[Write]:
    """What declares the next judgement, where it is not declared yet."""
    in_force = settings_if_readable(store, memory)
    due = next_judgement(in_force.settings if in_force is not None else LessonSettings(), now)
    return [] if store.due_present(memory, [due]) else declare_new(require_heads(store, memory), due)


def judge_cards(store: Store, call: Call, after: str, spent: Callable[[], bool]) -> Judged:
    """Judge the next rules.

    Args:
        after: where an earlier judgement stopped; empty to begin.
        spent: whether there is no time left; the rest is left for later then.

    Raises:
        BusyError: others kept moving a card.
    """
    in_force = settings_if_readable(store, call.memory)
    settings = in_force.settings if in_force is not None else LessonSettings(enabled=False)
    if not settings.enabled:
        return Judged(0, next_judgement(settings, call.now))
    page = store.rules_after(call.memory, after, MAX_JUDGED)
    cards = store.cards(call.memory, (rule.card for rule, _ in page))
    demoted, reached = 0, after
    for rule, place in page:
        if spent():
            return Judged(demoted, Due(call.now, DUE_JUDGEMENT, reached))
        card = cards.get(rule.card)
        demoted += card is not None and _is_demoted(store, call, card, settings)
        reached = place
    if len(page) == MAX_JUDGED:
        return Judged(demoted, Due(call.now, DUE_JUDGEMENT, reached))
    return Judged(demoted, next_judgement(settings, call.now) if page or after else None)


def _is_demoted(store: Store, call: Call, read: Card, settings: LessonSettings) -> bool:
    """Demote a card if it has to be. What the verdict rests on must be what was read."""
    card: Card | None = read
    for _ in range(_MAX_ROUNDS):
        if card is None or not is_to_be_demoted(card, settings):
            return False
        step = step_of_engine(store, call, card, "demote", Count(card, card.rev, within=unmoved(card)))
        try:
            store.transact(call.memory, step.writes, call.now)
        except WriteRefusedError:
            card = store.card(call.memory, read.id)
            continue
        return True
    raise BusyError("others keep moving one card")

"""The settings of lessons in force in a memory, and what follows where they cannot be read: nothing is written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from provenloop.domain.errors import IntegrityError
from provenloop.domain.names import MemoryId
from provenloop.lessons.actions import EngineStep
from provenloop.lessons.card import Card
from provenloop.lessons.judgement import step_due
from provenloop.lessons.settings import LessonSettings, settings_from
from provenloop.services.ports import Store


class InForce(NamedTuple):
    """The settings, the memory's own categories with the key that each folds into, and cards that are no rules here."""

    settings: LessonSettings
    folds: Mapping[str, str]
    not_rules: frozenset[str] = frozenset()

    def step_due(self, card: Card) -> EngineStep | None:
        """The step of the engine that a card's reports are enough for; None for what is no rule here."""
        return None if card.id in self.not_rules else step_due(card, self.settings)


def settings_in_force(store: Store, memory: MemoryId) -> InForce:
    """What holds in a memory now; one read.

    Raises:
        IntegrityError: what is stored cannot be read. Nothing may be written then.
    """
    config = store.memory_config(memory)
    return InForce(settings_from(config.lessons), config.folds, frozenset(config.not_rules))


def settings_if_readable(store: Store, memory: MemoryId) -> InForce | None:
    """The same for readers: None where it cannot be read, and there is nothing to show."""
    try:
        return settings_in_force(store, memory)
    except IntegrityError:
        return None

"""The settings of recipes in force in a memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from provenloop.domain.memory_config import MemoryConfig, ParameterValue
from provenloop.domain.names import MemoryId
from provenloop.recipes.settings import RecipeSettings, settings_from
from provenloop.services.ports import Store


@dataclass(frozen=True, slots=True)
class InstalledSettings:
    """What the installation sets for all memories, and what is wrong with it, in words that may be shown."""

    values: Mapping[str, ParameterValue] = field(default_factory=dict)
    faults: tuple[str, ...] = ()

    @property
    def timeout_ms(self) -> int:
        """For what is read before a memory's own settings are known."""
        return settings_from({}, self.values).timeout_ms

    def in_force(self, config: MemoryConfig) -> RecipeSettings:
        """With what a memory sets laid over it.

        Raises:
            IntegrityError: what is stored cannot be read.
        """
        return settings_from(config.recipes, self.values)

    def of(self, store: Store, memory: MemoryId) -> RecipeSettings:
        """What holds in a memory now; one read.

        Raises:
            IntegrityError: what is stored cannot be read.
        """
        return self.in_force(store.memory_config(memory))

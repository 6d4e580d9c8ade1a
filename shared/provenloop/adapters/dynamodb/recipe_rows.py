"""Reading recipes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from provenloop.adapters.dynamodb import keys, table
from provenloop.adapters.dynamodb.keys import Key, partition
from provenloop.adapters.dynamodb.reading import as_entity, entities
from provenloop.adapters.dynamodb.rows import Row
from provenloop.domain.memory_config import MemoryConfig
from provenloop.domain.names import MemoryId
from provenloop.domain.recipe import HitFeedback, Recipe, RecipeVersion, split_id
from provenloop.domain.recipe_vectors import Embedded
from provenloop.services.recipe_ports import Asked


class RecipeRows:
    """Implements ``services.recipe_ports.RecipeReader``; part of the store."""

    _pause: table.Pause

    def recipe(self, memory: MemoryId, scope_key: str, signature: str) -> Recipe | None:
        """See ``RecipeReader``."""
        row = table.get(Key(partition(memory, "RECIPE"), keys.recipe(scope_key, signature)))
        return None if row is None else as_entity(row, Recipe)

    def asked(self, memory: MemoryId, scope_key: str, signature: str) -> Asked:
        """See ``RecipeReader``."""
        head, recipe = partition(memory, "HEAD"), Key(partition(memory, "RECIPE"), keys.recipe(scope_key, signature))
        wanted = (Key(head, keys.LOG_HEAD), Key(head, keys.CONFIG), recipe)
        found = {row.sk: row for row in table.get_many(wanted, self._pause)}
        return Asked(
            key=found[keys.LOG_HEAD].secret if keys.LOG_HEAD in found else None,
            config=as_entity(found[keys.CONFIG], MemoryConfig) if keys.CONFIG in found else MemoryConfig(),
            recipe=as_entity(found[recipe.sk], Recipe) if recipe.sk in found else None,
        )

    def hit_feedback(self, memory: MemoryId, scope_key: str, signature: str, hit: str) -> HitFeedback | None:
        """See ``RecipeReader``."""
        row = table.get(Key(partition(memory, "RECIPE"), keys.hit_feedback(scope_key, signature, hit)))
        return None if row is None else as_entity(row, HitFeedback)

    def hit_feedbacks(self, memory: MemoryId, scope_key: str, signature: str) -> tuple[HitFeedback, ...]:
        """See ``RecipeReader``."""
        begins = Row.sk.startswith(keys.hit_feedbacks(scope_key, signature))
        return tuple(entities(table.query(partition(memory, "RECIPE"), begins), HitFeedback))

    def recipes(self, memory: MemoryId, scope_key: str, signatures: Iterable[str]) -> Mapping[str, Recipe]:
        """See ``RecipeReader``."""
        pk = partition(memory, "RECIPE")
        rows = table.get_many((Key(pk, keys.recipe(scope_key, name)) for name in signatures), self._pause)
        return {found.signature: found for found in entities(rows, Recipe)}

    def recipes_after(self, memory: MemoryId, after: str, limit: int) -> tuple[Recipe, ...]:
        """See ``RecipeReader``."""
        parts = split_id(after)
        return _recipes(memory, keys.RECIPE_PREFIX, keys.recipe(*parts) if parts else "", limit)

    def recipes_in_scope(self, memory: MemoryId, scope_key: str, after: str, limit: int) -> tuple[Recipe, ...]:
        """See ``RecipeReader``."""
        return _recipes(memory, keys.recipes_of(scope_key), keys.recipe(scope_key, after) if after else "", limit)

    def embedded(self, memory: MemoryId, scope_key: str) -> Embedded | None:
        """See ``RecipeReader``."""
        row = table.get(Key(partition(memory, "RECIPE"), keys.embedded(scope_key)))
        return None if row is None else as_entity(row, Embedded)

    def recipe_versions(self, memory: MemoryId, scope_key: str, signature: str) -> tuple[Recipe, ...]:
        """See ``RecipeReader``."""
        begins = Row.sk.startswith(keys.recipe_versions(scope_key, signature))
        rows = table.query(partition(memory, "RECIPE"), begins)
        return tuple(version.recipe for version in entities(rows, RecipeVersion))


def _recipes(memory: MemoryId, prefix: str, last: str, limit: int) -> tuple[Recipe, ...]:
    first = f"{last}{keys.FIRST_AFTER}" if last else prefix
    rows = table.query(partition(memory, "RECIPE"), Row.sk.between(first, prefix + keys.LAST), limit=limit)
    return tuple(entities(rows, Recipe))

"""What stands behind recipes: the shelf with its embedder and index, and who distils.

Part of ``Wiring``. All is made when it is first used, for numpy and tokenizers are slow to import.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from provenloop.domain.model_spec import ModelSpec
from provenloop.entry.model_wiring import ModelWiring
from provenloop.services.job_port import JobQueue
from provenloop.services.ports import Store

if TYPE_CHECKING:
    from provenloop.services.carry_out_distillation import Distiller
    from provenloop.services.recipe_ports import Embedder, VectorIndex
    from provenloop.services.recipe_settings import InstalledSettings
    from provenloop.services.recipe_shelf import Shelf
    from provenloop.services.semantic_rung import SemanticRung


class RecipeWiring(ModelWiring, ABC):
    """The part of ``Wiring`` that functions use which serve, learn or judge with recipes."""

    _pause: Callable[[int], None]

    @property
    @abstractmethod
    def store(self) -> Store:
        """Memories."""

    @cached_property
    def distillations(self) -> JobQueue:
        """Where distillations go on from."""
        from provenloop.adapters.sqs import SqsJobQueue

        return SqsJobQueue(self.settings.distil_queue_url)

    @cached_property
    def shelf(self) -> Shelf:
        """Where recipes are kept."""
        from provenloop.services.recipe_shelf import Shelf

        return Shelf(self.store, self._vector_index(), self._embedder())

    def _vector_index(self) -> VectorIndex:
        name = self.settings.vector_index
        if name is not None:
            from provenloop.adapters.dynamodb.native_vectors import NativeVectorIndex

            return NativeVectorIndex(self.settings.table, name)
        from provenloop.adapters.dynamodb.packed_vectors import PackedVectorIndex

        return PackedVectorIndex(pause=self._pause)

    def _embedder(self) -> Embedder:
        dimensions = self.settings.titan_dimensions
        if dimensions is not None:
            from provenloop.adapters.titan_embedder import TitanEmbedder

            return TitanEmbedder(dimensions=dimensions)
        from provenloop.adapters.wordllama_embedder import WordllamaEmbedder

        return WordllamaEmbedder()

    @cached_property
    def semantic(self) -> SemanticRung:
        """The rung that serves near requests."""
        from provenloop.services.semantic_rung import SemanticRung

        return SemanticRung(self.shelf)

    @cached_property
    def recipe_settings(self) -> InstalledSettings:
        """What this installation sets for recipes."""
        from provenloop.recipes.settings import installed
        from provenloop.services.recipe_settings import InstalledSettings

        return InstalledSettings(*installed(self.settings.values))

    @cached_property
    def composer_model(self) -> ModelSpec:
        """The model that chooses among recipes, unless a memory names another of the same provider."""
        from provenloop.recipes.settings import composer_spec

        return composer_spec(self.settings.values)

    def distiller(self, own_key: str | None = None, *, waits: bool = False) -> Distiller:
        """What carries distillations out; while somebody ``waits``, within the time of a request."""
        from provenloop.services.carry_out_distillation import (
            QUEUED_TIMEOUT_MS,
            WAITING_TIMEOUT_MS,
            Distiller,
            DistilSettings,
        )
        from provenloop.services.keep_distilled import ShelfKeeper

        spec = self.settings.distil_model
        settings = DistilSettings(spec.model, WAITING_TIMEOUT_MS if waits else QUEUED_TIMEOUT_MS)
        keeper = ShelfKeeper(self.shelf, self.recipe_settings)
        return Distiller(self.store, self.models(spec, own_key), keeper, settings)

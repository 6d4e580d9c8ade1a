"""What stands behind recipes and models: the shelf with its embedder and index, the provider, and who distils.

Part of ``Wiring``. All is made when it is first used, for numpy, tokenizers and a provider's SDK are slow to import.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from provenloop.entry.settings import Settings
from provenloop.entry.telemetry import tell_lost_rows
from provenloop.services.job_port import JobQueue
from provenloop.services.model_port import ModelAccess, ModelKey, ModelProvider
from provenloop.services.ports import Store

if TYPE_CHECKING:
    from provenloop.services.carry_out_distillation import Distiller
    from provenloop.services.recipe_ports import Embedder, VectorIndex
    from provenloop.services.recipe_settings import InstalledSettings
    from provenloop.services.recipe_shelf import Shelf
    from provenloop.services.semantic_rung import SemanticRung


class RecipeWiring(ABC):
    """The part of ``Wiring`` that functions use which serve, learn or judge with recipes and models."""

    settings: Settings
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
    def model_provider(self) -> ModelProvider:
        """Where models are asked."""
        from provenloop.adapters.anthropic_model import AnthropicModel

        return AnthropicModel(self.settings.model_url)

    @cached_property
    def model_key(self) -> ModelKey:
        """The key of the installation."""
        from provenloop.adapters.model_key import SecretModelKey

        return SecretModelKey(self.settings.model_key_secret)

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

    def distiller(self, own_key: str | None = None, *, waits: bool = False) -> Distiller:
        """What carries distillations out; while somebody ``waits``, within the time of a request."""
        from provenloop.services.carry_out_distillation import (
            QUEUED_TIMEOUT_MS,
            WAITING_TIMEOUT_MS,
            Distiller,
            DistilSettings,
        )
        from provenloop.services.keep_distilled import ShelfKeeper

        settings = DistilSettings(self.settings.distil_model, WAITING_TIMEOUT_MS if waits else QUEUED_TIMEOUT_MS)
        keeper = ShelfKeeper(self.shelf, self.recipe_settings)
        return Distiller(self.store, self.models(own_key), keeper, settings)

    def models(self, own_key: str | None = None) -> ModelAccess:
        """Models for one request, with the caller's own key where it brought one."""
        return ModelAccess(self.model_provider, self.model_key, own_key, tell_lost_rows)

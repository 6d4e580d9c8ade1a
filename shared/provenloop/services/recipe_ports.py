"""What the recipe ladder needs from the outside: recipes as stored, an embedder, and an index of vectors."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from provenloop.domain.canonical import canonical_json, sha256_hex
from provenloop.domain.memory_config import MemoryConfig
from provenloop.domain.names import MemoryId
from provenloop.domain.recipe import HitFeedback, Recipe
from provenloop.domain.recipe_vectors import Embedded

if TYPE_CHECKING:
    from provenloop.services.ports import Write

Vector = Sequence[float]

_SPACE_CHARS = 8


@dataclass(frozen=True, slots=True)
class Near:
    """A vector found near another: the name it was put under, and their cosine."""

    name: str
    similarity: float


class Embedder(Protocol):
    """Makes vectors of texts. Equal ``tag``, ``version`` and ``dimensions`` promise equal vectors of equal texts."""

    @property
    def tag(self) -> str:
        """Which embedder this is."""

    @property
    def version(self) -> int:
        """Raised when the same text would give another vector."""

    @property
    def dimensions(self) -> int:
        """How long a vector is."""

    def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        """A vector of length 1 for each text; all zeros for one of which nothing can be said.

        Raises:
            UnavailableError: it does not answer.
        """


def space_of(embedder: Embedder) -> str:
    """8 hex digits that stand for the vectors of one embedder: those of two spaces are never compared."""
    named = [embedder.tag, embedder.version, embedder.dimensions]
    return sha256_hex(canonical_json(named))[:_SPACE_CHARS]


class VectorIndex(Protocol):
    """Finds the nearest vectors within one scope and space.

    Changes are values for the caller's transaction, so that a recipe and its vector are stored or removed together. A
    refused transaction is built anew. A vector may be found a little before or after its recipe, so whoever queries
    reads the recipe as well.
    """

    def putting(self, memory: MemoryId, scope_key: str, space: str, vectors: Mapping[str, Vector]) -> Sequence[Write]:
        """What puts vectors under names that have none in this space; 1 to 64 at once.

        Raises:
            ValueError: a vector has no direction, or they are too many.
        """

    def removing(self, memory: MemoryId, scope_key: str, spaces: Collection[str], name: str) -> Sequence[Write]:
        """What removes the vectors of one name from all these spaces; nothing where there are none."""

    def query(self, memory: MemoryId, scope_key: str, space: str, vector: Vector, k: int) -> tuple[Near, ...]:
        """The ``k`` nearest, the nearest first, of equally near ones by name.

        Raises:
            UnavailableError: the store does not answer, or rows keep moving while they are read.
        """

    def tidy(self, memory: MemoryId, scope_key: str, space: str, now: int) -> None:
        """After a put: merge small rows where there are many. Losing a race does no harm: the next one tidies."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What one request for a recipe needs: the memory's key (None: there is no such memory), its configuration, and the
    recipe of that very request.
    """

    key: bytes | None
    config: MemoryConfig
    recipe: Recipe | None


class RecipeReader(Protocol):
    """Reads recipes; part of ``services.ports.Store``. All reads are strongly consistent."""

    def recipe(self, memory: MemoryId, scope_key: str, signature: str) -> Recipe | None:
        """One recipe, whatever its status: one read."""

    def asked(self, memory: MemoryId, scope_key: str, signature: str) -> Asked:
        """The recipe of a request with all that says whether it may be served: one read."""

    def hit_feedback(self, memory: MemoryId, scope_key: str, signature: str, hit: str) -> HitFeedback | None:
        """What was said of one hit."""

    def hit_feedbacks(self, memory: MemoryId, scope_key: str, signature: str) -> Sequence[HitFeedback]:
        """What was said of all hits of a recipe."""

    def recipes(self, memory: MemoryId, scope_key: str, signatures: Iterable[str]) -> Mapping[str, Recipe]:
        """Those that are there, by signature: one read for up to 100."""

    def recipes_after(self, memory: MemoryId, after: str, limit: int) -> Sequence[Recipe]:
        """At most ``limit`` recipes of the memory by id, beginning after that id."""

    def recipes_in_scope(self, memory: MemoryId, scope_key: str, after: str, limit: int) -> Sequence[Recipe]:
        """At most ``limit`` recipes of a scope by signature, beginning after that signature."""

    def embedded(self, memory: MemoryId, scope_key: str) -> Embedded | None:
        """How far a scope's recipes have vectors; None where none was ever live: one read."""

    def recipe_versions(self, memory: MemoryId, scope_key: str, signature: str) -> Sequence[Recipe]:
        """What a recipe said before, the oldest first."""

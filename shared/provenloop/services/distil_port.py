"""What distilling needs from the outside: its records, and somebody who keeps recipes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from provenloop.domain.distillation import Distillation, EnvelopeText
from provenloop.domain.names import MemoryId
from provenloop.domain.recipe import RecipeKind, RecipeScope

if TYPE_CHECKING:
    from provenloop.services.call import Call
    from provenloop.services.ports import Write


class DistillationReader(Protocol):
    """Reading for distillations; strongly consistent. Part of :class:`~provenloop.services.ports.Store`."""

    def distillation(self, memory: MemoryId, job_id: str) -> Distillation | None:
        """A distillation by its id."""

    def envelope(self, memory: MemoryId, job_id: str) -> EnvelopeText | None:
        """The envelope of a distillation that is not over."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A recipe that was distilled: ``request`` is the problem as it was put, ``job`` the distillation."""

    scope: RecipeScope
    kind: RecipeKind
    request: str
    response: str
    category: str
    principles: tuple[str, ...]
    confidence: float
    model: str
    session: str
    job: str


class RecipeKeeper(Protocol):
    """Keeps a draft as a recipe: a new one, or what it says to one that is there."""

    def __call__(self, call: Call, draft: Draft, beside: Callable[[str], Sequence[Write]]) -> None:
        """Keep it.

        Args:
            call: who learns, and when.
            draft: what was learnt.
            beside: gives what has to be written in the same transaction, of the recipe's id.

        Raises:
            LoopError: it is not kept; trying again may help where the error says so.
        """

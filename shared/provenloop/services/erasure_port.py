"""What erasing and exporting a whole memory need: its items by class.

Part of :class:`~provenloop.services.ports.Store`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal, Protocol

from provenloop.domain.job import Job
from provenloop.domain.names import MemoryId
from provenloop.domain.records import MemoryRecord

if TYPE_CHECKING:
    from provenloop.services.ports import Entity, Write

ItemClass = Literal["GRAIN", "INDEX", "LESSON", "LOG", "LOOP", "RECIPE", "NOTE", "REPLAY", "OUTBOX", "HEAD"]

#: What a person or an auditor may want of a memory; grains with their earlier versions.
Part = Literal[
    "grains", "recommendations", "cards", "recipes", "recipe_versions", "distillations", "ledger", "audit",
]  # fmt: skip


class WholeMemory(Protocol):
    """A memory as its items; strongly consistent."""

    def memory_record(self, memory: MemoryId) -> MemoryRecord | None:
        """The memory's row in its tenant's registry; also of one that was erased."""

    def close_memory(
        self, memory: MemoryId, record: MemoryRecord, beside: Sequence[Write], told: Sequence[Write], now: int
    ) -> None:
        """Store the record of a memory that is erased and take its log away, with its key, in one transaction.

        ``beside`` are writes on the memory, ``told`` such on the tenant itself.

        From then on no writer takes a number, and the memory is unknown to every reader.

        Raises:
            WriteRefusedError: it is closed already, or ``beside`` or ``told`` does not hold.
        """

    def items_of(self, memory: MemoryId, item_class: ItemClass, limit: int) -> tuple[str, ...]:
        """Sort keys of some items of a class, at most ``limit``; none mean that there are no more.

        What tells of the erasure itself is left out: its job, and where its audit chain ends.
        """

    def erase_items(self, memory: MemoryId, item_class: ItemClass, items: Sequence[str], job: Job, now: int) -> None:
        """Delete items, named by sort keys, and move the job on by one revision, in one transaction.

        Raises:
            WriteRefusedError: the job moved, or an item was gone.
        """

    def walk(self, memory: MemoryId, part: Part, after: str, now: int) -> Iterator[tuple[str, Entity]]:
        """Place and entity of each item of a part behind the place ``after`` (empty: all), in the order of places.

        What has expired is left out.
        """

"""Reading distillations."""

from __future__ import annotations

from provenloop.adapters.dynamodb import keys, table
from provenloop.adapters.dynamodb.keys import Key, partition
from provenloop.adapters.dynamodb.reading import as_entity
from provenloop.domain.distillation import Distillation, EnvelopeText
from provenloop.domain.names import MemoryId


class DistillationRows:
    """Implements ``services.distil_port.DistillationReader``; part of the store."""

    def distillation(self, memory: MemoryId, job_id: str) -> Distillation | None:
        """See ``DistillationReader``."""
        row = table.get(Key(partition(memory, "RECIPE"), keys.distillation(job_id)))
        return None if row is None else as_entity(row, Distillation)

    def envelope(self, memory: MemoryId, job_id: str) -> EnvelopeText | None:
        """See ``DistillationReader``."""
        row = table.get(Key(partition(memory, "RECIPE"), keys.envelope(job_id)))
        return None if row is None else as_entity(row, EnvelopeText)

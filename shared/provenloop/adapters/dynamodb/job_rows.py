"""Reading jobs, and subjects of many grains a stretch at a time."""

from __future__ import annotations

from itertools import islice

from provenloop.adapters.dynamodb import keys, table
from provenloop.adapters.dynamodb.items import entity_of
from provenloop.adapters.dynamodb.keys import Key, partition
from provenloop.adapters.dynamodb.rows import Row, is_expired
from provenloop.domain.errors import IntegrityError
from provenloop.domain.grain import Grain
from provenloop.domain.job import Job
from provenloop.domain.names import MemoryId

#: Sorts right after an address, and before every greater one.
_JUST_AFTER = "!"


class JobRows:
    """Implements ``services.job_port.JobReader``; part of the store."""

    def job(self, memory: MemoryId, job_id: str) -> Job | None:
        """See ``JobReader``."""
        row = table.get(Key(partition(memory, "LOOP"), keys.job(job_id)))
        if row is None:
            return None
        found = entity_of(row)
        if not isinstance(found, Job):
            raise IntegrityError("a stored item is not the Job its key says")
        return found

    def grains_after(self, memory: MemoryId, prefix: str, after: str, limit: int, now: int) -> tuple[Grain, ...]:
        """See ``JobReader``."""
        first = f"{after}{_JUST_AFTER}" if after else prefix
        rows = table.query(partition(memory, "GRAIN"), Row.sk.between(first, prefix + keys.LAST))
        grains = (entity_of(row) for row in rows if not is_expired(row, now))
        return tuple(islice((grain for grain in grains if isinstance(grain, Grain)), limit))

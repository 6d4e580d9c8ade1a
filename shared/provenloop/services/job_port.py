"""What jobs need from the outside: their records, stretches of a large subject, and the queue that brings them back."""

from __future__ import annotations

from typing import Protocol

from provenloop.domain.grain import Grain
from provenloop.domain.job import Job
from provenloop.domain.names import MemoryId


class JobReader(Protocol):
    """Reading for jobs; strongly consistent. Part of :class:`~provenloop.services.ports.Store`."""

    def job(self, memory: MemoryId, job_id: str) -> Job | None:
        """A job by its id; also one of a memory that was erased."""

    def grains_after(self, memory: MemoryId, prefix: str, after: str, limit: int, now: int) -> tuple[Grain, ...]:
        """The next grains whose address starts with ``prefix`` and is greater than ``after``, at most ``limit``.

        Fewer than ``limit`` mean that there are no more, but for expired ones, which are left out.
        """


class JobQueue(Protocol):
    """Brings a job to the function that carries jobs out."""

    def send(self, memory: MemoryId, job_id: str, delay_s: int) -> None:
        """Bring the job after ``delay_s`` seconds (0 to 900), at least once.

        Raises:
            UnavailableError: the queue did not take it.
        """

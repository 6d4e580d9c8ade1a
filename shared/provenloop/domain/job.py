"""A job: work too large for one request, done in bounded stretches that may be interrupted anywhere.

Invariant: what a stretch did and what the job says of it are one transaction, so counts are exact and nothing is done
twice. A job holds addresses, digests and figures only; the texts it needs stand in notes that go when it ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

JobKind = Literal["forget", "erase"]
JobStatus = Literal["running", "done", "failed"]

ID_CHARS = 32
#: How many lessons a job names; it counts no further.
MAX_LESSONS = 50
#: The audit chain of one entry, which says that a memory was erased.
ERASURE_CHAIN = "memory:erased"
_NOTES_PREFIX = "job:"
BECAUSE_NOTE = 1
SUBJECT_NOTE = 2


@dataclass(frozen=True, slots=True)
class Job:
    """One job.

    ``by`` is who asked for it, as audit entries name people. ``chain`` is the audit chain its commits go to, ``cursor``
    how far it is, ``not_before`` (epoch ms) when its next stretch may begin. ``counts`` say what was done so far, by
    what it was done to. ``error`` is the code that a failed job ended with, ``request`` a digest of what was asked for.
    """

    id: str
    kind: JobKind
    by: Mapping[str, str]
    created_at: int
    changed_at: int
    chain: str
    status: JobStatus = "running"
    namespace: str = ""
    cursor: str = ""
    not_before: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)
    lessons: tuple[str, ...] = ()
    error: str | None = None
    request: str = ""
    rev: int = 1

    @property
    def is_running(self) -> bool:
        """Whether there is more to do."""
        return self.status == "running"

    @property
    def notes(self) -> str:
        """The subject of the notes that hold its texts."""
        return f"{_NOTES_PREFIX}{self.id}"


def moved(job: Job, at: int, done: Mapping[str, int], *, cursor: str | None = None) -> Job:
    """The job one stretch on: ``done`` is added to its counts."""
    counts = {**job.counts, **{name: job.counts.get(name, 0) + number for name, number in done.items() if number}}
    return replace(job, changed_at=at, cursor=job.cursor if cursor is None else cursor, counts=counts, rev=job.rev + 1)


def ended(job: Job, at: int, error: str | None = None) -> Job:
    """The job once it is over: done, or failed with an error's code."""
    return replace(job, changed_at=at, status="failed" if error else "done", error=error, rev=job.rev + 1)


def begun_again(job: Job, at: int) -> Job:
    """A failed job, to be done from its beginning; what it did stays done and counted."""
    return replace(job, changed_at=at, status="running", error=None, cursor="", not_before=at, rev=job.rev + 1)


def is_of_a_job(subject: str) -> bool:
    """Whether notes of that subject hold the texts of a job."""
    return subject.startswith(_NOTES_PREFIX)

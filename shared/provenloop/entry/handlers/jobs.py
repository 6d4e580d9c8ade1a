"""Jobs: carried out by messages of the job queue, looked up over HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from provenloop.entry.job_messages import JobMessage, run_each
from provenloop.entry.models.forget import EraseRequest
from provenloop.entry.reply import Reply, json_reply
from provenloop.entry.request import Request
from provenloop.entry.telemetry import count
from provenloop.entry.time_left import spent
from provenloop.entry.wiring import wiring
from provenloop.services.erase_memory import begin_erasure
from provenloop.services.jobs import show_job as shown_job
from provenloop.services.run_job import Occasion, run_job


def show_job(request: Request) -> Reply:
    """How far a job is."""
    return json_reply(shown_job(request.wiring.store, request.call, request.need("job")))


def delete_memory(request: Request) -> Reply:
    """Begin to erase a memory."""
    because = request.body_as(EraseRequest).because
    answer = begin_erasure(request.wiring.store, request.wiring.jobs, request.call, because)
    return json_reply(answer, status=202)


def run_queued(event: Mapping[str, Any], context: object) -> dict[str, Any]:
    """One stretch of a job for each message of an SQS event.

    Returns:
        the partial batch answer: ids of the messages that must come again.
    """
    return run_each(event, "job", lambda message: _run(message, context))


def _run(message: JobMessage, context: object) -> str:
    current = wiring()
    occasion = Occasion(message.id, message.now, current.entropy, spent(context))
    outcome = run_job(current.store, current.jobs, message.memory, message.job, occasion)
    count("JobsDone" if outcome == "done" else "JobsFailed", 1 if outcome in ("done", "failed") else 0)
    return outcome

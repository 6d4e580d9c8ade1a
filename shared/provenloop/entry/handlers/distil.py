"""Distilling, by messages of its queue."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from provenloop.entry.job_messages import JobMessage, run_each
from provenloop.entry.telemetry import count
from provenloop.entry.wiring import wiring
from provenloop.services.carry_out_distillation import Delivery


def run_queued(event: Mapping[str, Any], _context: object) -> dict[str, Any]:
    """Carry out the distillation of each message of an SQS event.

    Returns:
        the partial batch answer: ids of the messages that must come again.
    """
    return run_each(event, "distil", _run)


def _run(message: JobMessage) -> str:
    current = wiring()
    delivery = Delivery(message.memory, message.job, message.id, message.now, current.entropy)
    job = current.distiller().deliver(delivery)
    count("RecipesDistilled" if job.status == "done" else "RecipesSkipped", 1)
    return job.reason or job.status

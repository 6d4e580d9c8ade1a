"""Distilling while the caller waits: the only way to use a key of the caller's own."""

from __future__ import annotations

from provenloop.domain.distillation import Distillation
from provenloop.domain.errors import LoopError
from provenloop.services.call import Call
from provenloop.services.carry_out_distillation import Distiller
from provenloop.services.distil_recipe import Wanted, begin_distillation
from provenloop.services.job_port import JobQueue


def distil_now(distiller: Distiller, queue: JobQueue, call: Call, wanted: Wanted, *, has_model: bool) -> Distillation:
    """Begin, and carry out at once; what cannot be ended now the queue goes on with.

    Raises:
        LoopError: as :func:`~provenloop.services.distil_recipe.begin_distillation`; nothing was begun.
    """
    job = begin_distillation(distiller.store, queue, call, wanted, has_model=has_model)
    if job.is_over:
        return job
    try:
        return distiller.carry_out(call, job.id)
    except LoopError:
        return distiller.store.distillation(call.memory, job.id) or job

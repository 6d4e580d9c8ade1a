"""What a pass is given of the world outside: models, external analyzers, and how long it may wait for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from provenloop.domain.instants import DAY_MS
from provenloop.services.external_port import ExternalAnalyzers
from provenloop.services.model_port import TellLost, tell_nobody
from provenloop.services.reflect_port import ReflectionModels

_NO_END_MS = DAY_MS


def no_end() -> int:
    """Time without an end, as in a stack on one machine."""
    return _NO_END_MS


@dataclass(frozen=True, slots=True)
class Outside:
    """Who may be asked in a pass; nobody by default.

    ``left_ms`` is how many milliseconds of the pass's time are left for them. ``tell_lost`` is called where the ledger
    does not take the rows of a call.
    """

    models: ReflectionModels | None = None
    analyzers: ExternalAnalyzers | None = None
    left_ms: Callable[[], int] = no_end
    tell_lost: TellLost = tell_nobody


NOBODY = Outside()

"""External analyzers as the host policy registers them. No client can register one."""

from __future__ import annotations

from dataclasses import dataclass

from provenloop.domain.grain import GrainKind

MAX_TIMEOUT_MS = 10_000
MAX_ANSWER_BYTES = 1_000_000
MAX_GRAINS_A_CALL = 2_000


@dataclass(frozen=True, slots=True)
class RegisteredAnalyzer:
    """One external analyzer.

    ``id`` is ``ext.<name>/<version>``. ``endpoint`` is the ARN of a Lambda function, an ``https`` address, or
    ``command:`` and a command line (local stacks only). ``needs`` are the kinds of grains it is sent, and no others.
    """

    id: str
    endpoint: str
    needs: tuple[GrainKind, ...]
    timeout_ms: int = MAX_TIMEOUT_MS
    max_bytes: int = MAX_ANSWER_BYTES

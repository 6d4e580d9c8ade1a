"""Asking an external analyzer: bytes out, bytes back or one typed failure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from provenloop.domain.registered import RegisteredAnalyzer

#: Why there is no answer: it took too long, was too large, could not be reached, the other side failed, or there is no
#: key to sign the question with.
ExternalFailureKind = Literal["timeout", "too_large", "unreachable", "failed", "no key"]


@dataclass(frozen=True, slots=True)
class ExternalFailure:
    """Why an external analyzer gave no answer."""

    kind: ExternalFailureKind


class ExternalAnalyzer(Protocol):
    """One external analyzer, wherever it runs."""

    def ask(self, request: bytes, *, timeout_ms: int, max_bytes: int) -> bytes | ExternalFailure:
        """One request and its answer of at most ``max_bytes``, within ``timeout_ms``. Never raises, never retries."""


#: Gives what stands behind a registration.
ExternalAnalyzers = Callable[[RegisteredAnalyzer], ExternalAnalyzer]

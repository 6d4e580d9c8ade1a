"""External analyzers that are programs on this machine: for local stacks, where whoever begins one chooses them."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from provenloop.adapters.bounded_process import ProcessFailure, run_bounded
from provenloop.services.external_port import ExternalFailure


class CommandAnalyzer:
    """Implements ``services.external_port.ExternalAnalyzer``: each question is one run of a program.

    Args:
        line: the command line, split as a shell would split it; there is no shell.
        environment: all variables that the program sees.
    """

    def __init__(self, line: str, environment: Mapping[str, str]) -> None:
        self._line = line
        self._environment = environment

    def ask(self, request: bytes, *, timeout_ms: int, max_bytes: int) -> bytes | ExternalFailure:
        """See ``ExternalAnalyzer``."""
        try:
            words = shlex.split(self._line)
        except ValueError:
            return ExternalFailure("unreachable")
        answer = run_bounded(
            words, request, timeout_s=timeout_ms / 1000, max_bytes=max_bytes, environment=self._environment
        )
        return ExternalFailure(answer.kind) if isinstance(answer, ProcessFailure) else answer

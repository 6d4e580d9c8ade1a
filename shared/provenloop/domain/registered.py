"""External analyzers as the host policy registers them. No client can register one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import get_args

from provenloop.domain.grain import GrainKind

MAX_TIMEOUT_MS = 10_000
MAX_ANSWER_BYTES = 1_000_000
MAX_GRAINS_A_CALL = 2_000
#: How many external analyzers an installation may have.
MAX_REGISTERED = 8
#: ``ext.<name>/<version>``.
EXTERNAL_ID = re.compile(r"ext\.[a-z][a-z0-9_]{0,40}/[1-9][0-9]{0,3}\Z")
#: How the endpoint of a command begins.
COMMAND = "command:"
#: The kinds of grains an external analyzer may ask for.
NEEDS: tuple[GrainKind, ...] = tuple(kind for kind in get_args(GrainKind) if kind != "question")


def is_external(name: str) -> bool:
    """Whether a text can be the id of an external analyzer, or its family, which is the id without the version."""
    return EXTERNAL_ID.match(name if "/" in name else f"{name}/1") is not None


@dataclass(frozen=True, slots=True)
class RegisteredAnalyzer:
    """One external analyzer.

    ``id`` is ``ext.<name>/<version>``. ``endpoint`` is the ARN of a Lambda function, an ``https`` address, or
    ``command:`` and a command line (local stacks only). ``needs`` are the kinds of grains it is sent, and no others.
    ``timeout_ms`` and ``max_bytes`` bound each of its answers.
    """

    id: str
    endpoint: str
    needs: tuple[GrainKind, ...]
    timeout_ms: int = MAX_TIMEOUT_MS
    max_bytes: int = MAX_ANSWER_BYTES

    @property
    def shown_endpoint(self) -> str:
        """The endpoint without what may be secret: of an address only the host, of a command only the program."""
        if self.endpoint.startswith(COMMAND):
            return COMMAND + self.endpoint.removeprefix(COMMAND).split()[0]
        scheme, mark, rest = self.endpoint.partition("://")
        return f"{scheme}{mark}{rest.partition('/')[0].partition('?')[0]}"

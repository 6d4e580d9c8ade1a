"""Asking a language model: one request, one answer or one typed failure, never an exception.

What is ours (instructions, schema) and what came from outside (quoted texts) stand apart, so that every adapter sends
them apart. The key of the provider is an argument of each call: nothing keeps it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from provenloop.domain.ledger import LedgerRow
from provenloop.domain.model_cost import Usage
from provenloop.domain.quoting import Quoted
from provenloop.services.call import Call

#: Why there is no answer; ``network`` covers time that ran out, ``parse`` an answer that is no JSON object or is empty.
FailureKind = Literal["auth", "network", "rate_limit", "server", "parse", "refusal", "unknown"]
Effort = Literal["low", "medium", "high"]


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One question.

    ``schema`` is the JSON schema (of an object) that the answer follows. ``timeout_ms`` is for everything from
    connecting to the last byte. ``effort`` is left out for models that know none. ``cached`` asks the provider to keep
    the instructions for the next call, where they are long enough for that. ``op`` is one word for what is asked.
    """

    model: str
    instructions: str
    quoted: tuple[Quoted, ...]
    schema: Mapping[str, Any]
    max_tokens: int
    timeout_ms: int
    effort: Effort | None = None
    cached: bool = False
    op: str = ""


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """What the model said: ``value`` is the JSON object, of whatever shape, that ``text`` holds.

    ``model`` is the one that answered.
    """

    value: dict[str, Any]
    text: str
    usage: Usage
    model: str


@dataclass(frozen=True, slots=True)
class ModelFailure:
    """Why there is no answer. ``usage`` is what was used all the same, where the provider told.

    ``timed_out``: the time was over. ``empty``: there was an answer, without a text.
    """

    kind: FailureKind
    usage: Usage | None = None
    model: str | None = None
    timed_out: bool = False
    empty: bool = False


ModelOutcome = ModelAnswer | ModelFailure


class ModelProvider(Protocol):
    """Where models are asked."""

    def ask(self, request: ModelRequest, key: str) -> ModelOutcome:
        """One call, tried once. Never raises, and keeps neither the key nor anything that was said."""


class ModelKey(Protocol):
    """The key of the installation."""

    def current(self) -> str:
        """The key as it is now; empty where models are switched off.

        Raises:
            LoopError: it cannot be read.
        """


#: Told of rows that may not be in the ledger, though what they count was paid for. Never raises.
TellLost = Callable[[Call, Sequence[LedgerRow]], None]


def tell_nobody(call: Call, rows: Sequence[LedgerRow]) -> None:
    """Where nobody wants to know."""


def always() -> bool:
    """Where nothing forbids to ask."""
    return True


@dataclass(frozen=True, slots=True)
class ModelAccess:
    """Models for one request: the provider, the installation's key, or the caller's own, which serves this request.

    ``tell_lost`` is called where the ledger does not take the rows of a call. ``may_ask`` says whether any model may be
    asked now, with whatever key.
    """

    provider: ModelProvider
    installation: ModelKey
    own_key: str | None = field(default=None, repr=False)
    tell_lost: TellLost = tell_nobody
    may_ask: Callable[[], bool] = always

    def key(self) -> str:
        """The key of the next call, read afresh; empty where models are switched off, or may not be asked.

        Raises:
            LoopError: it cannot be read.
        """
        return (self.own_key or self.installation.current()) if self.may_ask() else ""

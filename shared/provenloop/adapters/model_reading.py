"""What providers of models have in common: what can be a key, what a status means, what an answer is."""

from __future__ import annotations

import re
from typing import Any

from provenloop.domain.canonical import StrictJsonError, parse_strict
from provenloop.services.model_port import FailureKind

_KEY = re.compile(r"[!-~]{1,1000}\Z")
_KINDS: dict[int, FailureKind] = {401: "auth", 402: "auth", 403: "auth", 408: "network", 429: "rate_limit"}
_SERVER_FROM = 500
_MOST_TOKENS = 10**9
#: A name ends in origins and in the ledger, so it cannot be any text.
_NAME = re.compile(r"[A-Za-z0-9_.:/@-]{1,100}\Z")


def is_key(text: str) -> bool:
    """Whether a text can be a key, and stand in a header as it is."""
    return _KEY.match(text) is not None


def kind_of_status(status: int) -> FailureKind:
    """Why a call failed that was answered with an HTTP status other than 200."""
    return _KINDS.get(status, "server" if status >= _SERVER_FROM else "unknown")


def object_of(text: str) -> dict[str, Any] | None:
    """The JSON object that a text is; None where it is anything else, or has a key twice or half a character."""
    try:
        value = parse_strict(text.encode())
    except (StrictJsonError, UnicodeEncodeError):
        return None
    return value if isinstance(value, dict) else None


def tokens(told: Any) -> int:
    """A number of tokens as a provider tells it; 0 where it cannot be one."""
    return told if isinstance(told, int) and not isinstance(told, bool) and 0 <= told < _MOST_TOKENS else 0


def name_of(told: Any, asked: str) -> str:
    """The model that answered, as far as what a provider says can be the name of one; else the one that was asked."""
    return told if isinstance(told, str) and _NAME.match(told) else asked

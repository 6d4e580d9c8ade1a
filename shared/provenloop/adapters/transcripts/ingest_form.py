"""What a transcript holds, brought into the form and bounds of the ingest schema.

Invariants: every function answers for any input and the same for the same; what it answers is accepted at the edge, so
that one odd call never costs the batch it travels in. Texts that fit are passed on exactly as they are.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from provenloop.domain.canonical import StrictJsonError, parse_strict
from provenloop.domain.instants import EARLIEST_MS, LATEST_MS, InstantError, parse_instant
from provenloop.domain.text import normalise

MAX_ID_CHARS = 128
MAX_TOOL_CHARS = 128
#: Bytes of JSON that one value may take: with two of them an event still fits a request of 1 MiB.
MAX_VALUE_BYTES = 400_000
#: What is kept of each end of a longer one: few enough that they fit, whatever the characters are.
KEPT_CHARS = 16_000

#: A value stands three levels deep in a request, which may be 32 deep.
_MAX_DEPTH = 29
#: A character beyond the first 65,536 is two escapes of six.
_MOST_BYTES_A_CHAR = 12
_NAME_DIGEST_CHARS = 16
_SECOND_MS = 1000
_TIME_FIELDS = ("timestamp", "created_at", "created")


def tool_name(value: Any) -> str:
    """A tool's name in one line; empty where there is none. A long one ends in a digest, so that two stay two."""
    raw = plain_text(value)
    name = " ".join("".join(char if char.isprintable() else " " for char in raw).split())
    if len(name) > MAX_TOOL_CHARS:
        name = f"{name[: MAX_TOOL_CHARS - _NAME_DIGEST_CHARS - 1]}~{_digest(raw)[:_NAME_DIGEST_CHARS]}"
    return name if normalise(name) else ""


def foreign_id(*parts: str) -> str:
    """The parts as one id: joined by ``/`` where that is short, visible and can be told apart, else their digest."""
    joined = "/".join(parts)
    is_clear = not any("/" in part for part in parts[1:])
    is_visible = joined.isprintable() and bool(normalise(joined))
    return joined if is_clear and is_visible and len(joined) <= MAX_ID_CHARS else _digest(*parts)


def json_value(value: Any) -> Any:
    """The value where it may be sent, else a text of it: what is no JSON, too deep, or a number too large to be held.

    A value of over ``MAX_VALUE_BYTES`` becomes the two ends of its text.
    """
    if isinstance(value, str):
        return _sendable_text(value)
    if value is None or isinstance(value, bool):
        return value
    try:
        text = json.dumps(value, default=str, skipkeys=True)
    except (ValueError, RecursionError):
        return f"({type(value).__name__} that cannot be written as JSON)"
    return _json_or_text(text)


def arguments(value: Any) -> Any:
    """A call's arguments: the JSON that their text holds, or the text as it is where it holds none."""
    return _json_or_text(value) if isinstance(value, str) else json_value(value)


def own_time(message: Mapping[str, Any]) -> int | None:
    """A message's own time, epoch ms: RFC 3339 with an offset, or epoch seconds as the chat form writes them."""
    for name in _TIME_FIELDS:
        at = _instant_of(message.get(name))
        if at is not None:
            return at
    return None


def plausible(at: int) -> int:
    """The nearest instant that may be sent, epoch ms."""
    return min(max(at, EARLIEST_MS), LATEST_MS)


def plain_text(value: Any) -> str:
    """A text, or a whole number as text; anything else names nothing."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ""
    return value if isinstance(value, str) else f"{value:#x}" if value.bit_length() > MAX_ID_CHARS else str(value)


def sent_bytes(value: Any) -> int:
    """How many bytes a value takes in a request, at most."""
    return len(json.dumps(value))


def _json_or_text(text: str) -> Any:
    if len(text) > MAX_VALUE_BYTES:
        return _sendable_text(text)
    try:
        value = parse_strict(text.encode(), max_depth=_MAX_DEPTH)
    except (StrictJsonError, UnicodeEncodeError):
        return _sendable_text(text)
    return value if sent_bytes(value) <= MAX_VALUE_BYTES else _sendable_text(text)


def _sendable_text(text: str) -> str:
    whole = text.encode(errors="replace").decode()
    if len(whole) * _MOST_BYTES_A_CHAR <= MAX_VALUE_BYTES or sent_bytes(whole) <= MAX_VALUE_BYTES:
        return whole
    left_out = len(whole) - 2 * KEPT_CHARS
    return f"{whole[:KEPT_CHARS]}\n({left_out} characters left out)\n{whole[-KEPT_CHARS:]}"


def _instant_of(value: Any) -> int | None:
    if isinstance(value, int | float) and EARLIEST_MS <= value * _SECOND_MS <= LATEST_MS:
        return int(value * _SECOND_MS)
    try:
        return parse_instant(value) if isinstance(value, str) else None
    except InstantError:
        return None


def _digest(*parts: str) -> str:
    return sha256(json.dumps(parts).encode()).hexdigest()

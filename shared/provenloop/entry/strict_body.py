"""Request bodies before anything is validated: size, media type, encoding, strict JSON.

Invariants: what leaves here is a JSON value that can be stored and hashed; nothing ambiguous (a key twice, NaN, a lone
surrogate) is ever guessed at. An absent body of an operation that needs none is an empty object, and has its digest.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from provenloop.domain.canonical import StrictJsonError, canonical_json, parse_strict, sha256_hex
from provenloop.domain.errors import InvalidInputError, TooLargeError

MAX_BODY_BYTES = 1_048_576
MAX_DEPTH = 32


@dataclass(frozen=True, slots=True)
class Body:
    """A request's JSON value and the SHA-256 of its canonical text; that of an operation without a body is empty."""

    value: object
    digest: str = ""


def read_body(
    event: Mapping[str, Any], *, optional: bool, max_bytes: int = MAX_BODY_BYTES, max_depth: int = MAX_DEPTH
) -> Body:
    """The JSON body of an HTTP API event.

    Args:
        event: API Gateway, payload format 2.0.
        optional: whether no body at all stands for ``{}``.
        max_bytes: how large it may be once decoded; 1 MiB.
        max_depth: how many objects and arrays may be open at once.

    Raises:
        TooLargeError: over ``max_bytes``.
        InvalidInputError: missing, not declared as JSON, or not strict JSON; names the place.
    """
    raw = _bytes_of(event)
    if len(raw) > max_bytes:
        raise TooLargeError(f"a request body holds at most {max_bytes} bytes", field="body")
    if not raw:
        if optional:
            return _told({})
        raise InvalidInputError("a JSON object is needed", field="body")
    _require_json(event)
    try:
        value = parse_strict(raw, max_depth=max_depth)
    except StrictJsonError as error:
        raise InvalidInputError(error.reason, field=error.path or "body") from error
    return _told(value)


def _told(value: object) -> Body:
    return Body(value, sha256_hex(canonical_json(value)))


def _bytes_of(event: Mapping[str, Any]) -> bytes:
    body = event.get("body") or ""
    if not event.get("isBase64Encoded"):
        # A lone surrogate in the gateway's own JSON must reach the strict reader, which refuses it by name.
        return str(body).encode("utf-8", "surrogatepass")
    try:
        return base64.b64decode(body, validate=True)
    except (binascii.Error, ValueError):
        raise InvalidInputError("not base64 as declared", field="body") from None


def _require_json(event: Mapping[str, Any]) -> None:
    declared = str((event.get("headers") or {}).get("content-type", ""))
    media_type, *parameters = (part.strip().lower() for part in declared.split(";"))
    if media_type != "application/json":
        raise InvalidInputError("must be application/json", field="content-type")
    charsets = [
        value.strip('"') for name, _, value in (part.partition("=") for part in parameters) if name == "charset"
    ]
    if any(charset not in ("utf-8", "utf8") for charset in charsets):
        raise InvalidInputError("the charset of JSON is UTF-8", field="content-type")

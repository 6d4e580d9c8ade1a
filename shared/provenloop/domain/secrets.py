"""Taking secrets out of texts and JSON values before anything is stored: ``[redacted:<kind>]`` stands for each.

Kinds: ``private_key``, ``password``, ``api_key``, ``aws_key``, ``token``, ``bearer``, ``jwt``, ``cookie``. A secret is
told by the name of its field or by its issuer's form, never by entropy alone, so that digests, ids, order numbers and
encoded images stay. What was taken out is counted and nowhere kept.

Invariants: redacting twice is redacting once; linear time; JSON keeps its shape.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from provenloop.domain import secret_patterns as patterns
from provenloop.domain.secret_fields import LONG_TOKEN_CHARS, MIN_TOKEN_CHARS, holds_secret, replace_fields

#: Words of which a text must hold one for the patterns that begin with them to be tried at all.
_FIELD_HINTS = ("pass", "pwd", "secret", "token", "key", "credential", "connection", "signature", "sig=")
_AWS_HINTS = ("AKIA", "ASIA", "ABIA", "ACCA")


def redact(text: str) -> tuple[str, dict[str, int]]:
    """The text without secrets, and how many of which kind were taken out."""
    found: Counter[str] = Counter()
    return _redacted(text, found), dict(found)


def redact_json(value: Any) -> tuple[Any, dict[str, int]]:
    """A JSON value without secrets: by the names of its fields, and in all its texts; and how many of which kind."""
    found: Counter[str] = Counter()
    return _redacted_value(value, None, found), dict(found)


def _redacted_value(value: Any, kind: str | None, found: Counter[str]) -> Any:
    """``kind`` is what the name of the field says; None where it says nothing."""
    if isinstance(value, str):
        if kind and holds_secret(value, kind, quoted=True):
            return _mark(kind, found)
        return _redacted(value, found)
    if isinstance(value, Mapping):
        return _redacted_mapping(value, found)
    if isinstance(value, (list, tuple)):
        return [_redacted_value(item, kind, found) for item in value]
    if kind == "password" and isinstance(value, (int, float)) and not isinstance(value, bool):
        return _mark(kind, found)
    return value


def _redacted_mapping(value: Mapping[Any, Any], found: Counter[str]) -> dict[Any, Any]:
    out: dict[Any, Any] = {}
    for key, item in value.items():
        name = _redacted(key, found) if isinstance(key, str) else key
        # Two secrets used as names must not fall together into one field.
        while name in out:
            name = f"{name}'"
        out[name] = _redacted_value(item, patterns.kind_of_name(key) if isinstance(key, str) else None, found)
    return out


def _redacted(text: str, found: Counter[str]) -> str:
    if len(text) < MIN_TOKEN_CHARS:
        return text
    lower = text.lower()
    if "-----begin" in lower:
        text = patterns.PRIVATE_KEY.sub(lambda _: _mark("private_key", found), text)
    if "authorization" in lower:
        text = patterns.HEADER_LINE.sub(lambda match: match[1] + _mark("bearer", found), text)
        text = patterns.HEADER.sub(lambda match: _header(match, found), text)
    if "cookie" in lower:
        text = patterns.COOKIE.sub(lambda match: match[1] + _mark("cookie", found), text)
    if any(hint in lower for hint in _FIELD_HINTS):
        text = replace_fields(text, lambda kind: _mark(kind, found))
        text = patterns.FLAG.sub(lambda match: _flag(match, found), text) if "-" in text else text
    if "://" in text:
        text = patterns.URL_PASSWORD.sub(lambda match: match[1] + _mark("password", found), text)
        text = patterns.URL_TOKEN.sub(lambda _: _mark("token", found), text)
    if "bearer" in lower:
        text = patterns.BEARER.sub(lambda match: _bearer(match, found), text)
    return _redacted_forms(text, found)


def _redacted_forms(text: str, found: Counter[str]) -> str:
    """Secrets that are told by their look alone."""
    if any(hint in text for hint in _AWS_HINTS):
        text = patterns.AWS_KEY.sub(lambda _: _mark("aws_key", found), text)
    if "eyJ" in text:
        text = patterns.JWT.sub(lambda _: _mark("jwt", found), text)
    text = patterns.SHORT_PREFIX_KEY.sub(lambda match: _short_prefix_key(match, found), text)
    return patterns.API_KEY.sub(lambda _: _mark("api_key", found), text)


def _mark(kind: str, found: Counter[str]) -> str:
    found[kind] += 1
    return f"[redacted:{kind}]"


def _header(match: re.Match[str], found: Counter[str]) -> str:
    secret = holds_secret(match[2], "bearer", quoted=match[1][-1].isspace() and match[1].rstrip()[-1].isalpha())
    return match[1] + _mark("bearer", found) if secret else match.group()


def _bearer(match: re.Match[str], found: Counter[str]) -> str:
    token = match[2].rstrip(".")
    looks_random = any(char.isdigit() for char in token) or (
        len(token) >= 20 and not (token.islower() or token.isupper())
    )
    return match[1] + _mark("bearer", found) + match[2][len(token) :] if looks_random else match.group()


def _short_prefix_key(match: re.Match[str], found: Counter[str]) -> str:
    key = match.group()
    digits = any(char.isdigit() for char in key)
    by_chance = key != key.lower() or max(map(len, re.split(r"[_-]", key))) >= LONG_TOKEN_CHARS
    return _mark("api_key", found) if digits and by_chance else key


def _flag(match: re.Match[str], found: Counter[str]) -> str:
    value = match[2].strip("\"'")
    kind = patterns.kind_of_name(match[1].strip()) or "token"
    return match[1] + _mark(kind, found) if holds_secret(value, kind, quoted=False) else match.group()

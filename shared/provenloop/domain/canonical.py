"""Canonical JSON (one text per value) and the strict reading of JSON that came from outside.

Invariants: equal values have equal canonical texts; what :func:`parse_strict` lets through can be stored and hashed:
valid UTF-8 without lone surrogates, no key twice in an object, bounded depth, only numbers that the table can hold.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from hashlib import sha256
from typing import Any, NoReturn

MAX_NUMBER_DIGITS = 38
MAX_NUMBER_EXPONENT = 126
MIN_NUMBER_EXPONENT = -130
_SAFE_NUMBER_CHARS = 30
_MAX_KEY_SHOWN = 64

#: A string is one token even when it never ends, so the scan stays linear on broken text.
_DEPTH_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|[\[\]{}]', re.DOTALL)
_NUMBER = re.compile(r"-?([0-9]++)(?:\.([0-9]++))?(?:[eE]([+-]?[0-9]++))?\Z")
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*\Z")


class StrictJsonError(ValueError):
    """The bytes are not JSON that may come in.

    Attributes:
        reason: the rule that was broken.
        path: the place, such as ``events[3].object``; empty for the whole text or where no place can be told.
    """

    def __init__(self, reason: str, path: str = "") -> None:
        super().__init__(f"{path}: {reason}" if path else reason)
        self.reason = reason
        self.path = path


def canonical_json(value: object) -> str:
    """The one JSON text of a value: keys sorted by code point, no blanks, no ASCII escapes, floats by ``repr``.

    Tuples are written as lists.

    Raises:
        TypeError: a part is not a str, int, float, bool, None, list, tuple or dict, or a key is not a str.
        ValueError: NaN or an infinity, a lone surrogate, a cycle, or nesting beyond the interpreter's limit.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except RecursionError:
        raise ValueError("nested too deeply for canonical JSON") from None
    _require_text_keys(value)
    if _SURROGATE.search(text):
        raise ValueError("a lone surrogate cannot be written as UTF-8")
    return text


def sha256_hex(text: str) -> str:
    """64 hex digits: SHA-256 of the text's UTF-8 bytes."""
    return sha256(text.encode()).hexdigest()


def parse_strict(data: bytes, *, max_depth: int = 32) -> object:
    """Read JSON from outside, refusing whatever is ambiguous or cannot be stored.

    Args:
        data: the bytes of one JSON text in UTF-8 without a byte order mark.
        max_depth: how many objects and arrays may be open at once; at most 200.

    Raises:
        StrictJsonError: invalid UTF-8 or JSON, a key twice in one object, NaN or Infinity, nesting beyond
            ``max_depth``, a lone surrogate (also as an escape), or a number beyond 38 significant digits or
            outside 1e-130 to 1e126.
    """
    text = _decoded(data)
    _require_depth(text, max_depth)
    refused: list[_Refused] = []

    def refuse(reason: str, key: str | None = None) -> _Refused:
        refused.append(_Refused(reason, key))
        return refused[-1]

    try:
        value = _decoder(refuse).decode(text)
    except json.JSONDecodeError as error:
        raise StrictJsonError(f"not JSON: {error.msg} at line {error.lineno} column {error.colno}") from None
    if refused:
        _raise_first(value)
    if _SURROGATE_ESCAPE.search(text):
        _require_no_surrogates(value)
    return value


class _Refused:
    """Stands in a parsed value where a part was refused, so that a walk can tell its path."""

    def __init__(self, reason: str, key: str | None) -> None:
        self.reason = reason
        self.key = key


def _decoder(refuse: Any) -> json.JSONDecoder:
    """A decoder that puts a mark where a number, a constant or an object may not come in."""

    def pairs(items: list[tuple[str, Any]]) -> Any:
        made = dict(items)
        if len(made) == len(items):
            return made
        return refuse("a key stands twice in one object", _first_repeated(items))

    def number(literal: str, read: type[int | float]) -> Any:
        reason = _why_unstorable(literal)
        return refuse(reason) if reason else read(literal)

    return json.JSONDecoder(
        object_pairs_hook=pairs,
        parse_int=lambda literal: number(literal, int),
        parse_float=lambda literal: number(literal, float),
        parse_constant=lambda name: refuse(f"{name} is not a JSON number"),
    )


def _decoded(data: bytes) -> str:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise StrictJsonError(f"not UTF-8 at byte {error.start}") from None
    if text.startswith("\ufeff"):
        raise StrictJsonError("a byte order mark is not part of JSON")
    return text


def _require_depth(text: str, max_depth: int) -> None:
    depth = 0
    for match in _DEPTH_TOKEN.finditer(text):
        token = match.group()
        if token in "[{":
            depth += 1
            if depth > max_depth:
                raise StrictJsonError(f"nested deeper than {max_depth}")
        elif token in "]}":
            depth -= 1


def _first_repeated(items: list[tuple[str, Any]]) -> str:
    seen: set[str] = set()
    for key, _ in items:
        if key in seen:
            return key
        seen.add(key)
    return ""


def _why_unstorable(literal: str) -> str | None:
    """Why the table could not hold this number, or None when it can."""
    if len(literal) <= _SAFE_NUMBER_CHARS and "e" not in literal and "E" not in literal:
        return None
    match = _NUMBER.match(literal)
    whole, fraction, exponent = match.groups() if match else ("", "", "")
    digits = (whole + (fraction or "")).lstrip("0")
    if not digits:
        return None
    if len(digits.rstrip("0")) > MAX_NUMBER_DIGITS:
        return f"a number has more than {MAX_NUMBER_DIGITS} significant digits"
    power = exponent or "0"
    magnitude = len(digits) - 1 - len(fraction or "")
    if len(power) > 6 or not MIN_NUMBER_EXPONENT <= magnitude + int(power) < MAX_NUMBER_EXPONENT:
        return f"a number lies outside 1e{MIN_NUMBER_EXPONENT} to 1e{MAX_NUMBER_EXPONENT}"
    return None


def _require_text_keys(value: object) -> None:
    pending = [value]
    while pending:
        part = pending.pop()
        if isinstance(part, dict):
            if not all(isinstance(key, str) for key in part):
                raise TypeError("keys of canonical JSON are texts")
            pending.extend(part.values())
        elif isinstance(part, (list, tuple)):
            pending.extend(part)


def _walk(value: object) -> Iterator[tuple[str, object]]:
    """Every part of a parsed value with its path, in document order."""
    pending: list[tuple[str, object]] = [("", value)]
    while pending:
        path, part = pending.pop()
        yield path, part
        if isinstance(part, dict):
            pending.extend((_join(path, key), item) for key, item in reversed(part.items()))
        elif isinstance(part, list):
            pending.extend((f"{path}[{index}]", part[index]) for index in range(len(part) - 1, -1, -1))


def _join(path: str, key: str) -> str:
    if _PLAIN_KEY.match(key) and len(key) <= _MAX_KEY_SHOWN:
        return f"{path}.{key}" if path else key
    return f"{path}[{json.dumps(key[:_MAX_KEY_SHOWN])}]"


def _raise_first(value: object) -> NoReturn:
    for path, part in _walk(value):
        if isinstance(part, _Refused):
            raise StrictJsonError(part.reason, path if part.key is None else _join(path, part.key))
    raise StrictJsonError("a part that was refused stands under a key that stands twice")


def _require_no_surrogates(value: object) -> None:
    for path, part in _walk(value):
        texts = part.keys() if isinstance(part, dict) else (part,)
        if any(isinstance(text, str) and _SURROGATE.search(text) for text in texts):
            raise StrictJsonError("a lone surrogate is not text", path)

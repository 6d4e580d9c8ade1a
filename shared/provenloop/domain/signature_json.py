"""What a JSON error body says about its cause: codes, types and messages, wherever they are nested.

Request ids, traces, times and all other fields are left out, and the order of keys does not matter. A body that names
no cause at all is signed by its remaining fields.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

PartKind = Literal["code", "text"]

_MAX_DEPTH = 6
_MAX_ITEMS = 20
_MAX_CODE_CHARS = 32
_NOT_WORD = re.compile(r"[^0-9a-z]+")
_DIGIT = re.compile(r"\d")
_ID_LIKE = re.compile(r"[0-9]{7}|[0-9a-fA-F]{8}-[0-9a-fA-F]{4}|\A(?=[0-9a-f]*[0-9])[0-9a-fA-F]{8,}\Z")
_REPR_START = re.compile(r"\[?\{\s*'")
_REPR_TOKEN = re.compile(r"""'(?:[^'\\]++|\\.)*+'|"(?:[^"\\]++|\\.)*+"|\b(?:None|True|False)\b""", re.DOTALL)
_REPR_WORDS = {"None": "null", "True": "true", "False": "false"}
_REPR_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_REPR_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}

_CODES = (
    "code errorcode errcode errno errornumber status statuscode httpstatus httpstatuscode httpcode exitcode exitstatus "
    "returncode sqlstate signal rc subcode"
).split()
_TYPES = "type errortype exceptiontype exceptionclass errorclass errorname exceptionname classname name".split()
_MESSAGES = (
    "message msg errormessage errmsg exceptionmessage errordescription description detail details title reason text "
    "error err errors exception fault faultstring failure failures cause causes problem stderr warning"
).split()
#: Where an inner error or its text may lie when nothing at the top names it, and beside what does.
_CONTAINERS = "response result body content output data inner innererror innerexception meta".split()
_TRACES = "traceback stacktrace stack trace".split()
_RANK = {key: rank for rank, keys in enumerate((_CODES, _TYPES, _MESSAGES)) for key in keys}
#: Values that only repeat that there was an error.
_EMPTY_WORDS = frozenset({"", "error", "errors", "err", "failed", "failure", "fail", "false", "true", "null", "none"})
_VOLATILE = re.compile(
    r"(?:.*id|.*ids|.*uuid|.*time|.*timestamp|.*date|.*at|.*trace.*|.*stack.*|.*duration.*|.*elapsed.*|.*host.*|.*ip|"
    r".*token|.*url|.*uri|.*path|.*version|.*server|.*instance|.*session|.*user|.*email|.*nonce|.*hash|.*etag)\Z"
)


@dataclass(frozen=True, slots=True)
class Part:
    """One thing a body says: a code, kept as it is, or a text, still to be masked."""

    kind: PartKind
    text: str


def parts_of(value: object) -> tuple[Part, ...]:
    """Codes, types and messages of a JSON value, in an order that its keys do not decide; equal ones once."""
    found = list(_causes(value, 0)) or [Part("text", trace) for trace in _traces(value)] or list(_fields(value, 0))
    unique: dict[str, Part] = {}
    for part in found:
        unique.setdefault(part.text.casefold().strip(" .!"), part)
    return tuple(unique.values())


def split_json(text: str) -> tuple[str, object]:
    """The text before a JSON object or array that ends the text, and its value; None where there is none.

    Also reads the ``repr`` of a Python dict, the form in which many clients print an error body.
    """
    stripped = text.strip()
    if not stripped.endswith(("}", "]", '"')):
        return stripped, None
    starts = [at for at in (stripped.find("{"), stripped.find("[{")) if at >= 0]
    start = 0 if stripped[0] in '"[{' else min(starts, default=-1)
    if start < 0:
        return stripped, None
    value = _read(stripped[start:])
    return (stripped[:start], value) if isinstance(value, (dict, list, str)) else (stripped, None)


def _read(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    if not _REPR_START.match(text):
        return None
    try:
        return json.loads(_REPR_TOKEN.sub(_as_json, text))
    except (ValueError, RecursionError):
        return None


def _as_json(match: re.Match[str]) -> str:
    token = match.group()
    if token[0] not in "'\"":
        return _REPR_WORDS[token]
    return json.dumps(_REPR_ESCAPE.sub(lambda escape: _REPR_ESCAPED.get(escape[1], escape[1]), token[1:-1]))


def _causes(value: object, depth: int) -> Iterator[Part]:
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, Mapping):
        yield from _causes_of_mapping(value, depth)
    elif isinstance(value, (list, tuple)):
        for item in value[:_MAX_ITEMS]:
            yield from _causes(item, depth + 1)


def _causes_of_mapping(value: Mapping[Any, Any], depth: int) -> Iterator[Part]:
    keyed = sorted((_RANK.get(_plain(key), len(_RANK)), _plain(key), item) for key, item in _sortable(value))
    for _, key, item in keyed:
        if key in _CODES or key in _TYPES:
            yield from _named(key, item, depth)
        elif key in _MESSAGES:
            yield from _said(item, depth)
    for _, key, item in keyed:
        if key in _CONTAINERS:
            yield from _said(item, depth)


def _sortable(value: Mapping[Any, Any]) -> Iterator[tuple[str, Any]]:
    """Items with unequal keys only, so that sorting never compares two values."""
    seen: dict[str, Any] = {}
    for key in sorted(value, key=str):
        seen.setdefault(_plain(key), value[key])
    yield from seen.items()


def _named(key: str, item: object, depth: int) -> Iterator[Part]:
    if isinstance(item, bool) or item is None:
        return
    if isinstance(item, (int, float)):
        yield Part("code", f"code {item}")
    elif isinstance(item, str):
        yield from _worded(key, item.strip())
    else:
        yield from _causes(item, depth + 1)


def _worded(key: str, item: str) -> Iterator[Part]:
    if item.casefold() in _EMPTY_WORDS or (key == "name" and not item.endswith(("Error", "Exception"))):
        return
    if key == "type" and item in ("text", "object"):
        return
    if not _DIGIT.search(item):
        yield Part("text", item)
    elif key in _CODES and len(item) <= _MAX_CODE_CHARS and " " not in item and not _ID_LIKE.search(item):
        yield Part("code", f"code {item}" if item.isdigit() else item)
    else:
        yield Part("text", item)


def _said(item: object, depth: int) -> Iterator[Part]:
    if isinstance(item, str):
        before, value = split_json(item)
        if value is not None and depth < _MAX_DEPTH:
            yield from _said(before, depth + 1)
            yield from _said(value, depth + 1) if isinstance(value, str) else _causes(value, depth + 1)
        elif item.strip().casefold() not in _EMPTY_WORDS:
            yield Part("text", item)
    elif isinstance(item, (list, tuple)):
        for inner in item[:_MAX_ITEMS]:
            yield from _said(inner, depth + 1) if depth < _MAX_DEPTH else ()
    else:
        yield from _causes(item, depth + 1)


def _traces(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, item in _sortable(value):
            if key in _TRACES and isinstance(item, str) and item.strip():
                yield item


def _fields(value: object, depth: int) -> Iterator[Part]:
    """Every stable field as ``key: value``, for a body that names no cause."""
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, Mapping):
        for key, item in list(_sortable(value))[:_MAX_ITEMS]:
            if isinstance(item, (Mapping, list, tuple)):
                yield from _fields(item, depth + 1)
            elif not _VOLATILE.match(key):
                yield Part("text", f"{key}: {item}")
    elif isinstance(value, (list, tuple)):
        for item in value[:_MAX_ITEMS]:
            yield from _fields(item, depth + 1)
    elif value is not None:
        yield Part("text", str(value))


def _plain(key: object) -> str:
    return _NOT_WORD.sub("", str(key).lower()[:64])

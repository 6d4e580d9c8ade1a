"""Checks values against the part of JSON Schema that published schemas of ours use; an unknown keyword is an error."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,), "array": (list,), "string": (str,), "integer": (int,), "number": (int, float),
}  # fmt: skip
_TELLING = {"$schema", "$id", "$defs", "title", "description"}


def faults_of(value: Any, name: str, document: Mapping[str, Any]) -> list[str]:
    """What is wrong with a value that should follow ``#/$defs/<name>``; empty where it does."""
    return list(_faults(value, document["$defs"][name], document, name))


def _faults(value: Any, schema: Mapping[str, Any], document: Mapping[str, Any], place: str) -> list[str]:
    found: list[str] = []
    for keyword, wanted in schema.items():
        if keyword == "$ref":
            found += _faults(value, document["$defs"][wanted.removeprefix("#/$defs/")], document, place)
        elif keyword == "properties" and isinstance(value, dict):
            for name in wanted.keys() & value.keys():
                found += _faults(value[name], wanted[name], document, f"{place}.{name}")
        elif keyword == "items" and isinstance(value, list):
            for at, item in enumerate(value):
                found += _faults(item, wanted, document, f"{place}[{at}]")
        elif keyword not in ("properties", "items", *_TELLING) and not _holds(keyword, wanted, value):
            found.append(f"{place}: {keyword}")
    return found


def _holds(keyword: str, wanted: Any, value: Any) -> bool:
    if keyword == "type":
        return isinstance(value, _TYPES[wanted]) and not isinstance(value, bool)
    return bool(_RULES[keyword](wanted, value))


_RULES: Mapping[str, Any] = {
    "const": lambda wanted, value: value == wanted,
    "enum": lambda wanted, value: value in wanted,
    "required": lambda wanted, value: all(name in value for name in wanted),
    "pattern": lambda wanted, value: re.search(wanted, value) is not None,
    "minLength": lambda wanted, value: len(value) >= wanted,
    "maxLength": lambda wanted, value: len(value) <= wanted,
    "minItems": lambda wanted, value: len(value) >= wanted,
    "maxItems": lambda wanted, value: len(value) <= wanted,
    "minimum": lambda wanted, value: value >= wanted,
    "maximum": lambda wanted, value: value <= wanted,
}

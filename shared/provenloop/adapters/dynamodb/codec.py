"""Entities to canonical JSON and back, by their type hints."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from provenloop.domain.canonical import canonical_json
from provenloop.domain.errors import IntegrityError

T = TypeVar("T")


_adapters: dict[type[Any], TypeAdapter[Any]] = {}


def _adapter(cls: type[T]) -> TypeAdapter[T]:
    if cls not in _adapters:
        _adapters[cls] = TypeAdapter(cls)
    return _adapters[cls]


def encode(entity: object) -> str:
    """The entity's fields as canonical JSON; fields that have their default are left out."""
    plain: dict[str, Any] = _adapter(type(entity)).dump_python(entity, mode="json", exclude_defaults=True)
    return canonical_json(plain)


def plain(entity: object) -> dict[str, Any]:
    """The entity's fields as JSON values, defaults included."""
    fields: dict[str, Any] = _adapter(type(entity)).dump_python(entity, mode="json")
    return fields


def decode(cls: type[T], text: str) -> T:
    """The entity that :func:`encode` wrote.

    Raises:
        IntegrityError: the text is not one; the message names the type only.
    """
    try:
        return _adapter(cls).validate_json(text)
    except ValidationError as error:
        raise IntegrityError(f"a stored {cls.__name__} cannot be read") from error

"""Rows as the entities their keys say they are; anything else there is an integrity error, never left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from provenloop.adapters.dynamodb.items import entity_of
from provenloop.adapters.dynamodb.rows import Row
from provenloop.domain.errors import IntegrityError

T = TypeVar("T")


def as_entity(row: Row, cls: type[T]) -> T:
    """The entity of a row.

    Raises:
        IntegrityError: it is of another type.
    """
    entity = entity_of(row)
    if not isinstance(entity, cls):
        raise IntegrityError(f"a stored item is not the {cls.__name__} its key says")
    return entity


def entities(rows: Iterable[Row], cls: type[T]) -> Iterator[T]:
    """The entities of rows, all of one type.

    Raises:
        IntegrityError: one is of another type.
    """
    return (as_entity(row, cls) for row in rows)


def some_entities(rows: Iterable[Row], classes: tuple[type[T], ...]) -> Iterator[T]:
    """The entities of rows of several types.

    Raises:
        IntegrityError: one is of none of them.
    """
    for row in rows:
        entity = entity_of(row)
        if not isinstance(entity, classes):
            raise IntegrityError("a stored item is not what its key says")
        yield entity

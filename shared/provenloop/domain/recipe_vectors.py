"""Vectors of recipes as they are stored: packed into rows, and listed by the head of their scope and embedding space.

Invariants: a row's content never changes under one ``rev``, so who holds a row of that ``rev`` need not read it again;
vectors of two spaces (another embedder, or another version of one) stand under two heads and are never compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace


@dataclass(frozen=True, slots=True)
class RowRef:
    """A row of vectors: its number, its revision and how many vectors it holds."""

    n: int
    rev: int
    count: int


@dataclass(frozen=True, slots=True)
class VectorHead:
    """All vectors of one scope and space; ``upcoming`` is the number of the row made next."""

    scope_key: str
    space: str
    dimensions: int
    rows: tuple[RowRef, ...] = ()
    upcoming: int = 1
    rev: int = 1

    @property
    def count(self) -> int:
        """How many vectors there are."""
        return sum(row.count for row in self.rows)


@dataclass(frozen=True, slots=True)
class VectorRow:
    """Vectors, and the names of what they belong to in the same order; ``packed`` is base64 (see ``packing``)."""

    scope_key: str
    space: str
    n: int
    names: tuple[str, ...]
    packed: str
    rev: int = 1


@dataclass(frozen=True, slots=True)
class VectorItem:
    """One vector as an item of its own, for an index that the store keeps itself."""

    scope_key: str
    space: str
    name: str
    packed: str
    rev: int = 1


@dataclass(frozen=True, slots=True)
class Embedded:
    """How far the live recipes of a scope have vectors, by space: up to the signature ``upto``, or all (``done``).

    Invariant: every transaction that makes a recipe live moves ``rev``, so that nobody is done who has not seen it.
    """

    scope_key: str
    upto: Mapping[str, str] = field(default_factory=dict)
    done: tuple[str, ...] = ()
    rev: int = 1


def looked_at(before: Embedded, space: str, upto: str, *, done: bool) -> Embedded:
    """Once more recipes have vectors in a space: up to the signature ``upto``, or all."""
    others = {name: place for name, place in before.upto.items() if name != space}
    rev = before.rev + 1
    if done:
        return replace(before, upto=others, done=(*before.done, space), rev=rev)
    return replace(before, upto={**others, space: upto}, rev=rev)


def begun_anew(before: Embedded, space: str | None) -> Embedded:
    """Once a recipe is live that no space but ``space`` has seen: all others are looked at from the beginning."""
    upto = {name: place for name, place in before.upto.items() if name == space}
    return replace(before, upto=upto, done=tuple(name for name in before.done if name == space), rev=before.rev + 1)

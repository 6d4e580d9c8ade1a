"""Globs over memory names: what they match, and whether one matches nothing that another does not.

A glob is 1 to 64 characters of ``a-z 0-9 . _ -``, ``*`` (any run of characters, or none) and ``?`` (any one character).
Memory names are 1 to 64 characters, and only names count: ``*`` is no wider than ``?*``.

Whether one glob covers another is decided exactly, by a search for the shortest name that only the inner one matches.
The search keeps, for each place in the inner glob, the sets of places that the outer one may be in. What makes it end
soon: a place at a star makes all places before it superfluous, a set that holds another one cannot lead to a shorter
name, and after its first star a glob may hold few ``?``, since each of them could double the sets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property

from provenloop.domain.errors import InvalidInputError

MAX_CHARS = 64
#: ``?`` behind the first star, where it is not known how far a name has been read.
MAX_FLOATING = 8
GLOB_PATTERN = "^[a-z0-9._*?-]{1,64}$"

_GLOB = re.compile(r"[a-z0-9._*?-]{1,64}\Z")
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789._-"
_STARS = re.compile(r"\*{2,}")


def require_glob(value: str, *, field: str) -> str:
    """A glob as it is, or a refusal.

    Raises:
        InvalidInputError: other characters, too long, or too many ``?`` behind a star.
    """
    if not _GLOB.match(value):
        raise InvalidInputError("1 to 64 characters out of a-z, 0-9, '.', '_', '-', '*' and '?'", field=field)
    if value.partition("*")[2].count("?") > MAX_FLOATING:
        raise InvalidInputError(f"at most {MAX_FLOATING} '?' may stand behind the first '*'", field=field)
    return value


def matches(glob: str, name: str) -> bool:
    """Whether a memory's name is one of those."""
    return fnmatchcase(name, glob)


def covers(outer: str, inner: str) -> bool:
    """Whether every memory name that ``inner`` matches is matched by ``outer``; both are allowed globs."""
    if outer in ("*", inner):
        return True
    return not _Search(_Glob(_STARS.sub("*", outer)), _Glob(_STARS.sub("*", inner))).finds_a_stranger()


@dataclass(frozen=True)
class _Glob:
    """A glob as an automaton: place n is before its n-th character. Sets of places are bits of a whole number."""

    text: str

    @cached_property
    def stars(self) -> int:
        """Places before a star."""
        return self._places("*")

    @cached_property
    def end(self) -> int:
        """The place behind the last character."""
        return 1 << len(self.text)

    @cached_property
    def start(self) -> int:
        """Where it is before anything was read."""
        return self._closed(1)

    def after(self, places: int, letter: str) -> int:
        """The places it may be in once ``letter`` was read."""
        return self._closed((places & self.stars) | ((places & (self._places(letter) | self._places("?"))) << 1))

    def _places(self, character: str) -> int:
        return sum(1 << place for place, known in enumerate(self.text) if known == character)

    def _closed(self, places: int) -> int:
        """A star may stand for nothing; and what could be read before the last star reached can be read at it."""
        last = (places & self.stars).bit_length()
        kept = places >> (last - 1) << (last - 1) if last else places
        return kept | ((kept & self.stars) << 1)


@dataclass(frozen=True)
class _Search:
    outer: _Glob
    inner: _Glob

    def finds_a_stranger(self) -> bool:
        """Whether some name is matched by the inner glob alone; the shortest ones are looked at first."""
        least: dict[int, list[int]] = {}
        frontier = {(place, self.outer.start) for place in _single(self.inner.start)}
        for _ in range(MAX_CHARS):
            reached = {pair for known in frontier for pair in self._next(*known)}
            if any(place == self.inner.end and not places & self.outer.end for place, places in reached):
                return True
            frontier = {pair for pair in sorted(reached, key=_size) if _is_news(least.setdefault(pair[0], []), pair[1])}
        return False

    def _next(self, place: int, places: int) -> Iterator[tuple[int, int]]:
        for letter in self._letters:
            after = self.inner.after(place, letter)
            if after:
                outer = self.outer.after(places, letter)
                yield from ((each, outer) for each in _single(after))

    @cached_property
    def _letters(self) -> tuple[str, ...]:
        """The letters that either glob names, and one for all the others."""
        named = sorted(set(self.outer.text + self.inner.text) - {"*", "?"})
        return (*named, *[letter for letter in _LETTERS if letter not in named][:1])


def _single(places: int) -> Iterator[int]:
    while places:
        lowest = places & -places
        yield lowest
        places ^= lowest


def _size(pair: tuple[int, int]) -> tuple[int, int, int]:
    return pair[1].bit_count(), *pair


def _is_news(least: list[int], places: int) -> bool:
    """Whether no set inside this one was reached before; it is noted then."""
    if any(known & places == known for known in least):
        return False
    least.append(places)
    return True

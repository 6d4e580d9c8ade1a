"""A text as its reader sees it, with where each character stands in the text as it was written.

Invisible characters are gone; escapes (HTML entities, JSON, percent) and styled or full-width characters are what they
stand for. So what hides behind them is found, and what is found is cut out of the text as it was written.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from html import unescape
from typing import NamedTuple
from unicodedata import category, combining, normalize

#: Escapes within escapes are read this deep.
_ROUNDS = 3
_ESCAPE = re.compile(
    r"&(?:#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});"
    r"|\\u[dD][89abAB][0-9A-Fa-f]{2}\\u[dD][c-fC-F][0-9A-Fa-f]{2}"
    r"|\\u\{[0-9A-Fa-f]{1,6}\}|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}"
    r"|\\[nrt\"/\\]|(?:%[0-9A-Fa-f]{2})+"
)
_SHORT = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "/": "/", "\\": "\\"}
_LAST_POINT = 0x10FFFF
#: Characters that show nothing, beside those that are there to format.
_SHOWS_NOTHING = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0") | {chr(c) for c in range(0xFE00, 0xFE10)}
_MAX_MARKS = 30
_WORD = re.compile(r"[A-Za-z0-9_]")


class Span(NamedTuple):
    """Characters ``start`` to ``end`` of a text, and of what kind what stands there is."""

    start: int
    end: int
    kind: str


@dataclass(frozen=True)
class Seen:
    """``text`` is what is seen; its character i stands at ``starts[i]`` to ``ends[i]`` of ``written``."""

    written: str
    text: str
    starts: Sequence[int]
    ends: Sequence[int]

    @cached_property
    def folded(self) -> Seen:
        """What is seen, case-folded and, in Latin script, without accents: a view of ``text``."""
        plain = _plain_view(self.text)
        if self.text.isascii():
            return Seen(self.text, self.text.lower(), plain.starts, plain.ends)
        return _mapped(plain, [(index, index + 1, _folded(char)) for index, char in enumerate(self.text)])

    def in_written(self, span: Span) -> Span:
        """A part of what is seen as part of what was written, grown to where no letter, digit or ``_`` of ASCII
        touches it, so that a word can stand in its place.
        """
        start, end = self.starts[span.start], self.ends[span.end - 1]
        while start and _WORD.match(self.written[start - 1]):
            start -= 1
        while end < len(self.written) and _WORD.match(self.written[end]):
            end += 1
        return Span(start, end, span.kind)


def seen(written: str) -> Seen:
    """A text as it is seen, in time linear in its length."""
    view = _plain_view(written)
    for _ in range(_ROUNDS):
        escapes = [(found.start(), found.end(), _unescaped(found.group())) for found in _ESCAPE.finditer(view.text)]
        if not escapes:
            break
        view = _mapped(view, escapes)
    return view if view.text.isascii() else _mapped(view, _clusters(view.text))


def _plain_view(text: str) -> Seen:
    return Seen(text, text, range(len(text)), range(1, len(text) + 1))


def _mapped(view: Seen, changes: Sequence[tuple[int, int, str]]) -> Seen:
    """A view in which some parts (start, end, in order) read otherwise."""
    texts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    at = 0
    for start, end, text in changes:
        texts += (view.text[at:start], text)
        starts += view.starts[at:start]
        ends += view.ends[at:start]
        starts += [view.starts[start]] * len(text)
        ends += [view.ends[end - 1]] * len(text)
        at = end
    texts.append(view.text[at:])
    starts += view.starts[at:]
    ends += view.ends[at:]
    return Seen(view.written, "".join(texts), starts, ends)


def _unescaped(escape: str) -> str:
    """What an escape stands for; one that stands for nothing is itself."""
    if escape[0] == "&":
        return unescape(escape)
    if escape[0] == "%":
        return bytes.fromhex(escape.replace("%", "")).decode("utf-8", "replace")
    if escape[1] in _SHORT:
        return _SHORT[escape[1]]
    points = [int(digits, 16) for digits in re.findall(r"[0-9A-Fa-f]+", escape.replace("\\u", " ").replace("\\x", " "))]
    if any(point > _LAST_POINT for point in points):
        return escape
    pair = "".join(map(chr, points))
    return pair.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _clusters(text: str) -> list[tuple[int, int, str]]:
    """Letters with their marks, composed and plain; what shows nothing is empty. ASCII is left out."""
    found: list[tuple[int, int, str]] = []
    at = 0
    while at < len(text):
        end = at + 1
        while end < len(text) and end - at <= _MAX_MARKS and not text[end].isascii() and combining(text[end]):
            end += 1
        if end - at > 1 or not text[at].isascii():
            found.append((at, end, _plain(text[at:end])))
        at = end
    return found


def _plain(cluster: str) -> str:
    kept = "".join(char for char in cluster if category(char) != "Cf" and char not in _SHOWS_NOTHING)
    return normalize("NFKC", kept)


def _folded(char: str) -> str:
    if char.isascii():
        return char.lower()
    folded = char.casefold()
    bare = normalize("NFKD", folded)
    return "".join(part for part in bare if not combining(part)) if bare[:1].isascii() else folded

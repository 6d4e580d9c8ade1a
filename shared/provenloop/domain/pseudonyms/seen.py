"""A text as its reader sees it, with where each character stands in the text as it was written.

Invisible characters are gone; escapes (HTML entities, JSON, percent) and styled or full-width characters are what they
stand for. So what hides behind them is found, and what is found is cut out of the text as it was written. Where what is
not seen may part words as well as hide within one, a text is read both ways.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from html import unescape
from typing import NamedTuple
from unicodedata import category, combining, lookup, name, normalize

#: Escapes within escapes are read this deep.
_ROUNDS = 3
_ESCAPE = re.compile(
    r"&#0{0,20}[0-9]{1,7};?|&#[xX]0{0,20}[0-9A-Fa-f]{1,6};?|&[A-Za-z][A-Za-z0-9]{1,31};"
    r"|&[A-Za-z](?:acute|grave|circ|uml|tilde|ring|cedil|slash)"
    r"|\\u[dD][89abAB][0-9A-Fa-f]{2}\\u[dD][c-fC-F][0-9A-Fa-f]{2}"
    r"|\\u\{[0-9A-Fa-f]{1,6}\}|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}"
    r"|\\[nrt\"/\\]|(?:%[0-9A-Fa-f]{2})+"
)
_SHORT = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "/": "/", "\\": "\\"}
_LAST_POINT = 0x10FFFF
#: Characters that show nothing by themselves, beside those that control or format: fillers, joiners, selectors.
_FILLERS = (
    r"\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8"
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_FILLER = re.compile(f"[{_FILLERS}]")
#: What is not seen and may stand between two words: controls (the end of a line is none), breaks without width, and
#: marks of direction.
_PARTING = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069]|\r(?!\n)"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)")
_MARKS = ("Mn", "Me")
_MAX_MARKS = 30
#: The combining class of the marks that make another kana of one: no accents.
_VOICED = 8
#: Letters that are others with something to them, though their names do not say so.
_BARE = {"\u00e6": "ae", "\u00f0": "d", "\u00fe": "th", "\u0131": "i", "\u0138": "k", "\u014b": "n", "\u0153": "oe"}
_WORD = re.compile(r"[A-Za-z0-9_]")
_LAST_S = re.compile(r"[sS](?![A-Za-z0-9_])")


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
        """What is seen, case-folded and without accents: a view of ``text``."""
        plain = _plain_view(self.text)
        if self.text.isascii():
            return Seen(self.text, self.text.lower(), plain.starts, plain.ends)
        return _mapped(plain, [(index, index + 1, _folded(char)) for index, char in enumerate(self.text)])

    def in_written(self, span: Span) -> Span:
        """A part of what is seen as part of what was written, grown to where no letter, digit or ``_`` of ASCII
        touches it, so that a word can stand in its place. An ``s`` that ends a word may stay behind it.
        """
        start, end = self.starts[span.start], self.ends[span.end - 1]
        while start and _WORD.match(self.written[start - 1]):
            start -= 1
        while _WORD.match(self.written, end) and not _LAST_S.match(self.written, end):
            end += 1
        return Span(start, end, span.kind)


def seen(written: str) -> Seen:
    """A text as it is seen, in time linear in its length."""
    return views(written)[0]


def views(written: str) -> tuple[Seen, ...]:
    """A text as it is seen, and once more with blanks for what is not seen, where that may part words."""
    view = _plain_view(written)
    for _ in range(_ROUNDS):
        escapes = [(found.start(), found.end(), _unescaped(found.group())) for found in _ESCAPE.finditer(view.text)]
        if not escapes:
            break
        view = _mapped(view, escapes)
    whole = _cleaned(view, "")
    return (whole, _cleaned(view, " ")) if _PARTING.search(view.text) else (whole,)


def _cleaned(view: Seen, parting: str) -> Seen:
    if view.text.isascii() and not _CONTROL.search(view.text):
        return view
    return _mapped(view, _clusters(view.text, parting))


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


def _clusters(text: str, parting: str) -> list[tuple[int, int, str]]:
    """Letters with their marks, composed and plain; what shows nothing is empty, or ``parting`` where it may part
    words. ASCII that is seen is left out.
    """
    found: list[tuple[int, int, str]] = []
    at = 0
    while at < len(text):
        end = at + 1
        while end < len(text) and not text[end].isascii() and _extends(text[end]):
            end += 1
        if end - at > 1 or not text[at].isascii():
            found.append((at, end, _plain(text[at:end], parting)))
        elif _CONTROL.match(text, at):
            found.append((at, end, parting))
        at = end
    return found


def _extends(char: str) -> bool:
    """Whether a character belongs to the one before it: a mark, or nothing that is seen."""
    return not _PARTING.match(char) and (category(char) in (*_MARKS, "Cf") or bool(_FILLER.match(char)))


def _plain(cluster: str, parting: str) -> str:
    """A character with its marks as it is seen; marks on letters that have case are accents, as far as they compose."""
    if _PARTING.match(cluster):
        return parting
    kept = [char for char in cluster if category(char) not in ("Cf", "Cc") and not _FILLER.match(char)]
    plain = normalize("NFKC", "".join(kept[: 1 + _MAX_MARKS]))
    if plain[:1].lower() == plain[:1].upper():
        return plain
    return "".join(char for char in plain if category(char) not in _MARKS)


@lru_cache(maxsize=16_384)
def _folded(char: str) -> str:
    parts = normalize("NFKD", char.casefold())
    bare = (part for part in parts if category(part) not in _MARKS or combining(part) == _VOICED)
    return normalize("NFC", "".join(map(_without_additions, bare)))


def _without_additions(letter: str) -> str:
    """A letter without the stroke, the hook or the like that its name tells of: what does not decompose."""
    if letter.isascii():
        return letter
    base, _, addition = name(letter, "").partition(" WITH ")
    try:
        return lookup(base) if addition and letter.isalpha() else _BARE.get(letter, letter)
    except KeyError:
        return letter

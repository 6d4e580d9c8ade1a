"""A text cut into atoms: words, numbers, identifiers and signs, in their order.

Everything here reads the normalised text, so that spellings of one text have the same atoms.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

from provenloop.domain.look_alikes.numerals import Number, number_of
from provenloop.domain.look_alikes.units import UNITS
from provenloop.domain.text import normalise
from provenloop.domain.tokens import UNBROKEN


class Kind(Enum):
    """What an atom is."""

    WORD = "word"
    NUMBER = "number"
    IDENTIFIER = "identifier"
    SIGN = "sign"


class Atom(NamedTuple):
    """One atom; ``number`` only of a number; ``ends`` when a mark that ends a clause follows."""

    kind: Kind
    text: str
    number: Number | None = None
    ends: bool = False


#: Quotes and dashes of any form are the plain ones; what parts clauses is a blank.
_PLAIN = str.maketrans({
    **dict.fromkeys("\u2018\u2019\u02bc\u2032", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u2033", '"'),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2212", "-"),
    **dict.fromkeys("\u2014\u2015\u2026\u3001\u3002|", " "),
})  # fmt: skip
_UNBROKEN_RUN = re.compile(f"[{UNBROKEN}]+")
_BEFORE = "([{<\"'`\u00ab\u300c\u300e*,;:!?"
_AFTER = ")]}>\"'`\u00bb\u300d\u300f*,;:!?."
_CLAUSE_END = tuple(",;:!?.")
#: Comparisons and operators that stand alone, or before a number.
_SIGNS = frozenset("< > <= >= != == = + - * / ^ \u00d7 ÷ ≤ ≥ ≠ ± ~ ≈".split())
_SIGN_BEFORE = re.compile(r"([<>]=?|!=|==?|[≤≥≠±~≈\u00d7÷])(?=[-+.$€£¥]{0,2}\d)")
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
_FLAG = re.compile(r"--?[^\W\d_][\w-]*(?:=.*)?")
_MENTION = re.compile(r"[@#][^\W\d_][\w.-]*")
_EMAIL = re.compile(r"[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+")
_PATH = re.compile(r"(?:~|\.{1,2})?/\w.*|[a-z]:[\\/].*|[^/]+/[^/]+/.*|[\w./-]+/[\w-]+\.[a-z0-9]{1,5}")
_DOTTED = re.compile(r"[\w-]+(?:\.[\w-]+)+")
_PROGRAMMING = re.compile(r"[a-z](?:\+\+|#)")
_HASH_NUMBER = re.compile(r"#\d+")


def plain(text: str) -> str:
    """The normalised text with plain quotes and dashes, and a blank on either side of a run without blanks."""
    spelled = normalise(text).translate(_PLAIN)
    return spelled if spelled.isascii() else _UNBROKEN_RUN.sub(r" \g<0> ", spelled)


def atoms(plain_text: str) -> list[Atom]:
    """The atoms of a text in the form :func:`plain`."""
    found: list[Atom] = []
    for piece in plain_text.split():
        found.extend(_atoms_of(piece))
    return found


def _atoms_of(piece: str) -> Iterator[Atom]:
    if piece.isalpha():
        yield Atom(Kind.WORD, piece)
        return
    if piece in _SIGNS:
        yield Atom(Kind.SIGN, piece)
        return
    sign = _SIGN_BEFORE.match(piece)
    if sign:
        yield Atom(Kind.SIGN, sign[1])
        piece = piece[sign.end() :]
    bare = piece.lstrip(_BEFORE).rstrip(_AFTER)
    if bare:
        # "no." before a number is not a negation, "first," no ordinal: what ends a clause is kept with the word.
        yield from _classified(bare.removesuffix("'s"), ends=piece.endswith(_CLAUSE_END))


def _classified(bare: str, *, ends: bool) -> Iterator[Atom]:
    number = number_of(bare[1:] if _HASH_NUMBER.fullmatch(bare) else bare)
    if number is not None:
        yield Atom(Kind.NUMBER, bare, number, ends)
    elif bare in UNITS:
        yield Atom(Kind.WORD, bare, None, ends)
    elif _is_identifier(bare):
        yield Atom(Kind.IDENTIFIER, bare.rstrip("/"), None, ends)
    elif _all_numbers(bare):
        for part in bare.split(","):
            yield Atom(Kind.NUMBER, part, number_of(part), ends)
    elif any(char.isdecimal() for char in bare):
        yield from _with_digits(bare, ends=ends)
    else:
        words = _WORD.findall(bare)
        for index, word in enumerate(words, start=1):
            yield Atom(Kind.WORD, word, None, ends and index == len(words))


def _with_digits(bare: str, *, ends: bool) -> Iterator[Atom]:
    """A piece with a digit is an identifier as a whole, but ``2-factor`` and ``10-minute`` are number and word."""
    first, dash, rest = bare.partition("-")
    number = number_of(first) if dash and rest.replace("-", "").isalpha() else None
    if number is None:
        yield Atom(Kind.IDENTIFIER, bare, None, ends)
        return
    yield Atom(Kind.NUMBER, first, number)
    for word in rest.split("-"):
        yield Atom(Kind.WORD, word)


def _all_numbers(bare: str) -> bool:
    return "," in bare and all(part.isdecimal() for part in bare.split(","))


def _is_identifier(bare: str) -> bool:
    if "://" in bare or any(form.fullmatch(bare) for form in (_FLAG, _MENTION, _PROGRAMMING)):
        return True
    if "@" in bare:
        return bool(_EMAIL.fullmatch(bare))
    if "/" in bare or "\\" in bare:
        return bool(_PATH.fullmatch(bare))
    return "." in bare and bool(_DOTTED.fullmatch(bare)) and any(len(label) > 1 for label in bare.split("."))

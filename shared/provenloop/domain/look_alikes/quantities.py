"""The numbers of a text with their units, and the comparisons in it, each in normal form."""

from __future__ import annotations

import re
from collections.abc import Sequence

from provenloop.domain.look_alikes.atoms import Atom, Kind
from provenloop.domain.look_alikes.dates import MONTHS
from provenloop.domain.look_alikes.numerals import (
    HAN_NUMERALS,
    NUMBER_WORDS,
    ORDINAL_WORDS,
    Number,
    han_value,
    scaled,
    spelled,
    with_unit,
)
from provenloop.domain.look_alikes.units import COUNTERS, CURRENCY_CODES, UNITS

_HAN_NUMBER = re.compile(f"([{HAN_NUMERALS}]{{1,12}})(?=([{COUNTERS}]))")
_HAN_UNIT = re.compile("[円元원]")
#: Letters that are units only when joined to the number: "5 a day" are no amperes.
_JOINED_ONLY = frozenset("a k v w".split())
#: After these "one" points at a thing and counts nothing: "the one", "this one".
_BEFORE_PRONOUN = frozenset("the this that which each every any no another some other new old".split())
_AFTER_PRONOUN = frozenset("of can could should must may might would will has needs is who that to".split())
#: After these "second" is a span of time.
_BEFORE_SECOND = frozenset("a per each split half".split())
_COMPARISONS = frozenset("< > <= >= != ≤ ≥ ≠ ± ~ ≈".split())
_OPERATORS = frozenset("+ - * / ^ \u00d7 ÷ = ==".split())
_SCALE_WORDS = frozenset("thousand million billion trillion".split())


def quantities(atoms: Sequence[Atom], plain: str) -> tuple[Number, ...]:
    """Every number of a text, sorted; a multiset, since "5 of 5" says more than "5"."""
    texts = [atom.text for atom in atoms]
    found: list[Number] = []
    index = 0
    while index < len(atoms):
        read = _number_at(atoms, texts, index)
        if read is None:
            index += 1
            continue
        number, length = read
        number, more = _with_surroundings(number, texts, index, length)
        found.append(number)
        index += length + more
    if not plain.isascii():
        found.extend(Number(han_value(han), UNITS.get(after, "")) for han, after in _HAN_NUMBER.findall(plain))
    return tuple(sorted(found))


def comparisons(atoms: Sequence[Atom]) -> tuple[str, ...]:
    """Signs that compare with a number or stand between two, sorted: ``<``, ``>=``, ``+``."""
    found: list[str] = []
    for index, atom in enumerate(atoms):
        if atom.kind is not Kind.SIGN or not _is_number(atoms, index + 1):
            continue
        if atom.text in _COMPARISONS or (atom.text in _OPERATORS and _is_number(atoms, index - 1)):
            found.append(atom.text.replace("≤", "<=").replace("≥", ">=").replace("≠", "!="))
    return tuple(sorted(found))


def _is_number(atoms: Sequence[Atom], index: int) -> bool:
    return 0 <= index < len(atoms) and atoms[index].kind is Kind.NUMBER


def _number_at(atoms: Sequence[Atom], texts: Sequence[str], index: int) -> tuple[Number, int] | None:
    atom = atoms[index]
    if atom.number is not None:
        return atom.number, 1
    if atom.kind is not Kind.WORD or not (atom.text in NUMBER_WORDS or atom.text in ORDINAL_WORDS):
        return None
    before = texts[index - 1] if index else ""
    if atom.text == "one" and (before in _BEFORE_PRONOUN or _at(texts, index + 1) in _AFTER_PRONOUN):
        return None
    if atom.text == "second" and before in _BEFORE_SECOND:
        return None
    if atom.text == "first" and atom.ends:
        return None
    return spelled(texts, index)


def _with_surroundings(number: Number, texts: Sequence[str], index: int, length: int) -> tuple[Number, int]:
    """The number with the scale and unit beside it, and how many atoms after it belong to it."""
    value, unit = number
    more = 0
    after = _at(texts, index + length)
    if after in _SCALE_WORDS and not unit and value.replace(".", "").isdecimal():
        value, more = scaled(value, after), 1
        after = _at(texts, index + length + 1)
    if value.endswith("nd"):
        beside = {_at(texts, index - 1), after, _at(texts, index + length + 1)}
        return Number(value.removesuffix("nd") if beside & MONTHS.keys() else value, unit), 0
    if not unit:
        unit, taken = _unit_beside(texts, index, index + length + more)
        more += taken
    return Number(with_unit(value, unit), unit), more


def _unit_beside(texts: Sequence[str], start: int, end: int) -> tuple[str, int]:
    after = _at(texts, end)
    if after in UNITS and after not in _JOINED_ONLY:
        degrees = UNITS[after] == "°" and UNITS.get(_at(texts, end + 1), "") in ("°c", "°f", "k")
        return (UNITS[texts[end + 1]], 2) if degrees else (UNITS[after], 1)
    if _HAN_UNIT.match(after):
        return UNITS[after[0]], 0
    before = _at(texts, start - 1)
    return (UNITS[before], 0) if before in CURRENCY_CODES else ("", 0)


def _at(texts: Sequence[str], index: int) -> str:
    return texts[index] if 0 <= index < len(texts) else ""

"""Numbers and their normal forms: ``1,000`` = ``1000``, ``three`` = ``3``, ``second`` = ``2nd``, ``v1.2`` = ``1.2``.

Values stay text: a number of any length is compared in linear time, and ``3.1`` is not ``3.10``, which may be versions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple
from unicodedata import decimal

from provenloop.domain.look_alikes.units import CURRENCY_SIGNS, DECIMAL_UNITS, ORDINAL_ENDINGS, UNITS

_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen".split()
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_ORDINALS = (
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
    "fifteenth sixteenth seventeenth eighteenth nineteenth twentieth".split()
)
_SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_SMALL = {word: value for value, word in enumerate(_ONES)} | {
    word: value for value, word in zip(range(20, 100, 10), _TENS, strict=True)
}
ORDINAL_WORDS = {word: value for value, word in enumerate(_ORDINALS)} | {
    word[:-1] + "ieth": value for value, word in zip(range(20, 100, 10), _TENS, strict=True)
}
#: Words that are a number or part of one.
NUMBER_WORDS = frozenset(_SMALL) | frozenset(_SCALES) | {"dozen"}
_THOUSANDS = {"k": "000", "thousand": "000", "million": "0" * 6, "billion": "0" * 9, "trillion": "0" * 12}
_MAX_WORDS = 12

_NUMBER = re.compile(
    rf"(?P<before>us\$|[{CURRENCY_SIGNS}])?(?P<sign>[+-])?(?P<inner>[{CURRENCY_SIGNS}])?"
    r"(?P<number>\d{1,3}(?:[,_']\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)?|\.\d+)"
    rf"(?P<after>[^\W\d_]{{1,12}}|[%°{CURRENCY_SIGNS}][cf]?|km/h|[kmg]bit/s)?"
)
_VERSION = re.compile(r"(?:v\.?|ver\.?|version)?(\d+(?:\.\d+){1,8}|(?<=v)\d+)")
_TIME = re.compile(r"(\d{1,2}):(\d\d)(am|pm)?")
_HAN_DIGITS = {
    "\u3007": 0, "两": 2, "兩": 2, **{char: value for value, char in enumerate("零一二三四五六七八九")}
}  # fmt: skip
_HAN_SCALES = {"十": 10, "百": 100, "千": 1000, "万": 10**4, "萬": 10**4, "億": 10**8, "亿": 10**8}
HAN_NUMERALS = "".join((*_HAN_DIGITS, *_HAN_SCALES))


class Number(NamedTuple):
    """A number in its normal form: ``value`` as text (``2nd`` for an ordinal), ``unit`` empty where none is joined."""

    value: str
    unit: str = ""


def number_of(piece: str) -> Number | None:
    """The number that a case-folded piece of text is, as a whole; None for anything else (``a-1001``, ``s3``)."""
    if time := _TIME.fullmatch(piece):
        hour, minute, half = time.groups()
        return Number(_digits(hour) if half and minute == "00" else f"{_digits(hour)}:{_digits(minute)}", half or "")
    if version := _VERSION.fullmatch(piece):
        found = _digits(version[1])
        return Number(_without_zeros(found, all_zero=True) if found.count(".") == 1 else found)
    if match := _NUMBER.fullmatch(piece):
        return _with_ending(match)
    return None


def _with_ending(match: re.Match[str]) -> Number | None:
    value = _plain(match["number"])
    ending = match["after"] or ""
    if ending in ORDINAL_ENDINGS and value.isdigit():
        return Number(value.lstrip("0") + "nd" if value.strip("0") else "0nd")
    if ending in ("k", "thousand", "million", "billion", "trillion"):
        value, ending = scaled(value, ending), ""
    unit = match["before"] or match["inner"] or ending
    if unit and unit not in UNITS and unit != "x":
        return None
    unit = UNITS.get(unit, unit)
    return Number(("-" if match["sign"] == "-" else "") + with_unit(value, unit), unit)


def with_unit(value: str, unit: str) -> str:
    """The value as it is written beside its unit: of an amount the final zeros of decimals say nothing."""
    return _without_zeros(value, all_zero=False) if unit in DECIMAL_UNITS else value


def scaled(value: str, scale: str) -> str:
    """A value times ``k``, ``thousand``, ``million`` ...: ``1.5`` thousand = ``1500``."""
    zeros = _THOUSANDS[scale]
    whole, _, fraction = value.partition(".")
    shifted = whole + fraction[: len(zeros)] + zeros[len(fraction) :]
    rest = fraction[len(zeros) :]
    return (shifted.lstrip("0") or "0") + (f".{rest}" if rest else "")


def spelled(words: Sequence[str], start: int) -> tuple[Number, int] | None:
    """The number in words that begins at ``start`` and how many words it takes; None where none begins.

    ``["two", "hundred", "and", "five"]`` = 205 of 4 words; ``["twenty", "first"]`` = ``21nd``, an ordinal, of 2.
    """
    if words[start] == "dozen":
        return Number("12"), 1
    total = group = index = 0
    last = ""
    while index < min(len(words) - start, _MAX_WORDS):
        word = words[start + index]
        if word in ORDINAL_WORDS and _joins(last, word, group):
            return Number(f"{total + group + ORDINAL_WORDS[word]}nd"), index + 1
        if word == "and" and last == "hundred" and _is_small(words, start + index + 1):
            index += 1
            continue
        if word in _SMALL and _joins(last, word, group):
            group += _SMALL[word]
        elif word in _SCALES and (last or word == "hundred"):
            total, group = _times(total, group, _SCALES[word])
        else:
            break
        last, index = word, index + 1
    return (Number(str(total + group)), index) if index else None


def _is_small(words: Sequence[str], index: int) -> bool:
    return index < len(words) and words[index] in _SMALL


def _joins(last: str, word: str, group: int) -> bool:
    """Whether a small number may follow: units after tens, anything after a scale."""
    if not last:
        return True
    value = _SMALL.get(word, ORDINAL_WORDS.get(word, 0))
    if last in _SCALES:
        return value > 0
    return last in _TENS and 0 < value < 10 and group % 10 == 0


def _times(total: int, group: int, scale: int) -> tuple[int, int]:
    if scale == 100:
        return total, max(group, 1) * scale
    return total + max(group, 1) * scale, 0


def han_value(numeral: str) -> str:
    """The value of a number in Han characters: ``十五`` = 15, ``二零二四`` = 2024."""
    if _HAN_SCALES.keys().isdisjoint(numeral):
        return "".join(str(_HAN_DIGITS[char]) for char in numeral)
    total = group = digit = 0
    for char in numeral[:_MAX_WORDS]:
        if char in _HAN_DIGITS:
            digit = _HAN_DIGITS[char]
        elif (scale := _HAN_SCALES[char]) < 10**4:
            group, digit = group + max(digit, 1) * scale, 0
        else:
            total, group, digit = total + max(group + digit, 1) * scale, 0, 0
    return str(total + group + digit)


def _plain(number: str) -> str:
    """Digits with a point at most: separators of thousands dropped, a decimal comma made a point."""
    digits = _digits(number)
    if digits.count(",") == 1 and len(digits.partition(",")[2]) != 3 and "." not in digits:
        digits = digits.replace(",", ".")
    for separator in ",_'":
        digits = digits.replace(separator, "")
    digits = "0" + digits if digits.startswith(".") else digits
    return _without_zeros(digits, all_zero=True)


def _without_zeros(value: str, *, all_zero: bool) -> str:
    whole, point, fraction = value.partition(".")
    if not point or (all_zero and fraction.strip("0")):
        return value
    kept = fraction.rstrip("0")
    return f"{whole}.{kept}" if kept else whole


def _digits(text: str) -> str:
    """The digits of any script as ASCII ones."""
    return text if text.isascii() else "".join(str(decimal(char)) if char.isdecimal() else char for char in text)

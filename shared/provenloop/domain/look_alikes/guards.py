"""The guards: each says whether two texts differ in one respect, whatever else they share.

Guards of one text (numbers, units, negation, dates, identifiers, comparisons) ask for equality and so make a key; the
others need both texts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from provenloop.domain.look_alikes.alternatives import choices, opposed
from provenloop.domain.look_alikes.question import asks_otherwise
from provenloop.domain.look_alikes.reading import Reading
from provenloop.domain.look_alikes.stems import stem

#: Share of common words from which the order of words says who did what to whom.
_NEARLY_EQUAL = 0.75
_MAX_LENGTH_RATIO = 2
_LENGTH_SLACK = 2
_MAX_INITIALS = 5


def numbers(left: Reading, right: Reading) -> bool:
    """Another number, counted: digits, words, ordinals, versions, signs."""
    return sorted(number.value for number in left.quantities) != sorted(number.value for number in right.quantities)


def units(left: Reading, right: Reading) -> bool:
    """The same numbers of another unit or currency."""
    return not numbers(left, right) and left.quantities != right.quantities


def comparison(left: Reading, right: Reading) -> bool:
    """Another sign at a number: ``<`` for ``>``."""
    return left.comparisons != right.comparisons


def negation(left: Reading, right: Reading) -> bool:
    """Only one text denies, by a word or by the prefix of a shared stem (``verified``, ``unverified``)."""
    if left.negations != right.negations or ("non" in left.word_set) != ("non" in right.word_set):
        return True
    return _denies(left, right) or _denies(right, left)


def date(left: Reading, right: Reading) -> bool:
    """Another weekday, month or day."""
    return left.dates != right.dates


def identifier(left: Reading, right: Reading) -> bool:
    """Another flag, path, address, host, file, name with a digit, or name of a program."""
    if left.identifiers != right.identifiers:
        return True
    return _lacks_compound(left, right) or _lacks_compound(right, left)


def quote(left: Reading, right: Reading) -> bool:
    """Another quoted text; a text without quotes may say the same words plainly."""
    if left.quotes and right.quotes:
        return left.quotes != right.quotes
    quotes, words = (left.quotes, right.word_set) if left.quotes else (right.quotes, left.word_set)
    return any(not words.issuperset(quoted) for quoted in quotes)


def name(left: Reading, right: Reading) -> bool:
    """A name written with a capital that the other text does not hold."""
    if left.names.letters != right.names.letters and left.names.letters and right.names.letters:
        return True
    if _lacks_name(left, right) or _lacks_name(right, left):
        return True
    return _has_other_subject(left, right) and _has_other_subject(right, left)


def order(left: Reading, right: Reading) -> bool:
    """The same words in another order; or nearly the same, unless all that moved is one part as a whole."""
    if len(left.word_set & right.word_set) < _NEARLY_EQUAL * len(left.word_set | right.word_set):
        return False
    if left.word_set == right.word_set and sorted(left.words) == sorted(right.words):
        return left.words != right.words
    once = left.once & right.once
    return not _is_one_move(
        [word for word in left.words if word in once], [word for word in right.words if word in once]
    )


def asked(left: Reading, right: Reading) -> bool:
    """Another question word."""
    return asks_otherwise(left.question, right.question)


def length(left: Reading, right: Reading) -> bool:
    """One text has more than twice the words of the other, and two more."""
    fewer, more = sorted((len(left.words), len(right.words)))
    return more > _MAX_LENGTH_RATIO * fewer + _LENGTH_SLACK


#: Reason code -> its guard, in the order in which reasons are told.
GUARDS: dict[str, Callable[[Reading, Reading], bool]] = {
    "number": numbers,
    "unit": units,
    "comparison": comparison,
    "negation": negation,
    "date": date,
    "identifier": identifier,
    "quote": quote,
    "name": name,
    "order": order,
    "question": asked,
    "length": length,
}
#: Every reason code, in the order in which reasons are told.
REASONS = (*GUARDS, "opposite", "kind")


def differing(left: Reading, right: Reading) -> tuple[str, ...]:
    """The codes of all guards that speak, in the order of ``REASONS``; none between spellings of one text."""
    if left.normal == right.normal:
        return ()
    found = opposed(left.choices, right.choices)
    return tuple(reason for reason in REASONS if reason in found or (reason in GUARDS and GUARDS[reason](left, right)))


def key(reading: Reading) -> str:
    """What the guards of one text compare, in one line: texts with different keys always differ by a guard."""
    return repr((
        [tuple(number) for number in reading.quantities],
        reading.comparisons,
        reading.negations,
        reading.dates,
        reading.identifiers,
    ))  # fmt: skip


def _is_one_move(left: list[str], right: list[str]) -> bool:
    """Whether two orders of distinct words are one, or become one when neighbouring parts change places."""
    start, end = 0, len(left)
    while start < end and left[start] == right[start]:
        start += 1
    while start < end and left[end - 1] == right[end - 1]:
        end -= 1
    if start == end:
        return True
    cut = right.index(left[start])
    return right[cut:end] + right[start:cut] == left[start:end]


def _denies(denying: Reading, plain: Reading) -> bool:
    only = denying.denied - plain.denied - denying.stems
    return not only.isdisjoint(plain.stems)


def _lacks_compound(named: Reading, other: Reading) -> bool:
    return any(
        not other.word_set.issuperset(parts) and not says(other, "".join(parts)) for parts in named.names.compounds
    )


def _lacks_name(named: Reading, other: Reading) -> bool:
    missing = {word for word in named.names.names | named.names.acronyms if not says(other, word)}
    return bool(missing) and not missing <= _initials(other.words)


def _has_other_subject(named: Reading, other: Reading) -> bool:
    return any(not says(other, word) for word in named.names.starts)


def says(other: Reading, word: str) -> bool:
    """Whether a text holds a word, a form of it, or another name of the same thing (``macOS``, ``mac``)."""
    return word in other.word_set or stem(word) in other.stems or not choices([word], word).isdisjoint(other.choices)


def _initials(words: Sequence[str]) -> frozenset[str]:
    """What up to five neighbouring words abbreviate to."""
    letters = "".join(word[0] for word in words)
    return frozenset(
        letters[start : start + count] for count in range(2, _MAX_INITIALS + 1) for start in range(len(letters))
    )

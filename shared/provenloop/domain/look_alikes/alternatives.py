"""Which of several alternatives a text names: the sides of opposites, the members of a kind."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

from provenloop.domain.look_alikes.kinds import HAN_KINDS, KINDS
from provenloop.domain.look_alikes.opposites import HAN_OPPOSITES, OPPOSITES
from provenloop.domain.look_alikes.stems import stem


class Choice(NamedTuple):
    """One member of a group of alternatives; ``reason`` is the code under which two of them differ."""

    reason: str
    group: int
    member: str


#: After one of these verbs, at most so many words on, a particle belongs to the verb.
_REACH = 4
_VERBS = frozenset(stem(verb) for verb in "turn switch power log sign check opt roll scale speed".split())
_PARTICLES = frozenset("on off in out up down back".split())
#: Of these only one that ends the text, or belongs to a verb, names a side.
_PREPOSITIONS = frozenset("on in out off".split())
#: "Right now" names no side.
_NOT_A_SIDE = frozenset({("right", "now"), ("right", "away"), ("right", "after"), ("right", "before")})


def _choices() -> dict[str, tuple[Choice, ...]]:
    found: defaultdict[str, list[Choice]] = defaultdict(list)
    opposites = _lines(OPPOSITES)
    for group, line in enumerate(opposites):
        for side, words in zip("AB", line.split("|"), strict=True):
            for word in words.split():
                found[_form(word)].append(Choice("opposite", group, side))
    for group, line in enumerate(_lines(KINDS), start=len(opposites)):
        reason, _, members = line.partition(": ")
        for member in members.split():
            for word in member.split("="):
                found[_form(word)].append(Choice(reason, group, _form(member.partition("=")[0])))
    return {word: tuple(dict.fromkeys(choices)) for word, choices in found.items()}


def _han_choices() -> dict[str, Choice]:
    """Groups of their own, numbered downwards: no word of another script is in them."""
    opposites = _lines(HAN_OPPOSITES)
    found = {
        word: Choice("opposite", -1 - group, side)
        for group, line in enumerate(opposites)
        for side, words in zip("AB", line.split("|"), strict=True)
        for word in words.split()
    }
    for group, line in enumerate(_lines(HAN_KINDS), start=len(opposites)):
        reason, _, members = line.partition(": ")
        for member in members.split():
            found |= dict.fromkeys(member.split("="), Choice(reason, -1 - group, member))
    return found


def _lines(groups: str) -> list[str]:
    return groups.strip().replace("\n  ", " ").splitlines()


def _form(word: str) -> str:
    verb, plus, particle = word.partition("+")
    return f"{stem(verb)}+{particle}" if plus else stem(word)


_CHOICES = _choices()
_HAN_CHOICES = _han_choices()


def choices(words: Sequence[str], plain: str) -> frozenset[Choice]:
    """The alternatives named by the words of a text (case-folded), and by its runs without blanks."""
    found: set[Choice] = set()
    for form in _forms(words):
        found.update(_CHOICES.get(form, ()))
    if not plain.isascii():
        found.update(_HAN_CHOICES[word] for word in _han_word().findall(plain))
        found.update(choice for char in plain if char in _CHOICES for choice in _CHOICES[char])
    return frozenset(found)


def opposed(left: frozenset[Choice], right: frozenset[Choice]) -> frozenset[str]:
    """The reasons under which two texts differ: each names a member of one group that the other does not."""
    mine, theirs = left - right, right - left
    groups = {(choice.reason, choice.group) for choice in mine}
    return frozenset(choice.reason for choice in theirs if (choice.reason, choice.group) in groups)


@cache
def _han_word() -> re.Pattern[str]:
    # Compiled when the first text needs it: it takes milliseconds of a cold start.
    # The longest first: of a word that holds another one only the whole counts.
    return re.compile("|".join(sorted(_HAN_CHOICES, key=lambda word: (-len(word), word))))


def _forms(words: Sequence[str]) -> Iterable[str]:
    verb, since = "", _REACH
    for index, word in enumerate(words):
        since += 1
        if word in _PARTICLES:
            if verb and since <= _REACH:
                yield f"{verb}+{word}"
                verb = ""
                continue
            if word in _PREPOSITIONS and index + 1 < len(words):
                continue
        elif (form := stem(word)) in _VERBS:
            verb, since = form, 0
        if (word, words[index + 1] if index + 1 < len(words) else "") not in _NOT_A_SIDE:
            yield stem(word)

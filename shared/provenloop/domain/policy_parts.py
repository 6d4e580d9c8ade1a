"""The parts that a host policy is made of, read strictly: faults are noted with their place, and nothing is guessed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TypeVar

from provenloop.domain.policy import Fault
from provenloop.domain.recommendation import SEVERITIES, Severity

Word = TypeVar("Word", bound=str)

_LONGEST_SHOWN = 64


class PolicyParts:
    """Reads parts of one policy and collects everything that is wrong with them."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []

    def refuse(self, place: str, detail: str) -> None:
        """Note what is wrong with a part."""
        self.faults.append(Fault(place, "PVL-E011", detail))

    def fields(self, value: object, place: str, known: Collection[str]) -> Mapping[str, object]:
        """The fields of an object, of which all should be known."""
        if not isinstance(value, dict):
            self.refuse(place, "a JSON object is needed")
            return {}
        for name in value:
            if name not in known:
                self.refuse(within(place, name), f"unknown; one of {', '.join(sorted(known))}")
        return value

    def has_all(self, fields: object, place: str, needed: Sequence[str]) -> bool:
        """Whether all of these fields are there."""
        given: Collection[str] = fields if isinstance(fields, dict) else ()
        missing = [name for name in needed if name not in given]
        for name in missing if isinstance(fields, dict) else ():
            self.refuse(within(place, name), "missing")
        return not missing

    def items(self, value: object, place: str) -> Iterator[tuple[object, str]]:
        """The items of a list, each with its place."""
        if not isinstance(value, list):
            self.refuse(place, "a list is needed")
            return iter(())
        return ((item, f"{place}[{number}]") for number, item in enumerate(value))

    def switch(self, value: object, place: str) -> bool:
        """A truth value."""
        if not isinstance(value, bool):
            self.refuse(place, "true or false is needed")
        return value is True

    def severity(self, value: object, place: str) -> Severity:
        """One of the severities."""
        return self.one_of(value, place, SEVERITIES)

    def one_of(self, value: object, place: str, known: Sequence[Word]) -> Word:
        """One of the known words; the first where it is none of them."""
        for word in known:
            if word == value:
                return word
        self.refuse(place, f"one of {', '.join(known)} is needed")
        return known[0]

    def count(self, value: object, place: str, at_most: int) -> int:
        """A whole number from 1 on."""
        if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= at_most:
            return value
        self.refuse(place, f"a whole number from 1 to {at_most} is needed")
        return at_most


def within(place: str, name: str) -> str:
    """The place of a field in an object."""
    shown = name if len(name) <= _LONGEST_SHOWN else f"{name[:_LONGEST_SHOWN]}..."
    return f"{place}.{shown}" if place else shown

"""One text, read once for all guards."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from provenloop.domain.look_alikes.alternatives import Choice, choices
from provenloop.domain.look_alikes.atoms import Atom, Kind, atoms, plain
from provenloop.domain.look_alikes.dates import dates
from provenloop.domain.look_alikes.names import Names, names_of
from provenloop.domain.look_alikes.negation import denied, negations
from provenloop.domain.look_alikes.numerals import Number
from provenloop.domain.look_alikes.quantities import comparisons, quantities
from provenloop.domain.look_alikes.question import question
from provenloop.domain.look_alikes.stems import stem
from provenloop.domain.text import normalise
from provenloop.domain.tokens import UNBROKEN

_WORD = re.compile(rf"[{UNBROKEN}]|[^\W_]+(?:'[^\W_]+)*")
_QUOTED = re.compile(
    r"""(?<!\w)'([^'\n]{1,200}+)'(?!\w)|(?<!\w)"([^"\n]{1,200}+)"|`([^`\n]{1,200}+)`"""
    "|\u00ab([^\u00bb\n]{1,200}+)\u00bb|[\u300c\u300e]([^\u300d\u300f\n]{1,200}+)[\u300d\u300f]"
)
#: Second factor of a login, in words: a name that holds a digit.
_FACTORS = frozenset({"factor", "step"})
_TWO = frozenset({"two", "2"})


@dataclass(frozen=True, slots=True)
class Reading:
    """What the guards compare of one text.

    ``normal`` is the normalised text; ``words`` are in their order, ``once`` those said once; ``denied`` are the stems
    that words with a denying prefix deny.
    """

    normal: str
    words: tuple[str, ...]
    quantities: tuple[Number, ...]
    comparisons: tuple[str, ...]
    negations: int
    dates: tuple[str, ...]
    identifiers: tuple[str, ...]
    quotes: frozenset[tuple[str, ...]]
    choices: frozenset[Choice]
    names: Names
    question: str
    word_set: frozenset[str]
    once: frozenset[str]
    stems: frozenset[str]
    denied: frozenset[str]


def read(text: str) -> Reading:
    """Read a text of any language and length, in time linear in its length."""
    spelled = plain(text)
    found = _with_factors(atoms(spelled))
    words = tuple(_WORD.findall(spelled))
    stems = frozenset(map(stem, words))
    return Reading(
        normal=normalise(text),
        words=words,
        quantities=quantities(found, spelled),
        comparisons=comparisons(found),
        negations=negations(found, spelled),
        dates=dates(found, spelled),
        identifiers=tuple(sorted({atom.text for atom in found if atom.kind is Kind.IDENTIFIER})),
        quotes=_quotes(spelled),
        choices=choices(words, spelled),
        names=names_of(text),
        question=question(words, spelled),
        word_set=frozenset(words),
        once=frozenset(word for word, count in Counter(words).items() if count == 1),
        stems=stems,
        denied=denied(stems),
    )


def _quotes(spelled: str) -> frozenset[tuple[str, ...]]:
    found = ("".join(groups) for groups in _QUOTED.findall(spelled))
    return frozenset(words for quote in found if (words := tuple(_WORD.findall(quote))))


def _with_factors(found: Sequence[Atom]) -> list[Atom]:
    """``two-factor`` and ``2-step`` are the name ``2fa``."""
    merged: list[Atom] = []
    for atom in found:
        if atom.text in _FACTORS and merged and merged[-1].text in _TWO:
            merged[-1] = Atom(Kind.IDENTIFIER, "2fa", None, atom.ends)
        else:
            merged.append(atom)
    return merged

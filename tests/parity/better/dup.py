"""Duplicates and near-duplicates: what is to be answered instead of what the recordings say."""

from __future__ import annotations

from collections.abc import Mapping

from tests.parity.runner.cards import Card
from tests.parity.runner.expected import Answers, card, cards, done, kept, live, ran, refused, same_as


def duplicate(entity: str, status: str = "pending") -> Card:
    """The card of one fact in several spellings."""
    return card("duplicate_sweep", "low", f"entity:{entity}", status=status)


def alike(label: str, status: str = "pending") -> Card:
    """The card of observations that are nearly the same."""
    return card("duplicate_sweep", "info", f"grain:{label}", status=status)


_ANN = "shared/ann"
_FOUND: Answers = {2: ran(stored=1), 3: cards(duplicate(_ANN))}
_NONE: Answers = {2: ran(stored=0), 3: cards()}
_NEAR: Answers = {2: ran(stored=1), 3: cards(alike("o1"))}

BETTER: Mapping[str, Answers] = {
    "dup.after-applied.other-pair": {
        4: ran(stored=1),
        5: cards(duplicate(_ANN, "applied"), duplicate(_ANN)),
    },
    "dup.apply.leaves": {3: live("tea"), 4: ran(stored=0), 5: cards(duplicate(_ANN, "applied"))},
    "dup.apply.rollback": {5: same_as(1), 6: ran(stored=0), 7: cards(duplicate(_ANN, "rolled_back"))},
    "dup.confidence": {5: kept("tea", grain="f1", confidence=0.3)},
    "dup.extra-fields": {5: kept("tea", grain="f1", source="crm-77", tags=["vip"])},
    "dup.german.ss": _FOUND,
    "dup.greek.sigma": _FOUND,
    "dup.nfkc.fullwidth": _FOUND,
    "dup.nfkc.ligature": _FOUND,
    # Equal as numbers, not as texts: a version or an amount may be meant.
    "dup.number.forms": _NONE,
    "dup.same": _NONE,
    "dup.space.inner": _FOUND,
    "dup.space.nbsp": _FOUND,
    "dup.space.zero-width": _FOUND,
    "dup.turkish.dotted": _FOUND,
    "dup.two-groups.same-subject": {2: ran(stored=2), 3: cards(duplicate(_ANN), duplicate(_ANN))},
    # What was said without an end has none, whatever a later copy says of itself.
    "dup.valid-to": {5: kept("tea", grain="f1", valid_to=None)},
    "near.apply": {
        3: done("applied"),
        4: live("o1"),
        5: refused("PVL-E020"),
        6: refused("PVL-E020"),
        7: done("rolled_back"),
        8: cards(alike("o1", "rolled_back")),
    },
    # w0 and w20 are identifiers, and another identifier is another thing.
    "near.chain": {3: ran(stored=0), 4: cards()},
    "near.content-only": _NEAR,
    "near.emoji": _NONE,
    # One text is one observation.
    "near.equal.content-only": _NONE,
    "near.negation": _NONE,
    "near.number": _NONE,
    "near.order": _NONE,
    "near.order.meaning": _NONE,
    "near.subjects": _NONE,
}

"""Contradictions: what is to be answered instead of what the recordings say."""

from __future__ import annotations

from collections.abc import Mapping

from tests.parity.better.dup import duplicate
from tests.parity.better.stale import expired_fact
from tests.parity.runner.cards import Card
from tests.parity.runner.expected import Answers, card, cards, cards_about, done, kept, live, ran, refused, same_as


def conflict(subject: str, count: int = 2, status: str = "pending") -> Card:
    """The card of a relation with several values."""
    return card("contradiction_sweep", "medium", f"entity:{subject}", count, status=status)


_ANN = "shared/ann"
_ONE_SPELLING: Answers = {2: ran(stored=1), 3: cards(duplicate(_ANN))}

BETTER: Mapping[str, Answers] = {
    "con.after-applied.new-conflict": {
        3: done("applied"),
        6: ran(stored=1),
        7: cards(conflict(_ANN, status="applied"), conflict(_ANN)),
    },
    # Nine statements of one fact are one fact, stated nine times; the card shows it beside the later value.
    "con.agree-many": {2: ran(stored=1), 3: cards(conflict(_ANN))},
    "con.apply": {4: live("Rome"), 5: ran(stored=0), 6: cards(conflict(_ANN, status="applied"))},
    "con.apply.keeps-fields": {
        4: kept("Rome", grain="f2", confidence=0.6, valid_to="2027-04-15T08:00:00.000Z", source="form-9")
    },
    "con.apply.rollback": {
        5: done("rolled_back"),
        6: same_as(2),
        7: ran(stored=0),
        8: cards(conflict(_ANN, status="rolled_back")),
    },
    # Cold is what has lain here long, not what arrived just now with an old date.
    "con.backdated": {3: cards_about("contradiction_sweep", conflict(_ANN))},
    "con.confidence": {4: done("applied"), 5: kept("Rome", grain="f2", confidence=0.1)},
    "con.multi-owner": {},
    "con.object.json": _ONE_SPELLING,
    "con.pending.healed": {
        4: ran(stored=0),
        5: cards(conflict(_ANN, status="expired")),
        6: refused("PVL-E020"),
        7: live("Rome"),
    },
    "con.pending.moved-on": {
        4: refused("PVL-E041"),
        5: live("Bern", "Oslo"),
        6: ran(stored=0),
        7: cards(conflict(_ANN)),
    },
    "con.relation.spelling": {3: ran(stored=1), 4: cards(conflict(_ANN, 3))},
    "con.same-instant": {},
    "con.three-values.apply": {
        5: live("bronze"),
        6: ran(stored=0),
        7: cards(conflict(_ANN, 3, "applied")),
    },
    "con.two-relations.same-subject": {4: ran(stored=2), 5: cards(conflict(_ANN), conflict(_ANN))},
    "con.value.alias": {2: ran(stored=0), 3: cards()},
    "con.value.fullwidth": _ONE_SPELLING,
    "con.value.space": _ONE_SPELLING,
    "con.window.expired": {3: cards_about("contradiction_sweep staleness", expired_fact("f1"))},
    "con.with-duplicates.apply-both": {
        3: done("applied"),
        4: refused("PVL-E041"),
        5: live("gold", "silver"),
        6: cards(conflict(_ANN), duplicate(_ANN, "applied")),
        7: done("rejected"),
    },
}

"""Forks, and namespaces beside subjects: what is to be answered instead of what the recordings say."""

from __future__ import annotations

from collections.abc import Mapping

from tests.parity.better.con import conflict
from tests.parity.runner.cards import Card
from tests.parity.runner.expected import Answers, Wanted, card, cards, live, ran, same_as


def forked(status: str = "pending") -> Card:
    """The card of a fork."""
    return card("fork_surfacing", "medium", "entity:ann/plan", status=status)


BETTER: Mapping[str, Answers] = {
    # The latest head is kept, and named.
    "fork.apply": {4: live("max"), 5: live(), 6: ran(stored=0), 7: cards(forked("applied"))},
    "fork.apply.rollback": {6: same_as(2), 8: ran(stored=0), 9: cards(forked("rolled_back"))},
    "fork.functional": {3: Wanted(how_many=1)},
    # Two equal successors are one grain.
    "fork.same-value": {2: ran(stored=0), 3: cards()},
    "fork.three": {},
    "edge.subject.collide": {4: ran(stored=2), 5: cards(conflict("a/b/c"), conflict("a/b/c"))},
}

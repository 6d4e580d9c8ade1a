"""Staleness, goals, skills and retention: what is to be answered instead of what the recordings say."""

from __future__ import annotations

from collections.abc import Mapping

from tests.parity.runner.cards import Card
from tests.parity.runner.expected import ANYTHING, Answers, card, cards, cards_about, done, live, ran, refused

_DAY_PAST = "low"


def expired_fact(label: str, status: str = "pending") -> Card:
    """The card of a grain past its validity, by less than 90 days."""
    return card("staleness", _DAY_PAST, f"grain:{label}", status=status, removal=True)


def overdue(status: str = "pending") -> Card:
    """The card of a batch of grains over age."""
    return card("retention_sweep", "low", "host:retention/shared", status=status, removal=True)


def stuck_goal(name: str) -> Card:
    """The card of a goal without progress."""
    return card("goal_stagnation", "low", f"entity:goals/{name}")


_REFUSED: Answers = {0: refused("PVL-E011"), 1: ran(new_grains=0, stored=0), 2: cards()}
_FOUND: Answers = {1: ran(stored=1), 2: cards(expired_fact("f1"))}

BETTER: Mapping[str, Answers] = {
    "stale.and-contradiction": {2: ran(stored=1), 3: cards(expired_fact("f1"))},
    "stale.iso.date": _REFUSED,
    "stale.iso.offset": _FOUND,
    "stale.iso.utc": _FOUND,
    "stale.negative": _REFUSED,
    "stale.pending.forgotten": {4: cards(expired_fact("f1", "expired")), 5: refused("PVL-E020")},
    "stale.pending.healed": {4: cards(expired_fact("f1", "expired")), 5: refused("PVL-E020"), 6: live("a")},
    "stale.seconds.future": _REFUSED,
    "stale.text-digits": _REFUSED,
    # A removal names one grain, so that each can be refused by itself.
    "stale.twelve": {},
    "stale.types": {6: cards(*(expired_fact(label) for label in ("o1", "e1", "t1", "s1", "g1")))},
    "goal.finished": {3: ran(stored=0), 4: cards()},
    "goal.touched": {3: ran(stored=1), 4: cards(stuck_goal("a"))},
    "skill.advisory": {2: refused(), 3: ANYTHING, 4: refused(), 5: done("rejected")},
    # What was never measured says nothing of the skill, and one version has no slope.
    "skill.missing": {},
    "skill.plateau-high": {},
    "keep.cap": {6: cards_about("retention_sweep", overdue("applied"), overdue())},
    "keep.evidence": {},
    "keep.later-batch": {7: cards_about("retention_sweep", overdue("applied"), overdue())},
    "keep.params-only": {},
    "keep.pending.stale": {
        6: cards_about("retention_sweep", overdue()),
        7: done("applied"),
        9: cards_about("retention_sweep", overdue("applied")),
    },
    "keep.type.event": {2: ran(stored=1), 3: cards(overdue())},
    "keep.type.unknown": {0: refused("PVL-E031")},
}
